//! All tasks, and one deadline: submit many, wait for all of them, leave nothing behind when the time is up.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinTimeoutError, RejectedSubmission, TaskError, TaskHandle};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What time it is, and waiting until it is later. The tests bring their own clock: its time goes on only while a thread
/// waits on it.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Millis;

    /// `TaskHandle::join_timeout` on this clock: waits for the task, for `at_most` at most. A result that is there
    /// already is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// What one task does.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// Has all jobs run and returns what came of each, in the order of the jobs, `timeout` after the call at the latest.
///
/// What has not ended by then is cancelled, and what was not submitted by then never is: `Err(TaskError::Cancelled)`. If
/// the executor refuses a job, those submitted before it are cancelled, and the refusal is returned as it is. If the caller
/// is told to give up while it waits (`JoinTimeoutError::Interrupted`), that ends the wait as the deadline does.
pub fn invoke_all<T: Send + 'static>(
    executor: &impl Executor,
    clock: &impl Clock,
    jobs: Vec<Job<T>>,
    timeout: Millis,
) -> Result<Vec<Result<T, TaskError>>, RejectedSubmission<T>> {
    let deadline = clock.now().saturating_add(timeout);
    let left = || deadline.saturating_sub(clock.now());
    let mut handles: Vec<Option<TaskHandle<T>>> = Vec::new();
    for job in jobs {
        if left() == 0 {
            handles.push(None); // too late to begin with it
            continue;
        }
        match executor.submit(job) {
            Ok(handle) => handles.push(Some(handle)),
            Err(refused) => {
                for handle in handles.into_iter().flatten() {
                    handle.cancel();
                }
                return Err(refused);
            }
        }
    }
    let outcome = |handle: Option<TaskHandle<T>>| {
        let result = match clock.join(handle.ok_or(TaskError::Cancelled)?, left()) {
            Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
                handle.cancel(); // if it has not ended a moment ago
                handle.join().map_err(JoinTimeoutError::from)
            }
            result => result,
        };
        result.map_err(|error| match error {
            JoinTimeoutError::Panicked(panic) => TaskError::Panicked(panic),
            _ => TaskError::Cancelled,
        })
    };
    Ok(handles.into_iter().map(outcome).collect())
}
