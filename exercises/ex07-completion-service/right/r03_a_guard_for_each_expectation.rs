//! Right: each expected result has a guard, which moves into the callback. The callback turns its guard into a
//! result; if the guard is dropped in any other way, for example by a refusal, the expected result is withdrawn.
#![allow(unused)]

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Canceller, Executor, RejectedSubmission, TaskError};

use crate::sync::{Arc, Condvar, Mutex};

struct State<T> {
    ended: VecDeque<Result<T, TaskError>>,
    /// The number of guards that have neither delivered a result nor been withdrawn.
    expected: usize,
}

struct Place<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// A guard for one result that can still come.
struct Expected<T>(Option<Arc<Place<T>>>);

impl<T> Expected<T> {
    fn new(place: &Arc<Place<T>>) -> Self {
        place.state.lock().unwrap().expected += 1;
        Self(Some(Arc::clone(place)))
    }

    fn deliver(mut self, result: Result<T, TaskError>) {
        let place = self.0.take().expect("it delivers once");
        let mut state = place.state.lock().unwrap();
        state.ended.push_back(result);
        state.expected -= 1;
        // If this was the last expected result, the takers that do not get this result must be woken as well.
        place.changed.notify_all();
    }
}

impl<T> Drop for Expected<T> {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            place.state.lock().unwrap().expected -= 1;
            place.changed.notify_all();
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
        let state = Mutex::new(State { ended: VecDeque::new(), expected: 0 });
        Self { executor, place: Arc::new(Place { state, changed: Condvar::new() }) }
    }

    /// Submits a task. The result comes out of `take` or `try_take`; the canceller can cancel the task.
    pub fn submit(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        let expected = Expected::new(&self.place);
        let handle = self.executor.submit(task)?;
        let canceller = handle.canceller();
        handle.on_done(move |result| expected.deliver(result));
        Ok(canceller)
    }

    /// Waits for the next task to end and returns its result; `None` once every result has been taken.
    pub fn take(&self) -> Option<Result<T, TaskError>> {
        let state = self.place.state.lock().unwrap();
        let mut state = self
            .place
            .changed
            .wait_while(state, |state| state.ended.is_empty() && state.expected > 0)
            .unwrap();
        state.ended.pop_front()
    }

    /// Takes the next result if it is there already. Never waits.
    pub fn try_take(&self) -> Option<Result<T, TaskError>> {
        self.place.state.lock().unwrap().ended.pop_front()
    }
}
