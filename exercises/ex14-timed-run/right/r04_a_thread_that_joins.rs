//! Right: a thread of its own joins the job and tells the caller, whose wait ends with the first message.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, JoinError, Panic, RejectReason, TaskHandle};

use crate::sync::{mpsc, thread};

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
    let canceller = handle.canceller();
    let (tell, told) = mpsc::channel();
    let (rings, interrupts) = (tell.clone(), tell.clone());
    let joins = thread::spawn(move || drop(tell.send(Some(handle.join()))));
    let alarm = alarms.set(limit, Box::new(move || drop(rings.send(None))));
    let caller = CancelToken::current();
    let registration = caller.on_cancel(move || drop(interrupts.send(None)));
    let first = told.recv().expect("the thread tells in any case");
    drop((alarm, registration));
    let called_off = first.is_none() && canceller.cancel();
    let joined = first.or_else(|| told.iter().flatten().next());
    let _ = joins.join(); // the job is decided, so this comes at once
    match joined {
        _ if called_off && caller.is_cancelled() => Err(TimedRunError::Interrupted),
        _ if called_off => Err(TimedRunError::TimedOut),
        Some(Ok(value)) => Ok(value),
        Some(Err(JoinError::Panicked(panic))) => Err(TimedRunError::Panicked(panic)),
        _ => Err(TimedRunError::Cancelled),
    }
}
