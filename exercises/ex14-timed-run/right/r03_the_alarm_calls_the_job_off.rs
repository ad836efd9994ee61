//! Right: the alarm and the caller's token call the job off, and leave a note why. The caller only joins.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, JoinError, Panic, RejectReason, masked};

use crate::sync::{Arc, Mutex};

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
    /// Another thread called the job off, or the executor dropped it without running it.
    Cancelled,
    /// The executor refused the job.
    Refused(RejectReason),
}

/// Has `executor` run the job, and waits for its result, for `limit` at most.
///
/// The end of the job, the alarm, a request to the caller to stop: what comes first counts. If it is not the end of the job,
/// the job is told to stop, or never begins, and the caller no longer waits. No other thread is told to stop.
pub fn timed_run<T: Send + 'static>(
    executor: &dyn Executor,
    alarms: &dyn Alarms,
    limit: Millis,
    job: Job<T>,
) -> Result<T, TimedRunError> {
    let handle = executor.submit(job).map_err(|refused| TimedRunError::Refused(refused.reason))?;
    let why = Arc::new(Mutex::new(None));
    let calls_off = |error: fn() -> TimedRunError| {
        let (why, canceller) = (Arc::clone(&why), handle.canceller());
        move || {
            why.lock().unwrap().get_or_insert(error); // before the cancel, which lets the caller go
            canceller.cancel();
        }
    };
    let alarm = alarms.set(limit, Box::new(calls_off(|| TimedRunError::TimedOut)));
    let registration = CancelToken::current().on_cancel(calls_off(|| TimedRunError::Interrupted));
    let joined = masked(|| handle.join());
    drop((alarm, registration));
    joined.map_err(|error| match error {
        JoinError::Panicked(panic) => TimedRunError::Panicked(panic),
        _ => why.lock().unwrap().map_or(TimedRunError::Cancelled, |error| error()),
    })
}
