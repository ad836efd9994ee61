//! A user's own saturation policy. Like `Discard`, this policy drops tasks for which there is no room, but it
//! counts the dropped tasks.
//!
//! ```sh
//! cargo run --example own_policy
//! ```
//!
//! The book explains this example in the chapter "When there is no room".

use executor::{
    FifoQueue, Latch, RefusingPool, RejectedExecution, RejectionHandler, ThreadPoolExecutor, prelude::*,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

// ANCHOR: policy
/// A policy for work that is worthless when it is late, such as samples for a display.
#[derive(Default)]
struct DiscardAndCount(AtomicU64);

impl RejectionHandler for DiscardAndCount {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        if pool.is_shutdown() {
            return Err(refused); // not overload, but a mistake of the submitter
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        drop(refused.task); // completes its handle as cancelled
        Ok(())
    }
}
// ANCHOR_END: policy

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: use
    let policy = Arc::new(DiscardAndCount::default());
    let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(3)).build()?;
    pool.set_rejection_handler(policy.clone());
    // ANCHOR_END: use

    let gate = Arc::new(Latch::new(1));
    for _ in 0..10 {
        let gate = Arc::clone(&gate);
        pool.execute(move || _ = gate.wait())?;
    }
    gate.count_down();
    pool.close();
    println!("{} done, {} discarded", pool.stats().completed, policy.0.load(Ordering::Relaxed));
    println!("after the end: {}", pool.execute(|| ()).expect_err("the pool is shut down"));
    Ok(())
}
