//! All tasks, and one deadline: the function submits many tasks, waits for all of them, and leaves no task
//! behind when the time is up.
#![allow(unused)]

use executor::prelude::*;
use executor::{Cancelled, Executor, JoinTimeoutError, RejectedSubmission, TaskError, TaskHandle};

/// Milliseconds: a moment on the clock, or the time from one moment to another.
pub type Millis = u64;

/// Tells the time, and lets a thread wait for a task. The tests have their own clock: its time advances only
/// while a thread waits on it.
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits for the task, but no longer than `at_most` on this clock, like `TaskHandle::join_timeout`. If
    /// the task has ended, its result is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// The closure that one task runs.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// Runs all jobs on the executor and returns the outcome of each, in the order of the jobs. The function
/// returns no later than `timeout` after the call.
///
/// A job that has not ended by the deadline is cancelled, and a job that was not submitted by the deadline is
/// never submitted. In both cases the outcome is `Err(TaskError::Cancelled)`. If the executor refuses a job,
/// the jobs submitted before it are cancelled, and the refusal is returned as it is. If the caller is told to
/// give up while it waits (`JoinTimeoutError::Interrupted`), the function does the same as at the deadline.
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
            handles.push(None); // too late to submit this job
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
        let result = match clock.join(handle.ok_or(TaskError::Cancelled(Cancelled))?, left()) {
            Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
                handle.cancel(); // does nothing if the job has just ended
                handle.join().map_err(JoinTimeoutError::from)
            }
            result => result,
        };
        result.map_err(|error| match error {
            JoinTimeoutError::Panicked(panic) => TaskError::Panicked(panic),
            _ => TaskError::Cancelled(Cancelled),
        })
    };
    Ok(handles.into_iter().map(outcome).collect())
}
