//! Four tasks wait for one worker. The example shows the order in which each kind of queue gives the tasks out.
//!
//! ```sh
//! cargo run --example queue_order
//! ```
//!
//! The book explains this example in the chapter "Threads and queue".

use executor::{
    FifoQueue, FutureTask, HandOffQueue, Latch, LifoQueue, PriorityQueue, ThreadPoolExecutor, WorkQueue,
    prelude::*,
};
use std::error::Error;
use std::sync::{Arc, mpsc};

// ANCHOR: queues
fn main() -> Result<(), Box<dyn Error>> {
    println!("first in, first out:  {}", order(FifoQueue::unbounded())?);
    println!("last in, first out:   {}", order(LifoQueue::unbounded())?);
    println!("most important first: {}", order(PriorityQueue::new())?);
    println!("by name:              {}", order(PriorityQueue::by(|a, b| b.name().cmp(&a.name())))?);
    println!("bounded, two places:  {}", order(FifoQueue::bounded(2))?);
    println!("hand-off:             {}", order(HandOffQueue::new())?);
    Ok(())
}
// ANCHOR_END: queues

fn order(queue: impl WorkQueue + 'static) -> Result<String, Box<dyn Error>> {
    let pool = ThreadPoolExecutor::builder().threads(1).queue(queue).build()?;
    let gate = Arc::new(Latch::new(1));
    let holds_the_thread = Arc::clone(&gate);
    pool.execute(move || _ = holds_the_thread.wait())?;

    let (tell, told) = mpsc::channel();
    let mut refused = Vec::new();
    // ANCHOR: jobs
    for (name, priority) in [("mail", 3), ("report", 1), ("alarm", 9), ("backup", 3)] {
        let tell = tell.clone();
        let job = FutureTask::new(move || tell.send(name)).named(name).prioritized(priority);
        if pool.submit(job).is_err() {
            refused.push(name);
        }
    }
    // ANCHOR_END: jobs
    gate.count_down();
    pool.close();
    drop(tell);
    let ran = told.iter().collect::<Vec<_>>().join(", ");
    if refused.is_empty() {
        return Ok(ran);
    }
    Ok(format!("{ran} (refused: {})", refused.join(", ")).trim_start().to_owned())
}
