//! A bounded executor: it wraps another executor and lets in only a limited number of jobs at a time.
//!
//! This is the only file to edit. `cargo test -p ex03-bounded-executor` checks your answer.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::Arc;

/// Hands jobs to another executor, which never has more than `bound` jobs at a time, running or queued.
pub struct BoundedExecutor<E> {
    inner: E,
    // A semaphore has permits: `acquire()` waits for a permit and returns a `Permit`; dropping the `Permit`
    // gives the permit back. A `Permit` borrows the semaphore. To keep a permit without the borrow, call
    // `permit.forget()`, and later `semaphore.release(1)`.
}

impl<E: Executor> BoundedExecutor<E> {
    /// Makes an executor that lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        todo!("make a semaphore with as many permits as the bound")
    }

    /// Waits until there is room, then hands the job to the inner executor.
    ///
    /// If the inner executor refuses the job, your executor returns the same error, with the job in it. A
    /// caller whose task was cancelled gets an error from `acquire()` and no permit. Refuse the caller's job
    /// ([`RejectReason::Interrupted`]), or let the caller go on waiting.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        todo!("take a permit, hand the job over, and see to it that the permit comes back in every case")
    }
}
