//! The solution: the wait has its own token, and the alarm cancels this token.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, JoinError, Panic, RejectReason, TaskHandle};

/// A length of time in milliseconds.
pub type Millis = u64;

/// A clock with alarms; each alarm calls a function when its time is up. The tests have their own alarms,
/// which ring when the test says so.
pub trait Alarms {
    /// Sets an alarm, which calls `ring` once, after `limit`, on a thread other than the caller's. With a
    /// limit of 0, `set` calls `ring` at once, on the calling thread, before it returns.
    ///
    /// Dropping the returned value takes the alarm back. If the alarm has begun to ring before the drop, the
    /// drop does not wait until `ring` returns.
    fn set(&self, limit: Millis, ring: Box<dyn FnOnce() + Send>) -> Box<dyn Alarm>;
}

/// An alarm that is set.
pub trait Alarm: Send {}

/// The closure that a task runs.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// The reason why there is no result.
#[derive(Debug)]
pub enum TimedRunError {
    /// The time was up.
    TimedOut,
    /// The caller was told to stop.
    Interrupted,
    /// The job panicked.
    Panicked(Panic),
    /// Another thread cancelled the job, or the executor dropped the job without running it.
    Cancelled,
    /// The executor refused the job.
    Refused(RejectReason),
}

/// Runs the job on `executor`, and waits at most `limit` for the job's result.
///
/// Three events end the wait: the end of the job, the alarm, and a request to the caller to stop. The first
/// of these events counts. If the alarm or the request comes first, the job is told to stop or never begins,
/// and the call returns without waiting for the job. No other thread or task is told to stop.
pub fn timed_run<T: Send + 'static>(
    executor: &dyn Executor,
    alarms: &dyn Alarms,
    limit: Millis,
    job: Job<T>,
) -> Result<T, TimedRunError> {
    let handle = executor.submit(job).map_err(|refused| TimedRunError::Refused(refused.reason))?;
    let caller = CancelToken::current();
    let wait = caller.child(); // the alarm cancels it; only the `join` below waits under it
    let of_the_alarm = wait.clone();
    let ring = move || {
        of_the_alarm.cancel();
    };
    let alarm = alarms.set(limit, Box::new(ring));
    let joined = wait.attach(|| handle.join());
    drop(alarm);
    let outcome = match joined {
        Err(JoinError::Interrupted(handle)) => {
            if handle.cancel() {
                let interrupted = caller.is_cancelled();
                return Err(if interrupted { TimedRunError::Interrupted } else { TimedRunError::TimedOut });
            }
            handle.join() // the job has just ended, so this returns at once
        }
        outcome => outcome,
    };
    outcome.map_err(|error| match error {
        JoinError::Panicked(panic) => TimedRunError::Panicked(panic),
        _ => TimedRunError::Cancelled,
    })
}
