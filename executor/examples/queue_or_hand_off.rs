//! Compares the cost of passing a task through a queue with the cost of a hand-off.
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

const TASKS: u32 = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

fn main() -> Result<(), Box<dyn Error>> {
    println!("                  microseconds a task");
    let two = || ThreadPoolExecutor::builder().threads(2).rejection_handler(Block::new());
    print("queue, no bound", two().queue(FifoQueue::unbounded()))?;
    print("queue of 100", two().queue(FifoQueue::bounded(100)))?;
    print("hand-off", two().queue(HandOffQueue::new()))?;
    Ok(())
}

/// Prints the cost per task for a submitter that waits only for the last task; the cost is the median of nine
/// runs.
fn print(name: &str, pool: ThreadPoolBuilder) -> Result<(), Box<dyn Error>> {
    let pool = pool.build()?;
    let mut times = Vec::new();
    for _ in 0..9 {
        let (begin, all) = (Instant::now(), Arc::new(Latch::new(TASKS as usize)));
        for _ in 0..TASKS {
            let all = Arc::clone(&all);
            pool.execute(move || all.count_down())?;
        }
        all.wait()?;
        times.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(TASKS));
    }
    times.sort_by(f64::total_cmp);
    println!("{name:<17} {:>19.2}", times[4]);
    Ok(())
}
