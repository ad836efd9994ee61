//! Right: this answer uses only notify_one. When a thread leaves take() or try_take(), it wakes the next
//! waiter if that waiter has a reason to wake. So each waiter wakes the next waiter.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

struct State<T> {
    results: VecDeque<Result<T, TaskError>>,
    outstanding: usize,
}

impl<T> State<T> {
    fn nobody_need_wait(&self) -> bool {
        !self.results.is_empty() || self.outstanding == 0
    }
}

struct Place<T> {
    state: Mutex<State<T>>,
    next: Condvar,
}

impl<T> Place<T> {
    /// Changes the state, and wakes one waiter if the waiter has a reason to wake.
    fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let mut state = self.state.lock().unwrap();
        let answer = change(&mut state);
        self.pass_on(&state);
        answer
    }

    fn pass_on(&self, state: &State<T>) {
        if state.nobody_need_wait() {
            self.next.notify_one();
        }
    }
}

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    place: Arc<Place<T>>,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// Makes a service whose tasks run on this executor.
    pub fn new(executor: E) -> Self {
        let state = Mutex::new(State { results: VecDeque::new(), outstanding: 0 });
        Self { executor, place: Arc::new(Place { state, next: Condvar::new() }) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.place.change(|state| state.outstanding += 1);
        let handle = self.executor.submit(task).inspect_err(|_| {
            self.place.change(|state| state.outstanding -= 1);
        })?;
        let canceller = handle.canceller();
        let place = Arc::clone(&self.place);
        handle.on_done(move |result| place.change(|state| state.results.push_back(result)));
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.place.state.lock().unwrap();
        while !state.nobody_need_wait() {
            state = self.place.next.wait(state).unwrap();
        }
        let result = state.results.pop_front();
        if result.is_some() {
            state.outstanding -= 1;
        }
        self.place.pass_on(&state);
        result
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        self.place.change(|state| {
            let result = state.results.pop_front()?;
            state.outstanding -= 1;
            Some(result)
        })
    }
}
