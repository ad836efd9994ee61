//! Wrong: a guard inside the task reports the end when it is dropped, and knows only a value or none.
//! The learner sees: a task has panicked, and comes out as cancelled.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, Promise, RejectedSubmission, TaskError};

use crate::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// A result has come, or none will.
    changed: Condvar,
}

struct State<T> {
    finished: VecDeque<Result<T, TaskError>>,
    /// Tasks whose results nobody has taken yet.
    outstanding: usize,
}

impl<T> State<T> {
    /// The next result, if it is there. Whoever takes the last one must tell those who wait for more.
    fn next(&mut self) -> Option<Result<T, TaskError>> {
        let result = self.finished.pop_front()?;
        self.outstanding -= 1;
        Some(result)
    }
}

/// Reports the end of a task when it is dropped, so that it cannot be forgotten.
struct Reporter<T> {
    shared: Arc<Shared<T>>,
    refused: Arc<AtomicBool>,
    value: Option<T>,
}

impl<T> Drop for Reporter<T> {
    fn drop(&mut self) {
        if !self.refused.load(SeqCst) {
            let result = self.value.take().ok_or(TaskError::Cancelled);
            self.shared.state.lock().unwrap().finished.push_back(result);
            self.shared.changed.notify_one();
        }
    }
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// A service that has its tasks run by this executor.
    pub fn new(executor: E) -> Self {
        let state = Mutex::new(State { finished: VecDeque::new(), outstanding: 0 });
        Self { executor, shared: Arc::new(Shared { state, changed: Condvar::new() }) }
    }

    /// Submits a task. Its result comes out of `take` or `try_take`; the canceller can call it off.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.shared.state.lock().unwrap().outstanding += 1;
        let refused = Arc::new(AtomicBool::new(false));
        let (shared, its_refused) = (Arc::clone(&self.shared), Arc::clone(&refused));
        let mut reporter = Reporter { shared, refused: its_refused, value: None };
        let (promise, handle) = Promise::new();
        let submitted = self.executor.submit(move || {
            let value = task();
            if reporter.refused.load(SeqCst) {
                drop(promise.complete(value));
            } else {
                reporter.value = Some(value);
            }
        });
        submitted.map(|handle| handle.canceller()).map_err(|RejectedSubmission { reason, task, .. }| {
            refused.store(true, SeqCst);
            let mut state = self.shared.state.lock().unwrap();
            state.outstanding -= 1;
            self.tell_if_nothing_will_come(&state);
            drop(state);
            RejectedSubmission { reason, task, handle }
        })
    }

    /// Waits for the next task to end and returns its result; `None` if there is no task whose result could come.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let state = self.shared.state.lock().unwrap();
        let waits = |state: &mut State<T>| state.finished.is_empty() && state.outstanding > 0;
        let mut state = self.shared.changed.wait_while(state, waits).unwrap();
        let next = state.next();
        self.tell_if_nothing_will_come(&state);
        next
    }

    /// The next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.shared.state.lock().unwrap();
        let next = state.next();
        self.tell_if_nothing_will_come(&state);
        next
    }

    fn tell_if_nothing_will_come(&self, state: &State<T>) {
        if state.outstanding == 0 {
            self.shared.changed.notify_all();
        }
    }
}
