//! The statistics of the pool after a sort.

use super::fork_join::sort;
use super::input::numbers;
use executor::fork_join::ForkJoinPool;
use std::error::Error;

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    println!("threads   steals   queued   queued submissions");
    for threads in [1, 2, 2, 2, 8] {
        let pool = ForkJoinPool::new(threads)?;
        let mut numbers = numbers(7, 1 << 18, u32::MAX); // 1024 pieces of 256, so 1023 joins
        pool.invoke(|| sort(&mut numbers))?;
        let stats = pool.stats();
        println!("{threads:7}{:9}{:9}{:21}", stats.steals, stats.queued, stats.queued_submissions);
    }
    Ok(())
}
// ANCHOR_END: show
