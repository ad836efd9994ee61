#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Cancelled, Canceller, Executor, JoinError, RejectedSubmission, TaskError, TaskHandle};

use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    handles: Mutex<VecDeque<TaskHandle<T>>>,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        Self { executor, handles: Mutex::new(VecDeque::new()) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let handle = self.executor.submit(task)?;
        let canceller = handle.canceller();
        self.handles.lock().unwrap().push_back(handle);
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` if there is no task whose result could come.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        self.try_take().or_else(|| {
            let first = self.handles.lock().unwrap().pop_front()?;
            Some(Self::result(first))
        })
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        let mut handles = self.handles.lock().unwrap();
        let ended = handles.iter().position(TaskHandle::is_finished)?;
        handles.remove(ended).map(Self::result)
    }

    fn result(handle: TaskHandle<T>) -> Result<T, TaskError> {
        handle.join().map_err(|error| match error {
            JoinError::Panicked(panic) => TaskError::Panicked(panic),
            _ => TaskError::Cancelled(Cancelled),
        })
    }
}
