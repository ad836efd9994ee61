#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::Arc;

/// Hands jobs to another executor, and never more than `bound` that are not done, running or queued there.
pub struct BoundedExecutor<E> {
    inner: E,
    room: Arc<Semaphore>,
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
        let room = Arc::clone(&self.room);
        let result = self.inner.execute(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            room.release(1);
            if let Err(payload) = result {
                std::panic::resume_unwind(payload);
            }
        });
        if result.is_err() {
            self.room.release(1);
        }
        result
    }
}
