//! Wrong: is_done() has an atomic of its own, which is set before the value is in its place. get() does not look at it, so it
//! returns the right value; but it has to wait, and is_done() had said that it need not.
//! The learner sees: is_done() was true, and then get() had to wait.
#![allow(unused)]

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Pending),
        done: AtomicBool::new(false),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    done: AtomicBool,
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
        self.shared.done.store(true, Ordering::SeqCst);
        *self.shared.state.lock().unwrap() = State::Completed(value);
        self.shared.decided.notify_one();
        // `drop` runs now, and finds the promise kept.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        if matches!(*state, State::Pending) {
            self.shared.done.store(true, Ordering::SeqCst);
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
        self.shared.done.load(Ordering::SeqCst)
    }
}
