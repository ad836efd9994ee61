//! Right: joins from the last job to the first. Once the time is up it cancels first, and looks only at what had ended
//! before.
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
            None => Err(TaskError::Cancelled),
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
    // True only if it had not ended: then this is its outcome.
    if left == 0 && handle.cancel() {
        return Err(TaskError::Cancelled);
    }
    match clock.join(handle, left) {
        Ok(value) => Ok(value),
        Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
        Err(JoinTimeoutError::Cancelled) => Err(TaskError::Cancelled),
        Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
            if handle.cancel() {
                return Err(TaskError::Cancelled);
            }
            // It was quicker by a hair.
            match clock.join(handle, 0) {
                Ok(value) => Ok(value),
                Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
                Err(_) => Err(TaskError::Cancelled),
            }
        }
        Err(_) => Err(TaskError::Cancelled),
    }
}
