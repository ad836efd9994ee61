//! The renderer with a future: one task loads all images while this thread draws the text.
//!
//! Two different activities run at the same time. If the text takes a hundredth of the time that the images
//! take, the program gains at most a hundredth. The reader sees the first image only after the last image has
//! arrived.
//!
//! ```sh
//! cargo run --bin future
//! ```
//!
//! The chapter "Tasks of different kinds" of the book explains this program.

use anyhow::bail;
use clap::Parser;
use executor::{CancelToken, Cancelled, JoinError, ThreadPoolExecutor, prelude::*};
use renderer::{Gap, Loaded, RenderArgs, Rendering, draw_page};
use std::process::ExitCode;
use std::sync::Arc;

/// Draws a page on two threads: one thread loads all images, while the other thread draws the text.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,
}

fn main() -> ExitCode {
    draw_page("future", &Args::parse().render, draw)
}

pub(crate) fn draw(rendering: &mut Rendering) -> anyhow::Result<()> {
    // ANCHOR: submit
    let pool = ThreadPoolExecutor::builder().threads(1).name("images").build()?;
    let (loader, images) = (Arc::clone(&rendering.loader), rendering.images());
    let load_all = move |token: &CancelToken| -> Result<Vec<Loaded>, Cancelled> {
        images.iter().map(|image| loader.load(image, token)).collect()
    };
    let images = pool.submit_cancellable(load_all)?;
    // ANCHOR_END: submit

    // ANCHOR: join
    rendering.screen.show_text();
    match rendering.screen.waiting("all images", || images.join()) {
        Ok(all) => all.into_iter().for_each(|loaded| rendering.screen.show(loaded)),
        // This thread was told to stop, but the task was not: until the task is cancelled, it loads images
        // that the program no longer needs.
        Err(JoinError::Interrupted(images)) => {
            images.cancel();
            return Err(Cancelled.into());
        }
        // The task has failed, so all images are missing. The text is drawn anyway.
        Err(JoinError::Panicked(panic)) => give_up(rendering, &Gap::Panicked(panic.to_string())),
        Err(JoinError::Cancelled(_)) => give_up(rendering, &Gap::Cancelled("its task was".to_owned())),
        Err(other) => bail!(other.to_string()),
    }
    // ANCHOR_END: join
    Ok(())
}

fn give_up(rendering: &mut Rendering, why: &Gap) {
    for image in rendering.images() {
        rendering.screen.show_gap(image.place, why);
    }
}
