//! Wrong: is_done() takes the state out, looks at it, and puts it back, with the lock free in between. What comes at that moment
//! is overwritten with what was there before.
//! The learner sees: get() waits for ever for a value that was provided, after somebody only looked.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State::Pending), decided: Condvar::new() });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// The state is no longer pending.
    decided: Condvar,
}

enum State<T> {
    Pending,
    Completed(T),
    Abandoned,
}

/// The end that provides the value.
pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

/// The end that waits for it.
pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

/// The promise was dropped, and no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    /// Provides the value and wakes up whoever waits for it.
    pub fn complete(self, value: T) {
        *self.shared.state.lock().unwrap() = State::Completed(value);
        self.shared.decided.notify_one();
        // `drop` runs now, and finds the promise kept.
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
    /// Waits until the value is there and returns it; or until it is clear that it will never be.
    pub fn get(self) -> Result<T, Abandoned> {
        let mut state = self.shared.state.lock().unwrap();
        while matches!(*state, State::Pending) {
            state = self.shared.decided.wait(state).unwrap();
        }
        match std::mem::replace(&mut *state, State::Abandoned) {
            State::Completed(value) => Ok(value),
            State::Pending | State::Abandoned => Err(Abandoned),
        }
    }

    /// Whether `get` would return at once. Never waits for the value, and does not touch it.
    pub fn is_done(&self) -> bool {
        let state = std::mem::replace(&mut *self.shared.state.lock().unwrap(), State::Pending);
        let done = !matches!(state, State::Pending);
        *self.shared.state.lock().unwrap() = state;
        done
    }
}
