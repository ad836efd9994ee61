//! The renderer that starves: a page's task waits for the page's header and footer, which are tasks of the
//! same pool of one thread.
//!
//! The page's task keeps the pool's only thread while it waits for tasks that need this thread. When the
//! thread goes to sleep, the library notices the deadlock, and ends the wait with a report that shows the
//! cycle of waits. Then the program draws the same page in a way that works: the parts of the page are tasks
//! of another pool.
//!
//! ```sh
//! cargo run --bin starving
//! ```
//!
//! The chapter "Tasks that wait for tasks" of the book explains this program.

use anyhow::Context;
use clap::Parser;
use executor::{
    CancelToken, Canceller, FutureTask, JoinError, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor,
    prelude::*,
};
use renderer::{ImageRef, Loaded, Loader, RenderArgs, Rendering, draw_page};
use std::process::ExitCode;
use std::sync::Arc;

/// Draws a page twice: by tasks that wait for tasks of their own pool, and then by tasks that wait for tasks
/// of another pool.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,
}

fn main() -> ExitCode {
    draw_page("starving", &Args::parse().render, draw)
}

/// Returns a pool that has one thread.
fn pool(name: &str, stop: &CancelToken) -> ThreadPoolBuilder {
    ThreadPoolExecutor::builder().threads(1).name(name).cancel_token(stop)
}

/// Loads the images of a page. The header (the first image) and the footer (the last image) are tasks of
/// `parts`; the calling task itself loads the images between them. A page with only one image has no footer.
fn load_page(
    images: Vec<Arc<ImageRef>>,
    loader: &Arc<Loader>,
    parts: &ThreadPoolExecutor,
) -> anyhow::Result<Vec<Loaded>> {
    let on_parts = |image: &Arc<ImageRef>, name: &'static str| -> anyhow::Result<(usize, TaskHandle<_>)> {
        let (image, loader) = (Arc::clone(image), Arc::clone(loader));
        let place = image.place;
        let task = FutureTask::cancellable(move |token| loader.load(&image, token));
        Ok((place, parts.submit(task.named(name))?))
    };
    let Some((first, others)) = images.split_first() else { return Ok(Vec::new()) };
    let mut asked = vec![on_parts(first, "header")?];
    let mut between = others;
    if let Some((last, before)) = others.split_last() {
        asked.push(on_parts(last, "footer")?);
        between = before;
    }
    let _when_this_ends = CallOff(asked.iter().map(|(_, part)| part.canceller()).collect());
    let token = CancelToken::current();
    let mut all = between.iter().map(|image| loader.load(image, &token)).collect::<Result<Vec<_>, _>>()?;
    for (place, part) in asked {
        all.push(Loaded::by_task(place, part.join())?);
    }
    Ok(all)
}

/// Cancels the tasks when the page no longer waits for them. Cancelling has no effect on tasks that have
/// ended.
struct CallOff(Vec<Canceller>);

impl Drop for CallOff {
    fn drop(&mut self) {
        for canceller in &self.0 {
            canceller.cancel();
        }
    }
}

pub(crate) fn draw(rendering: &mut Rendering) -> anyhow::Result<()> {
    rendering.screen.show_text();
    if rendering.images().is_empty() {
        eprintln!("starving: this page has no image to load, so it waits for nothing and does not starve");
        eprintln!(
            "          it takes a page with one image at least; without a page, the built-in server gives one"
        );
        return Ok(());
    }
    // ANCHOR: stop The pools stop with the page, but their token is not its child, since that has a deadline:
    // A wait with a deadline would not count as a deadlock, and the library would not report it.
    let stop = CancelToken::new();
    let stops = stop.clone();
    let _with_the_page = CancelToken::current().on_cancel(move || {
        stops.cancel();
    });
    // ANCHOR_END: stop

    // The page and its parts are tasks of the same pool, which has one thread.
    let pages = Arc::new(pool("pages", &stop).build()?);
    let (images, loader, parts) = (rendering.images(), Arc::clone(&rendering.loader), Arc::clone(&pages));
    let page = FutureTask::new(move || load_page(images, &loader, &parts)).named("page");
    let page = pages.submit(page)?;
    match rendering.screen.waiting("page", || page.join())? {
        Ok(all) => all.into_iter().for_each(|loaded| rendering.screen.show(loaded)),
        Err(error) => match error.downcast_ref() {
            Some(JoinError::<Loaded>::Starved(_, circle)) => eprintln!("starving: {circle:#}"),
            _ => return Err(error),
        },
    }

    // Tasks of `pages` wait for tasks of `parts`, which wait for no other tasks.
    let parts = pool("parts", &stop).build()?;
    let (images, loader) = (rendering.images(), Arc::clone(&rendering.loader));
    let page = FutureTask::new(move || load_page(images, &loader, &parts)).named("page");
    let page = pages.submit(page)?;
    let all = rendering
        .screen
        .waiting("page", || page.join())?
        .context("the page with parts on a pool of their own")?;
    for loaded in all {
        rendering.screen.show(loaded);
    }
    Ok(())
}
