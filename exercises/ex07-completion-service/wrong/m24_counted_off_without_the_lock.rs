#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    finished: Mutex<VecDeque<Result<T, TaskError>>>,
    /// The number of tasks whose results no thread has taken yet.
    outstanding: AtomicUsize,
    /// Notified when a result has come, or when no result will come.
    changed: Condvar,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        let (finished, outstanding) = (Mutex::new(VecDeque::new()), AtomicUsize::new(0));
        Self { executor, shared: Arc::new(Shared { finished, outstanding, changed: Condvar::new() }) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let handle = self.executor.submit(task)?;
        let canceller = handle.canceller();
        // The task may have ended already, so it is counted before any thread can see its result.
        self.shared.outstanding.fetch_add(1, SeqCst);
        let shared = Arc::clone(&self.shared);
        handle.on_done(move |result| {
            shared.finished.lock().unwrap().push_back(result);
            shared.changed.notify_one();
        });
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` if there is no task whose result could come.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let mut finished = self.shared.finished.lock().unwrap();
        while finished.is_empty() && self.shared.outstanding.load(SeqCst) > 0 {
            finished = self.shared.changed.wait(finished).unwrap();
        }
        let next = finished.pop_front();
        drop(finished);
        self.count_off(next)
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        let next = self.shared.finished.lock().unwrap().pop_front();
        self.count_off(next)
    }

    fn count_off(&self, next: Option<Result<T, TaskError>>) -> Option<Result<T, TaskError>> {
        if next.is_some() && self.shared.outstanding.fetch_sub(1, SeqCst) == 1 {
            self.shared.changed.notify_all();
        }
        next
    }
}
