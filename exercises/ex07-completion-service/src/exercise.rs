//! A completion service: it takes tasks, and hands out their results in the order in which the tasks end.
//!
//! This is the only file to edit. `cargo test -p ex07-completion-service` checks your answer.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    // Where are the results put, and by which code? Which code must know how many results will still come?
    // The type `T` must be used somewhere:
    results: std::marker::PhantomData<T>,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        todo!("keep the executor and make the place for the results")
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    ///
    /// If the executor refuses the task, the service returns the same error, with the task in it, and no
    /// result of the task comes out.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        // After `on_done(callback)` on a handle, the callback is called with the result, however the task
        // ends.
        todo!("submit the task, and see to it that its result will be found")
    }

    /// Waits for the next task to end and returns its result; `None` once the results of all accepted tasks
    /// have been taken.
    ///
    /// Any number of threads may call `take` at the same time. A thread that waits must sleep on a `Condvar`
    /// of `crate::sync`: the tests recognise no other kind of sleep.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        todo!("wait for as long as a result can come")
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        todo!("take what is there")
    }
}
