//! Right: the handles are in a batch that cancels, when it is dropped, whatever it still holds; so a refusal is a `?`.
#![allow(unused)]

use std::collections::VecDeque;

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

/// Tasks in the order of their jobs; `None` for one that was not submitted.
struct Batch<T: Send + 'static>(VecDeque<Option<TaskHandle<T>>>);

impl<T: Send + 'static> Drop for Batch<T> {
    fn drop(&mut self) {
        for handle in self.0.iter().flatten() {
            handle.cancel();
        }
    }
}

impl<T: Send + 'static> Batch<T> {
    /// What came of the first one.
    fn next(&mut self, clock: &impl Clock, deadline: Millis) -> Option<Result<T, TaskError>> {
        let Some(handle) = self.0.pop_front()? else {
            return Some(Err(TaskError::Cancelled));
        };
        Some(match clock.join(handle, deadline.saturating_sub(clock.now())) {
            Ok(value) => Ok(value),
            Err(JoinTimeoutError::Panicked(panic)) => Err(TaskError::Panicked(panic)),
            Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
                drop(Batch(VecDeque::from([Some(handle)])));
                Err(TaskError::Cancelled)
            }
            Err(_) => Err(TaskError::Cancelled),
        })
    }
}

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
    let mut batch = Batch(VecDeque::with_capacity(jobs.len()));
    for job in jobs {
        let in_time = clock.now() < deadline;
        batch.0.push_back(if in_time { Some(executor.submit(job)?) } else { None });
    }
    Ok(std::iter::from_fn(|| batch.next(clock, deadline)).collect())
}
