//! Five tasks are submitted at once to a pool with one thread and room for one waiting task; the example
//! shows what each saturation policy does with the tasks.
//!
//! ```sh
//! cargo run --example saturation
//! ```
//!
//! The book explains this example in the chapter "When there is no room".

use executor::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, FifoQueue, JoinError, Latch, RejectionHandler,
    TaskHandle, ThreadPoolExecutor, prelude::*,
};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    println!("abort:          {}", five_tasks(Abort, 6)?);
    println!("caller runs:    {}", five_tasks(CallerRuns, 6)?);
    println!("discard:        {}", five_tasks(Discard, 6)?);
    println!("discard oldest: {}", five_tasks(DiscardOldest, 6)?);
    println!("block for 1 ms: {}", five_tasks(Block::for_at_most(Duration::from_millis(1)), 6)?);
    println!("block:          {}", five_tasks(Block::new(), 3)?); // the worker is free before task 3 comes
    Ok(())
}

/// Submits five tasks. The first task keeps the worker busy, and ends just before task number `until` is
/// submitted.
fn five_tasks(policy: impl RejectionHandler + 'static, until: u32) -> Result<String, Box<dyn Error>> {
    // ANCHOR: pool
    let pool = ThreadPoolExecutor::builder()
        .threads(1)
        .queue(FifoQueue::bounded(1))
        .rejection_handler(policy)
        .name("worker")
        .build()?;
    // ANCHOR_END: pool
    let (running, gate) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let mut submitted = Vec::new();
    for n in 1..=5 {
        if n == until {
            gate.count_down();
        }
        let (has_begun, gate) = (Arc::clone(&running), Arc::clone(&gate));
        let task = move || {
            has_begun.count_down();
            if n == 1 {
                _ = gate.wait();
            }
            std::thread::current().name().unwrap_or("?").to_owned()
        };
        submitted.push(pool.submit(task));
        running.wait()?; // the first task has the thread, so the second task fills the queue
    }
    gate.count_down();
    // ANCHOR: fates
    let fates = submitted.into_iter().map(|submitted| match submitted.map(TaskHandle::join) {
        Ok(Ok(thread)) if thread == "main" => "caller".into(),
        Ok(Ok(_)) => "worker".into(),
        Ok(Err(JoinError::Cancelled(_))) => "dropped".into(),
        Ok(Err(other)) => other.to_string(),
        Err(_) => "refused".into(),
    });
    // ANCHOR_END: fates
    Ok(fates.collect::<Vec<String>>().join(", "))
}
