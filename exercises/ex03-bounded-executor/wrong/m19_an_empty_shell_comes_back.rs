//! Wrong: job and permit lie in a place that execute() can reach, too. When the inner executor refuses, execute() empties it to
//! have the permit back, and so the task in the error is a shell with no job in it.
//! The learner sees: the job that came back was run, and nothing happened.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::{Arc, Mutex};

/// Hands jobs to another executor, and never more than `bound` that are not done, running or queued there.
pub struct BoundedExecutor<E> {
    inner: E,
    room: Arc<Semaphore>,
}

/// A permit that travels with its job. However the job ends (it returns, it panics, it is dropped unrun), its captured
/// values are dropped, and the permit with them.
struct Place(Arc<Semaphore>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

impl<E: Executor> BoundedExecutor<E> {
    /// Lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        Self { inner, room: Arc::new(Semaphore::new(bound)) }
    }

    /// Waits until there is room, then hands the job to the inner executor.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let Ok(permit) = self.room.acquire() else {
            return Err(RejectedExecution { reason: RejectReason::Interrupted, task: Task::new(job) });
        };
        permit.forget();
        let content = Arc::new(Mutex::new(Some((Place(Arc::clone(&self.room)), job))));
        let here = Arc::clone(&content);
        let result = self.inner.execute(move || {
            let content = content.lock().unwrap().take();
            if let Some((_place, job)) = content {
                job();
            }
        });
        if result.is_err() {
            *here.lock().unwrap() = None;
        }
        result
    }
}
