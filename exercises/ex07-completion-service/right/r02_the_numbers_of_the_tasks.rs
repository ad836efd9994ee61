//! Right: a set holds the numbers of the tasks whose results are still to come, instead of a count; those who take draw
//! from a map in the order of arrival.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet};

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

/// Submits tasks to an executor and collects their results.
pub struct CompletionService<E, T> {
    executor: E,
    place: Arc<Place<T>>,
}

struct Place<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The number of the next task.
    next: u64,
    /// Submitted, and neither refused nor ended.
    pending: BTreeSet<u64>,
    /// By the number of its arrival.
    arrived: BTreeMap<u64, Result<T, TaskError>>,
    arrivals: u64,
}

impl<T> Place<T> {
    /// One that was pending is so no more, with a result or because it was refused.
    fn settle(&self, number: u64, result: Option<Result<T, TaskError>>) {
        let mut state = self.state.lock().unwrap();
        state.pending.remove(&number);
        if let Some(result) = result {
            let arrival = state.arrivals;
            state.arrivals += 1;
            state.arrived.insert(arrival, result);
        }
        self.changed.notify_all();
    }
}

impl<E: Executor, T: Send + 'static> CompletionService<E, T> {
    /// A service that has its tasks run by this executor.
    pub fn new(executor: E) -> Self {
        let state = State { next: 0, pending: BTreeSet::new(), arrived: BTreeMap::new(), arrivals: 0 };
        Self { executor, place: Arc::new(Place { state: Mutex::new(state), changed: Condvar::new() }) }
    }

    /// Submits a task. Its result comes out of `take` or `try_take`; the canceller can call it off.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let number = {
            let mut state = self.place.state.lock().unwrap();
            let number = state.next;
            state.next += 1;
            state.pending.insert(number);
            number
        };
        let handle = self.executor.submit(task).inspect_err(|_| self.place.settle(number, None))?;
        let (canceller, place) = (handle.canceller(), Arc::clone(&self.place));
        handle.on_done(move |result| place.settle(number, Some(result)));
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let mut state = self.place.state.lock().unwrap();
        loop {
            match state.arrived.pop_first() {
                Some((_, result)) => return Some(result),
                None if state.pending.is_empty() => return None,
                None => state = self.place.changed.wait(state).unwrap(),
            }
        }
    }

    /// The next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        self.place.state.lock().unwrap().arrived.pop_first().map(|(_, result)| result)
    }
}
