#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectedExecution, Semaphore};

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
        let room = Arc::clone(&self.room);
        self.inner.execute(move || {
            let _permit = room.acquire().expect("nobody cancels an exercise");
            job();
        })
    }
}
