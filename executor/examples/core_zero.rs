//! A pool of core size zero. Read literally, the rule "no threads unless the queue is full" means that a pool
//! of core size zero never runs a task; early versions of `java.util.concurrent` had this fault. In this
//! library, a pool of core size zero has one thread while there is work, and more threads only when the queue
//! is full. A user who sets the maximum to ten threads may expect ten threads, and is surprised to see only
//! one.
//!
//! ```sh
//! cargo run --example core_zero
//! ```
//!
//! The book explains this example in the chapter "Threads and queue".

use executor::{FifoQueue, Latch, ThreadPoolBuilder, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: core_zero
    let pool =
        || ThreadPoolExecutor::builder().core_threads(0).maximum_threads(10).queue(FifoQueue::bounded(100));
    println!("queue first:   {} threads for 10 tasks", threads_for_ten_tasks(pool())?);
    println!("threads first: {} threads for 10 tasks", threads_for_ten_tasks(pool().threads_first())?);
    // ANCHOR_END: core_zero
    Ok(())
}

fn threads_for_ten_tasks(pool: ThreadPoolBuilder) -> Result<usize, Box<dyn std::error::Error>> {
    let pool = pool.build()?;
    let gate = Arc::new(Latch::new(1));
    for _ in 0..10 {
        let gate = Arc::clone(&gate);
        pool.execute(move || _ = gate.wait())?;
    }
    let threads = pool.stats().threads;
    gate.count_down();
    pool.close();
    assert_eq!(pool.stats().completed, 10);
    Ok(threads)
}
