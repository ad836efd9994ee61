//! The renderer with a time budget: an advertisement arrives in time, or is cancelled and replaced.
//!
//! The advertisement comes from another company's server. The program requests the advertisement first and
//! waits for it last, but only until the budget is used up. If the advertisement has already arrived, it is
//! painted even if the budget is used up. If the advertisement is late, its request is cancelled and its
//! connection is closed.
//!
//! ```sh
//! cargo run --bin time_budget
//! cargo run --bin time_budget -- --demo-advertisement 3s   # too late
//! cargo run --bin time_budget -- --budget 1ms              # spent before the wait
//! ```
//!
//! The chapter "Time limits" of the book explains this program.

use clap::Parser;
use executor::{CancelToken, Cancelled, JoinError, TaskHandle, ThreadPoolExecutor, prelude::*};
use renderer::{Gap, Loaded, RenderArgs, Rendering, draw_page};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The words that replace a late advertisement.
const INSTEAD: &str = "This space is to let.";

/// Draws a page whose advertisement (the first image of the class `advertisement`) has a time budget.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    render: RenderArgs,

    /// Time from the beginning within which the advertisement must arrive
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = command_line::duration)]
    budget: Duration,
}

fn main() -> ExitCode {
    let Args { render, budget } = Args::parse();
    draw_page("time_budget", &render, |rendering| draw(rendering, budget))
}

pub(crate) fn draw(rendering: &mut Rendering, budget: Duration) -> anyhow::Result<()> {
    let end = Instant::now() + budget;
    let stop = CancelToken::current();
    let pool = ThreadPoolExecutor::builder()
        .threads(rendering.threads)
        .name("images")
        .cancel_token(&stop)
        .build()?;
    let (mut images, loader) = (rendering.images(), Arc::clone(&rendering.loader));

    // ANCHOR: ask
    // The advertisement has its own pool, because in the pool of the images it would wait until slow images
    // have arrived.
    let advertisers =
        ThreadPoolExecutor::builder().threads(1).name("advertiser").cancel_token(&stop).build()?;
    let advertisement = match images.iter().position(|image| image.is_advertisement) {
        None => None,
        Some(index) => {
            let (image, loader) = (images.remove(index), Arc::clone(&loader));
            Some((image.place, advertisers.submit_cancellable(move |token| loader.load(&image, token))?))
        }
    };
    // ANCHOR_END: ask

    // ANCHOR: body
    let mut tasks = Vec::new();
    for image in images {
        let (loader, place) = (Arc::clone(&loader), image.place);
        tasks.push((place, pool.submit_cancellable(move |token| loader.load(&image, token))?));
    }
    rendering.screen.show_text();
    for (place, task) in tasks {
        let ended = rendering.screen.waiting("images", || task.join());
        rendering.screen.show(Loaded::by_task(place, ended)?);
    }
    // ANCHOR_END: body

    let Some((place, advertisement)) = advertisement else {
        eprintln!("time_budget: this page has no image of the class advertisement, so nothing has a budget");
        return Ok(());
    };
    show_in_time(rendering, place, advertisement, end, budget)
}

// ANCHOR: wait
/// Paints the advertisement if it has arrived at the time `end`; otherwise cancels the request and paints
/// something else.
pub(crate) fn show_in_time(
    rendering: &mut Rendering,
    place: usize,
    advertisement: TaskHandle<Loaded>,
    end: Instant,
    budget: Duration,
) -> anyhow::Result<()> {
    let left = end.saturating_duration_since(Instant::now()); // zero if the page itself took the whole budget
    let why = match rendering.screen.waiting("advertisement", || advertisement.join_or_cancel(left)) {
        Ok(Loaded { picture: Err(gap), .. }) => gap,
        Ok(in_time) => {
            rendering.screen.show(in_time);
            return Ok(());
        }
        Err(JoinError::TimedOut(_)) => Gap::TimedOut { after: budget },
        Err(JoinError::Panicked(panic)) => Gap::Panicked(panic.to_string()),
        Err(_) => return Err(Cancelled.into()), // this thread was told to stop
    };
    rendering.screen.show_replacement(place, INSTEAD, &why);
    Ok(())
}
// ANCHOR_END: wait
