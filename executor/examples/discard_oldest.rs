//! "Discard oldest" throws away the task at the head of the queue. In a queue ordered by time, the task at
//! the head is the oldest task. In a queue ordered by priority, the task at the head is the most important
//! task.
//!
//! ```sh
//! cargo run --example discard_oldest
//! ```
//!
//! The book explains this example in the chapter "When there is no room".

use executor::{
    DiscardOldest, FifoQueue, FutureTask, Latch, PriorityQueue, ThreadPoolExecutor, WorkQueue, prelude::*,
};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("in order of time:     {}", survivors(FifoQueue::bounded(2))?);
    println!("in order of priority: {}", survivors(PriorityQueue::new().bounded(2))?);
    Ok(())
}

// ANCHOR: survivors
fn survivors(queue: impl WorkQueue + 'static) -> Result<String, Box<dyn std::error::Error>> {
    let pool = ThreadPoolExecutor::builder().queue(queue).rejection_handler(DiscardOldest).build()?;
    let gate = Arc::new(Latch::new(1));
    let holds_the_thread = Arc::clone(&gate);
    pool.execute(move || _ = holds_the_thread.wait())?;

    let jobs = [("newsletter", 1), ("fire alarm", 9), ("backup", 3)]; // the pool has no room for one of them
    let handles = jobs.map(|(name, priority)| {
        pool.submit(FutureTask::new(move || name).named(name).prioritized(priority)).expect("none is refused")
    });
    gate.count_down();
    let done = handles.into_iter().filter_map(|handle| handle.join().ok());
    Ok(done.collect::<Vec<_>>().join(", "))
}
// ANCHOR_END: survivors
