//! Timed run 3: the task runs on an executor, and the caller has the task's handle.

use executor::{Executor, JoinError, Panic, RejectReason, prelude::*};
use std::time::Duration;

// ANCHOR: classic
/// The classic listing. Wrong: if the time is up, the result looks like success.
pub fn hides_the_time_out(executor: &dyn Executor, limit: Duration, task: impl FnOnce() + Send + 'static) {
    let Ok(handle) = executor.submit(task) else { return };
    let canceller = handle.canceller();
    if let Err(JoinError::Panicked(panic)) = handle.join_timeout(limit) {
        panic.resume();
    }
    canceller.cancel(); // does nothing if the task has ended
}
// ANCHOR_END: classic

// ANCHOR: tells
#[derive(Debug)]
pub enum NoResult {
    /// The time was up, so the task was told to stop.
    TimedOut,
    /// Both the caller and the task were told to stop.
    Interrupted,
    /// Another party cancelled the task.
    Cancelled,
    Refused(RejectReason),
}

/// Runs a task on an executor for at most `limit`. A panic of the task continues in the caller.
pub fn timed_run<T: Send + 'static>(
    executor: &dyn Executor,
    limit: Duration,
    task: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoResult> {
    let handle = executor.submit(task).map_err(|refused| NoResult::Refused(refused.reason))?;
    handle.join_or_cancel(limit).map_err(|error| match error {
        JoinError::TimedOut(_) => NoResult::TimedOut,
        JoinError::Interrupted(_) => NoResult::Interrupted,
        JoinError::Panicked(panic) => Panic::resume(panic),
        _ => NoResult::Cancelled,
    })
}
// ANCHOR_END: tells
