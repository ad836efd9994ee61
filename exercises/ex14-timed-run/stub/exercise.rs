//! A timed run: a job on an executor, for so long at most.
//!
//! This is the only file to edit. `cargo test -p ex14-timed-run` checks it.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, JoinError, Panic, RejectReason, TaskHandle};

/// A length of time in milliseconds.
pub type Millis = u64;

/// Calls back when a time is up. The tests bring their own: there an alarm rings when the test says so.
pub trait Alarms {
    /// Has `ring` called once, `limit` from now, on a thread that is not the caller's. With a limit of 0 it
    /// is called at once, on this thread, before `set` returns.
    ///
    /// Dropping what is returned takes the alarm back. If it has begun to ring by then, the drop does not
    /// wait for it.
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
    /// Another party cancelled the job, or the executor dropped it without running it.
    Cancelled,
    /// The executor refused the job.
    Refused(RejectReason),
}

/// Has `executor` run the job, and waits for its result, for `limit` at most.
///
/// The end of the job, the alarm, a request to the caller to stop: what comes first counts. If that is not
/// the end of the job, the job is told to stop, or never begins, and the caller does not wait for it any
/// longer. Nothing else is told to stop.
pub fn timed_run<T: Send + 'static>(
    executor: &dyn Executor,
    alarms: &dyn Alarms,
    limit: Millis,
    job: Job<T>,
) -> Result<T, TimedRunError> {
    todo!("submit the job, wait until it has ended or the alarm rings, and tell what came of it")
}
