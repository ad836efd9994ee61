//! Right: all that can happen is a message, and the first one counts.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, Panic, RejectReason, TaskError};

use crate::sync::mpsc;

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

/// What can happen while the caller waits.
enum Event<T> {
    Ended(Result<T, TaskError>),
    Alarm,
    Interrupted,
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
    let canceller = handle.canceller();
    let (tell, events) = mpsc::channel();
    let (rings, interrupts) = (tell.clone(), tell.clone());
    handle.on_done(move |outcome| drop(tell.send(Event::Ended(outcome))));
    let alarm = alarms.set(limit, Box::new(move || drop(rings.send(Event::Alarm))));
    let caller = CancelToken::current();
    let registration = caller.on_cancel(move || drop(interrupts.send(Event::Interrupted)));
    loop {
        let error = match events.recv().expect("the job tells in any case how it has ended") {
            Event::Ended(Ok(value)) => return Ok(value),
            Event::Ended(Err(TaskError::Panicked(panic))) => return Err(TimedRunError::Panicked(panic)),
            Event::Ended(Err(_)) => return Err(TimedRunError::Cancelled),
            Event::Alarm => TimedRunError::TimedOut,
            Event::Interrupted => TimedRunError::Interrupted,
        };
        if canceller.cancel() {
            return Err(error);
        } // or else it has just ended, and tells so next
    }
}
