//! The renderer with a completion service: a task loads each image, and the image is painted when it
//! arrives.
//!
//! The images do not depend on each other, so the program loads as many of them at the same time as it has
//! threads. The completion service returns the images in the order in which they complete, so no image waits
//! for a slower image.
//!
//! ```sh
//! cargo run --bin completion_service
//! cargo run --bin completion_service -- --threads 2
//! ```
//!
//! The chapter "Results as they come" of the book explains this program.

use clap::Parser;
use executor::{CancelToken, ExecutorCompletionService, ThreadPoolExecutor};
use renderer::{Loaded, RenderArgs, Rendering, draw_page};
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

/// Draws a page with a pool of threads: a task loads each image, and the image is painted when it arrives.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,
}

fn main() -> ExitCode {
    draw_page("completion_service", &Args::parse().render, draw)
}

pub(crate) fn draw(rendering: &mut Rendering) -> anyhow::Result<()> {
    // ANCHOR: submit
    // When this thread is told to stop, this thread also tells the pool to stop, so no task continues without
    // a waiter.
    let stop = CancelToken::current();
    let pool = ThreadPoolExecutor::builder()
        .threads(rendering.threads)
        .name("images")
        .cancel_token(&stop)
        .build()?;
    let images = ExecutorCompletionService::new(&pool);
    let mut place_of = HashMap::new();
    for image in rendering.images() {
        let (loader, place) = (Arc::clone(&rendering.loader), image.place);
        let task = images.submit_cancellable(move |token| loader.load(&image, token))?;
        place_of.insert(task.id(), place);
    }
    // ANCHOR_END: submit

    // ANCHOR: take
    rendering.screen.show_text();
    while let Some(next) = rendering.screen.waiting("the next image", || images.take())? {
        let place = place_of[&next.id()]; // a panicked task does not say which image it loaded
        rendering.screen.show(Loaded::by_task(place, next.join())?);
    }
    // ANCHOR_END: take
    Ok(())
}
