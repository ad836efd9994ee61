//! Right: callbacks record what has happened, and the caller waits on a condition variable.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, Panic, RejectReason, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

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

/// The events that have happened so far.
struct State<T> {
    outcome: Option<Result<T, TaskError>>,
    rang: bool,
    interrupted: bool,
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
    let canceller = handle.canceller();
    let shared = Arc::new((Mutex::new(State { outcome: None, rang: false, interrupted: false }), Condvar::new()));
    let of_the_job = Arc::clone(&shared);
    handle.on_done(move |outcome| {
        of_the_job.0.lock().unwrap().outcome = Some(outcome);
        of_the_job.1.notify_all();
    });
    let of_the_alarm = Arc::clone(&shared);
    let ring = move || {
        of_the_alarm.0.lock().unwrap().rang = true;
        of_the_alarm.1.notify_all();
    };
    let alarm = alarms.set(limit, Box::new(ring));
    let of_the_caller = Arc::clone(&shared);
    let registration = CancelToken::current().on_cancel(move || {
        of_the_caller.0.lock().unwrap().interrupted = true;
        of_the_caller.1.notify_all();
    });
    let (lock, changed) = &*shared;
    let wait = |state: &mut State<T>| state.outcome.is_none() && !state.rang && !state.interrupted;
    let state = changed.wait_while(lock.lock().unwrap(), wait).unwrap();
    let (ended, interrupted) = (state.outcome.is_some(), state.interrupted);
    drop(state);
    drop((alarm, registration));
    if !ended && canceller.cancel() {
        return Err(if interrupted { TimedRunError::Interrupted } else { TimedRunError::TimedOut });
    }
    // The job has ended, and its callback has run or is about to run.
    let mut state = changed.wait_while(lock.lock().unwrap(), |state| state.outcome.is_none()).unwrap();
    match state.outcome.take() {
        Some(Ok(value)) => Ok(value),
        Some(Err(TaskError::Panicked(panic))) => Err(TimedRunError::Panicked(panic)),
        _ => Err(TimedRunError::Cancelled),
    }
}
