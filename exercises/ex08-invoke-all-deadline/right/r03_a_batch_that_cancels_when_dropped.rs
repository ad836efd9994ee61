//! Right: the handles are in a batch. When the batch is dropped, it cancels the remaining tasks, so `?` is
//! enough to handle a refusal.
#![allow(unused)]

use std::collections::VecDeque;

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

/// The tasks in the order of their jobs; `None` stands for a job that was not submitted.
struct Batch<T: Send + 'static>(VecDeque<Option<TaskHandle<T>>>);

impl<T: Send + 'static> Drop for Batch<T> {
    fn drop(&mut self) {
        for handle in self.0.iter().flatten() {
            handle.cancel();
        }
    }
}

impl<T: Send + 'static> Batch<T> {
    /// Removes the first task, and returns its outcome.
    fn next(&mut self, clock: &impl Clock, deadline: Millis) -> Option<Result<T, TaskError>> {
        let Some(handle) = self.0.pop_front()? else {
            return Some(Err(TaskError::Cancelled(Cancelled)));
        };
        Some(match clock.join(handle, deadline.saturating_sub(clock.now())) {
            Ok(value) => Ok(value),
            Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
            Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
                drop(Batch(VecDeque::from([Some(handle)])));
                Err(TaskError::Cancelled(Cancelled))
            }
            Err(_) => Err(TaskError::Cancelled(Cancelled)),
        })
    }
}

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
    let mut batch = Batch(VecDeque::with_capacity(jobs.len()));
    for job in jobs {
        let in_time = clock.now() < deadline;
        batch.0.push_back(if in_time { Some(executor.submit(job)?) } else { None });
    }
    Ok(std::iter::from_fn(|| batch.next(clock, deadline)).collect())
}
