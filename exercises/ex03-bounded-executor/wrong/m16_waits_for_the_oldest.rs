#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task, TaskHandle, masked};

use crate::sync::Mutex;

/// Hands jobs to another executor, and never more than `bound` that are not done, running or queued there.
pub struct BoundedExecutor<E> {
    inner: E,
    bound: usize,
    let_in: Mutex<VecDeque<TaskHandle<()>>>,
}

impl<E: Executor> BoundedExecutor<E> {
    /// Lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        Self { inner, bound, let_in: Mutex::default() }
    }

    /// Waits until there is room, then hands the job to the inner executor.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let mut let_in = self.let_in.lock().unwrap();
        if let_in.len() == self.bound
            && let Some(oldest) = let_in.pop_front()
        {
            let _ = masked(|| oldest.join()); // that it panicked is its own affair
        }
        match self.inner.submit(job) {
            Ok(handle) => {
                let_in.push_back(handle);
                Ok(())
            }
            Err(refused) => Err(RejectedExecution { reason: refused.reason, task: refused.task }),
        }
    }
}
