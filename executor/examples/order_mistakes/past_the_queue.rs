//! A pool that sometimes starts a task without asking its queue.

use crate::at_once::Most;
use crate::queue::StripedQueue;
use executor::{StripedExecutor, Task, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::Arc;

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    let queue = StripedQueue::default();
    let busy = Arc::clone(&queue.busy);
    let pool = ThreadPoolExecutor::builder().threads(2).queue(queue).build()?;
    let most = Most::default();
    for _ in 0..2 {
        let (work, busy) = (most.work(), Arc::clone(&busy));
        let task = Task::new(move || {
            work();
            busy.lock().unwrap().remove("Ada");
        });
        pool.execute(task.named("Ada"))?;
    }
    pool.close();
    println!("a striped queue: at once {} of Ada's tasks", most.at_once());

    let striped = StripedExecutor::owning(ThreadPoolExecutor::fixed(2));
    let most = Most::default();
    striped.execute_in("Ada", most.work())?;
    striped.execute_in("Ada", most.work())?;
    striped.close();
    println!("ours: at once {} of Ada's tasks", most.at_once());
    Ok(())
}
// ANCHOR_END: show
