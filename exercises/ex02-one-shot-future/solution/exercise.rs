//! A one-shot future: a place for one value, which one thread provides and another thread waits for.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Makes a one-shot future: returns its promise and its future.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::Pending), decided: Condvar::new() });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified when the state is no longer pending.
    decided: Condvar,
}

enum State<T> {
    Pending,
    Completed(T),
    Abandoned,
}

/// The promise, with which one thread provides the value.
pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

/// The future, with which another thread waits for the value.
pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

/// The error of a future whose promise was dropped: no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    /// Provides the value and wakes up the thread that waits for it.
    pub fn complete(self, value: T) {
        *self.shared.state.lock().unwrap() = State::Completed(value);
        self.shared.decided.notify_one();
        // `drop` runs now, and finds that there is a value.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        if matches!(*state, State::Pending) {
            *state = State::Abandoned;
            self.shared.decided.notify_one();
        }
    }
}

impl<T> Future<T> {
    /// Waits for the value and returns it. Returns an error when it is certain that no value will come.
    pub fn join(self) -> Result<T, Abandoned> {
        let mut state = self.shared.state.lock().unwrap();
        while matches!(*state, State::Pending) {
            state = self.shared.decided.wait(state).unwrap();
        }
        match std::mem::replace(&mut *state, State::Abandoned) {
            State::Completed(value) => Ok(value),
            State::Pending | State::Abandoned => Err(Abandoned),
        }
    }

    /// Returns true if `join` would return at once. `is_done` never waits for the value, and does not take
    /// the value out.
    pub fn is_done(&self) -> bool {
        !matches!(*self.shared.state.lock().unwrap(), State::Pending)
    }
}
