//! Compares the time that a task takes through a queue with the time that it takes through a hand-off.
//!
//! ```sh
//! cargo run --release --example queue_or_hand_off
//! ```
//!
//! The book explains this example in the chapter "Threads and queue".

use executor::{Block, FifoQueue, HandOffQueue, Latch, ThreadPoolBuilder, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const TASKS: u32 = if cfg!(debug_assertions) { 5_000 } else { 100_000 };

fn main() -> Result<(), Box<dyn Error>> {
    println!("                     microseconds a task");
    println!("                    one submitter waits for     all tasks at once");
    println!("                    each task");
    let queue: Make = || ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::unbounded());
    let bound: Make = || {
        ThreadPoolExecutor::builder()
            .threads(2)
            .queue(FifoQueue::bounded(100))
            .rejection_handler(Block::new())
    };
    let hand_off: Make = || {
        ThreadPoolExecutor::builder().threads(2).queue(HandOffQueue::new()).rejection_handler(Block::new())
    };
    for (name, make) in [("queue, no bound", queue), ("queue of 100", bound), ("hand-off", hand_off)] {
        println!("{name:<16} {:>12.1} {:>25.2}", one_by_one(&make().build()?)?, at_once(&make().build()?)?);
    }
    Ok(())
}

type Make = fn() -> ThreadPoolBuilder;

/// Returns the microseconds that a task takes from its submission to its result.
fn one_by_one(pool: &ThreadPoolExecutor) -> Result<f64, Box<dyn Error>> {
    let begin = Instant::now();
    for _ in 0..TASKS / 10 {
        pool.submit(|| ())?.join()?;
    }
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(TASKS / 10))
}

/// Returns the microseconds that each task costs when the submitter waits only for the last one.
fn at_once(pool: &ThreadPoolExecutor) -> Result<f64, Box<dyn Error>> {
    let (begin, all) = (Instant::now(), Arc::new(Latch::new(TASKS as usize)));
    for _ in 0..TASKS {
        let all = Arc::clone(&all);
        pool.execute(move || all.count_down())?;
    }
    all.wait()?;
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(TASKS))
}
