#![allow(unused)]

use std::time::Duration;

use executor::prelude::*;
use executor::{CancelToken, Executor, JoinTimeoutError, Panic, RejectReason, TaskHandle};

/// Milliseconds.
pub type Millis = u64;

/// Calls back when a time is up. The tests bring their own: there an alarm rings when the test says so.
pub trait Alarms {
    /// Has `ring` called once, `limit` from now, on a thread that is not the caller's. With a limit of 0 it is called at
    /// once, on this thread, before `set` returns.
    ///
    /// Dropping what is returned takes the alarm back. If it has begun to ring by then, the drop does not wait for it.
    fn set(&self, limit: Millis, ring: Box<dyn FnOnce() + Send>) -> Box<dyn Alarm>;
}

/// An alarm that is set.
pub trait Alarm: Send {}

/// What a task does.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// Why there is no result.
#[derive(Debug)]
pub enum TimedRunError {
    /// The time was up.
    TimedOut,
    /// The caller was told to stop.
    Interrupted,
    /// The job panicked.
    Panicked(Panic),
    /// Somebody else called the job off, or the executor dropped it without running it.
    Cancelled,
    /// The executor refused the job.
    Refused(RejectReason),
}

/// Has `executor` run the job, and waits for its result, for `limit` at most.
///
/// The end of the job, the alarm, a request to the caller to stop: what comes first counts. If it is not the end of the job,
/// the job is told to stop, or never begins, and the caller does not wait for it any longer. Nobody else is told to stop.
pub fn timed_run<T: Send + 'static>(
    executor: &dyn Executor,
    alarms: &dyn Alarms,
    limit: Millis,
    job: Job<T>,
) -> Result<T, TimedRunError> {
    let handle = executor.submit(job).map_err(|refused| TimedRunError::Refused(refused.reason))?;
    match handle.join_or_cancel(Duration::from_millis(limit)) {
        Ok(value) => Ok(value),
        Err(JoinTimeoutError::TimedOut(_)) => Err(TimedRunError::TimedOut),
        Err(JoinTimeoutError::Interrupted(_)) => Err(TimedRunError::Interrupted),
        Err(JoinTimeoutError::Panicked(panic)) => Err(TimedRunError::Panicked(panic)),
        Err(_) => Err(TimedRunError::Cancelled),
    }
}
