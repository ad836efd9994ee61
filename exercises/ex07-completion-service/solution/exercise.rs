//! A completion service: it takes tasks, and hands out their results in the order in which the tasks end.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified when a result has come, or when no result will come.
    changed: Condvar,
}

struct State<T> {
    finished: VecDeque<Result<T, TaskError>>,
    /// Tasks whose results no thread has taken yet.
    outstanding: usize,
}

impl<T> State<T> {
    /// Takes the next result, if it is there. The thread that takes the last result must wake the threads
    /// that wait for more.
    fn next(&mut self) -> Option<Result<T, TaskError>> {
        let result = self.finished.pop_front()?;
        self.outstanding -= 1;
        Some(result)
    }
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        let state = Mutex::new(State { finished: VecDeque::new(), outstanding: 0 });
        Self { executor, shared: Arc::new(Shared { state, changed: Condvar::new() }) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let handle = self.executor.submit(task)?;
        let canceller = handle.canceller();
        // The task may have ended already, so it is counted before any thread can see its result.
        self.shared.state.lock().unwrap().outstanding += 1;
        let shared = Arc::clone(&self.shared);
        handle.on_done(move |result| {
            shared.state.lock().unwrap().finished.push_back(result);
            shared.changed.notify_one();
        });
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let state = self.shared.state.lock().unwrap();
        let waits = |state: &mut State<T>| state.finished.is_empty() && state.outstanding > 0;
        let mut state = self.shared.changed.wait_while(state, waits).unwrap();
        let next = state.next();
        self.tell_if_nothing_will_come(&state);
        next
    }

    /// Takes the next result if it is there already. Never waits.
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
