//! Timed run 2: the task runs on a thread of its own, and a join waits for that thread until the time is up.

use executor::CancelToken;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

// ANCHOR: silent
/// Runs a task on a new thread, and waits for that thread for at most `limit`. Wrong: the caller cannot see
/// whether the task has ended or the time is up.
pub fn silent_join(limit: Duration, task: impl FnOnce() + Send + 'static) {
    let (runs, has_ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _runs = runs; // dropped when the thread ends, however it ends
        task();
    });
    let _ = has_ended.recv_timeout(limit);
}
// ANCHOR_END: silent

// ANCHOR: tells
#[derive(Debug)]
pub struct TimedOut;

/// Runs a task on a new thread, and tells the caller how the task ended. When the time is up, the task is
/// told to stop.
pub fn timed_run<T: Send + 'static>(
    limit: Duration,
    task: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TimedOut> {
    let token = CancelToken::current().child();
    let of_the_task = token.clone();
    let (tell, outcome) = mpsc::channel();
    thread::spawn(move || tell.send(catch_unwind(AssertUnwindSafe(|| of_the_task.attach(task)))));
    match outcome.recv_timeout(limit) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => {
            token.cancel();
            Err(TimedOut)
        }
    }
}
// ANCHOR_END: tells
