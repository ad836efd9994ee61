//! Right: three counters that only grow, instead of one that goes up and down, and a queue of two stacks.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

struct State<T> {
    submitted: u64,
    refused: u64,
    taken: u64,
    /// The latest on top.
    arrived: Vec<Result<T, TaskError>>,
    /// The earliest on top; all are earlier than those in `arrived`.
    ready: Vec<Result<T, TaskError>>,
}

impl<T> State<T> {
    fn settled(&self) -> bool {
        self.submitted == self.refused + self.taken
    }

    fn next(&mut self) -> Option<Result<T, TaskError>> {
        if self.ready.is_empty() {
            self.ready.extend(self.arrived.drain(..).rev());
        }
        let next = self.ready.pop()?;
        self.taken += 1;
        Some(next)
    }
}

struct Place<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
}

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    place: Arc<Place<T>>,
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// A service that has its tasks run by this executor.
    pub fn new(executor: E) -> Self {
        let state = State { submitted: 0, refused: 0, taken: 0, arrived: Vec::new(), ready: Vec::new() };
        let place = Place { state: Mutex::new(state), arrived: Condvar::new() };
        Self { executor, place: Arc::new(place) }
    }

    /// Submits a task. Its result comes out of `take` or `try_take`; the canceller can call it off.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.place.state.lock().unwrap().submitted += 1;
        match self.executor.submit(task) {
            Ok(handle) => {
                let canceller = handle.canceller();
                let place = Arc::downgrade(&self.place); // nobody takes from a service that is gone
                handle.on_done(move |result| {
                    let Some(place) = place.upgrade() else { return };
                    place.state.lock().unwrap().arrived.push(result);
                    place.arrived.notify_one();
                });
                Ok(canceller)
            }
            Err(refused) => {
                let mut state = self.place.state.lock().unwrap();
                state.refused += 1;
                self.tell(&state);
                drop(state);
                Err(refused)
            }
        }
    }

    fn tell(&self, state: &State<T>) {
        if state.settled() {
            self.place.arrived.notify_all();
        }
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.place.state.lock().unwrap();
        loop {
            if let Some(result) = state.next() {
                self.tell(&state);
                return Some(result);
            }
            if state.settled() {
                return None;
            }
            state = self.place.arrived.wait(state).unwrap();
        }
    }

    /// The next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.place.state.lock().unwrap();
        let result = state.next()?;
        self.tell(&state);
        Some(result)
    }
}
