//! A bounded executor: it wraps another executor and lets in only a limited number of jobs at a time.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::Arc;

/// Hands jobs to another executor, which never has more than `bound` jobs at a time, running or queued.
pub struct BoundedExecutor<E> {
    inner: E,
    room: Arc<Semaphore>,
}

/// A permit that the job's closure owns. If the job returns, panics, or is dropped unrun, the job's captured
/// values are dropped, and the permit with them.
struct Place(Arc<Semaphore>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

impl<E: Executor> BoundedExecutor<E> {
    /// Makes an executor that lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        Self { inner, room: Arc::new(Semaphore::new(bound)) }
    }

    /// Waits until there is room, then hands the job to the inner executor.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let Ok(permit) = self.room.acquire() else {
            return Err(RejectedExecution { reason: RejectReason::Interrupted, task: Task::new(job) });
        };
        permit.forget();
        let place = Place(Arc::clone(&self.room));
        self.inner.execute(move || {
            let _place = place; // moved into the closure, and dropped after the job
            job();
        })
    }
}
