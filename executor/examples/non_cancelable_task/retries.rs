//! Java's way, step by step: try again, and pass the request on in the end.

use super::{ATTEMPTS, Task};
use executor::CancelToken;
use executor::channel::{Receiver, TakeError};
use std::sync::atomic::Ordering;

// ANCHOR: retries
/// Waits for the next task, whether or not its caller was asked to stop. `None` if no more will come.
pub fn next_task(tasks: &Receiver<Task>) -> Option<Task> {
    let mut interrupted = false;
    let task = loop {
        ATTEMPTS.fetch_add(1, Ordering::Relaxed);
        match tasks.take() {
            Ok(task) => break Some(task),
            Err(TakeError::Interrupted) => interrupted = true, // and try again
            Err(_) => break None,
        }
    };
    if interrupted {
        CancelToken::current().cancel(); // the caller shall see it
    }
    task
}
// ANCHOR_END: retries
