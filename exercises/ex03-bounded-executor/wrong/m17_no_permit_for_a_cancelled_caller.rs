//! Wrong: acquire() fails if the caller's task is cancelled. Then the job is handed over without a permit, and the bound does not
//! hold for whoever is cancelled.
//! The learner sees: two jobs in the inner executor, with a bound of 1.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::Arc;

/// Hands jobs to another executor, and never more than `bound` that are not done, running or queued there.
pub struct BoundedExecutor<E> {
    inner: E,
    room: Arc<Semaphore>,
}

/// A permit that travels with its job. However the job ends (it returns, it panics, it is dropped unrun), its captured
/// values are dropped, and the permit with them.
struct Place(Option<Arc<Semaphore>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(room) = &self.0 {
            room.release(1);
        }
    }
}

impl<E: Executor> BoundedExecutor<E> {
    /// Lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        Self { inner, room: Arc::new(Semaphore::new(bound)) }
    }

    /// Waits until there is room, then hands the job to the inner executor.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        // Without a permit there is nothing to give back.
        let permit = self.room.acquire().map(|permit| permit.forget());
        let place = Place(permit.is_ok().then(|| Arc::clone(&self.room)));
        self.inner.execute(move || {
            let _place = place; // taken along, and dropped after the job
            job();
        })
    }
}
