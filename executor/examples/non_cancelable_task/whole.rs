//! Two steps that mask the request to stop while they must not be interrupted.

use super::Task;
use super::half_way::Stamp;
use executor::channel::{Receiver, ReceiverExt, Sender, SenderExt};
use executor::masked;
use std::error::Error;

// ANCHOR: next_task
/// Waits for the next task, even if the caller was asked to stop. Returns `None` if no more tasks will come.
pub fn next_task(tasks: &Receiver<Task>) -> Option<Task> {
    masked(|| tasks.take()).ok()
}
// ANCHOR_END: next_task

// ANCHOR: move_one
/// Takes a task from one desk, stamps the task and puts it on the other desk. If the task is cancelled, the
/// step can end early only before it has taken a task from the desk.
pub fn move_one(from: &Receiver<Task>, to: &Sender<Task>, stamp: Stamp<'_>) -> Result<(), Box<dyn Error>> {
    let task = from.take()?;
    masked(|| {
        stamp(task);
        to.put(task)
    })?;
    Ok(())
}
// ANCHOR_END: move_one
