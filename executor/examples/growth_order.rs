//! Shows what a pool tries, in order, for a new task (core, queue, maximum, saturation), and how the pool's
//! surplus threads end.
//!
//! ```sh
//! cargo run --example growth_order
//! ```
//!
//! The book explains this example in the chapter "Threads and queue".

use executor::{FifoQueue, Latch, PoolConfigError, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), PoolConfigError> {
    // ANCHOR: pool
    let pool = ThreadPoolExecutor::builder()
        .core_threads(2)
        .maximum_threads(4)
        .queue(FifoQueue::bounded(3))
        .keep_alive(Duration::from_millis(50))
        .build()?;
    // ANCHOR_END: pool

    // ANCHOR: submit
    let gate = Arc::new(Latch::new(1)); // keeps all tasks running until we open it
    for n in 1..=8 {
        let gate = Arc::clone(&gate);
        let accepted = pool.execute(move || _ = gate.wait());
        let stats = pool.stats();
        let where_to = accepted.map_or_else(|refused| refused.to_string(), |()| "accepted".into());
        println!("task {n}: {} threads, {} queued: {where_to}", stats.threads, stats.queued);
    }
    // ANCHOR_END: submit
    gate.count_down();
    while pool.stats().threads > 2 {
        std::thread::yield_now(); // the two surplus threads end after 50 ms without work
    }
    println!("later:  {}", pool.stats());
    // ANCHOR: contradiction
    let contradiction = ThreadPoolExecutor::builder().core_threads(2).maximum_threads(4).build();
    println!("without a bound: {}", contradiction.expect_err("the maximum would never be reached"));
    // ANCHOR_END: contradiction
    // ANCHOR: change
    let refused = pool.set_core_threads(5).expect_err("the maximum is 4");
    pool.set_maximum_threads(5)?;
    pool.set_core_threads(5)?;
    println!("while it runs: {refused}; in the other order, the core size is {}", pool.core_threads());
    // ANCHOR_END: change
    Ok(())
}
