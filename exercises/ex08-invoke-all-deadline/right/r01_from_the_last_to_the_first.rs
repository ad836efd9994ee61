//! Right: this answer joins from the last job to the first. Once the time is up, the answer first cancels
//! each job, and uses a result only if the job had ended before.
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
    let mut handles = Vec::new();
    for job in jobs {
        if clock.now() >= deadline {
            handles.push(None);
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
    let mut outcomes = Vec::with_capacity(handles.len());
    while let Some(handle) = handles.pop() {
        outcomes.push(match handle {
            Some(handle) => settle(clock, handle, deadline),
            None => Err(TaskError::Cancelled(Cancelled)),
        });
    }
    outcomes.reverse();
    Ok(outcomes)
}

fn settle<T: Send + 'static>(
    clock: &impl Clock,
    handle: TaskHandle<T>,
    deadline: Millis,
) -> Result<T, TaskError> {
    let left = deadline.saturating_sub(clock.now());
    // If `cancel` returns true, the task had not ended, and its outcome is `Cancelled`.
    if left == 0 && handle.cancel() {
        return Err(TaskError::Cancelled(Cancelled));
    }
    match clock.join(handle, left) {
        Ok(value) => Ok(value),
        Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
        Err(JoinTimeoutError::Cancelled(_)) => Err(TaskError::Cancelled(Cancelled)),
        Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
            if handle.cancel() {
                return Err(TaskError::Cancelled(Cancelled));
            }
            // The task ended just before it was cancelled.
            match clock.join(handle, 0) {
                Ok(value) => Ok(value),
                Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
                Err(_) => Err(TaskError::Cancelled(Cancelled)),
            }
        }
        Err(_) => Err(TaskError::Cancelled(Cancelled)),
    }
}
