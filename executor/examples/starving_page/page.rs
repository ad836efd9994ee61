//! A page with two parts; each part is a task of its own.

use executor::{FutureTask, JoinError, Starvation, TaskHandle, ThreadPoolExecutor, prelude::*};
use std::thread;

// ANCHOR: page
/// Draws the page on the calling thread. The page's header and footer are tasks of the pool.
pub fn draw(parts: &ThreadPoolExecutor) -> Result<String, Starvation> {
    let header = parts.submit(part("header")).expect("the pool accepts tasks");
    let footer = parts.submit(part("footer")).expect("the pool accepts tasks");
    Ok(format!("{}, body, {}", wait_for(header)?, wait_for(footer)?))
}
// ANCHOR_END: page

// ANCHOR: wait
fn wait_for(part: TaskHandle<String>) -> Result<String, Starvation> {
    match part.join() {
        Err(JoinError::Starved(_part, report)) => Err(report),
        other => Ok(other.expect("no part fails")),
    }
}
// ANCHOR_END: wait

/// A part of the page. The thread that draws the page must call this function.
pub fn part(name: &'static str) -> FutureTask<String> {
    let page = thread::current().id();
    let task = FutureTask::new(move || {
        let which = if thread::current().id() == page { "the page's" } else { "another" };
        format!("{name} ({which} thread)")
    });
    task.named(name)
}
