//! Ways to make sure that the page is drawn.

use crate::{page, renderer};
use executor::{CallerRuns, FutureTask, HandOffQueue, OnStarvation, ThreadPoolBuilder, prelude::*};
use std::{error::Error, sync::Arc, thread};

type Shown = Result<(), Box<dyn Error>>;

/// Both the page and the parts of the page are tasks of the same pool.
fn draw_on(pool: ThreadPoolBuilder) -> Shown {
    let pool = Arc::new(pool.build()?);
    let parts = Arc::clone(&pool);
    let page = pool.submit(FutureTask::new(move || page::draw(&parts)).named("page"))?;
    println!("{}", page.join()??);
    let stats = pool.stats();
    println!("peak_threads: {}, helped: {}", stats.peak_threads, stats.helped);
    Ok(())
}

// ANCHOR: other_pool
pub fn other_pool() -> Shown {
    let (pages, parts) = (renderer().build()?, renderer().name("parts").build()?);
    let page = pages.submit(move || page::draw(&parts))?;
    println!("{}", page.join()??);
    Ok(())
}
// ANCHOR_END: other_pool

// ANCHOR: own_thread
pub fn own_thread() -> Shown {
    let parts = renderer().build()?;
    let page = thread::spawn(move || page::draw(&parts));
    println!("{}", page.join().expect("no page fails")?);
    Ok(())
}
// ANCHOR_END: own_thread

// ANCHOR: hand_off
pub fn hand_off() -> Shown {
    draw_on(renderer().queue(HandOffQueue::new()).rejection_handler(CallerRuns))
}
// ANCHOR_END: hand_off

// ANCHOR: help
pub fn help() -> Shown {
    draw_on(renderer().on_starvation(OnStarvation::Help { depth: 1 }))
}
// ANCHOR_END: help

// ANCHOR: spare
pub fn spare() -> Shown {
    draw_on(renderer().on_starvation(OnStarvation::Spare { at_most: 1 }))
}
// ANCHOR_END: spare
