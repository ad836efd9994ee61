//! Right: the caller parks its thread until a flag is set, and then asks the handle.
#![allow(unused)]

use executor::prelude::*;
use executor::{CancelToken, Executor, Panic, RejectReason, TaskError};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, thread};

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
    let outcome = Arc::new(Mutex::new(None));
    let (up, interrupted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (caller, place) = (thread::current(), Arc::clone(&outcome));
    handle.on_done(move |ended| {
        *place.lock().unwrap() = Some(ended);
        caller.unpark();
    });
    let sets = |flag: &Arc<AtomicBool>| {
        let (caller, flag) = (thread::current(), Arc::clone(flag));
        move || {
            flag.store(true, Ordering::SeqCst);
            caller.unpark();
        }
    };
    let alarm = alarms.set(limit, Box::new(sets(&up)));
    let registration = CancelToken::current().on_cancel(sets(&interrupted));
    loop {
        let ended = outcome.lock().unwrap().take();
        match ended {
            Some(Ok(value)) => return Ok(value),
            Some(Err(TaskError::Panicked(panic))) => return Err(TimedRunError::Panicked(panic)),
            Some(Err(_)) => return Err(TimedRunError::Cancelled),
            None => {}
        }
        let told = interrupted.load(Ordering::SeqCst);
        if (told || up.load(Ordering::SeqCst)) && canceller.cancel() {
            return Err(if told { TimedRunError::Interrupted } else { TimedRunError::TimedOut });
        }
        thread::park();
    }
}
