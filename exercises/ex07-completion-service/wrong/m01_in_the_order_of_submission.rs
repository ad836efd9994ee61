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
    pub fn new(executor: E) -> Self {
        Self { executor, handles: Mutex::default() }
    }

    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let handle = self.executor.submit(task)?;
        let canceller = handle.canceller();
        self.handles.lock().unwrap().push_back(handle);
        Ok(canceller)
    }

    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let handle = self.handles.lock().unwrap().pop_front()?;
        Some(handle.join().map_err(|error| match error {
            JoinError::Panicked(panic) => TaskError::Panicked(panic),
            _ => TaskError::Cancelled(Cancelled),
        }))
    }

    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        let mut handles = self.handles.lock().unwrap();
        if !handles.front()?.is_finished() {
            return None;
        }
        let handle = handles.pop_front()?;
        drop(handles);
        Some(handle.join().map_err(|error| match error {
            JoinError::Panicked(panic) => TaskError::Panicked(panic),
            _ => TaskError::Cancelled(Cancelled),
        }))
    }
}
