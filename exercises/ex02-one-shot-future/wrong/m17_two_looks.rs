#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State { value: None, promise_gone: false }),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// There is a value, or the promise is gone.
    decided: Condvar,
}

struct State<T> {
    value: Option<T>,
    promise_gone: bool,
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
        self.shared.state.lock().unwrap().value = Some(value);
        self.shared.decided.notify_one();
        // `drop` runs now. No harm in that: there is a value.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().promise_gone = true;
        self.shared.decided.notify_one();
    }
}

impl<T> Future<T> {
    /// Waits until the value is there and returns it; or until it is clear that it will never be.
    pub fn get(self) -> Result<T, Abandoned> {
        loop {
            if let Some(value) = self.shared.state.lock().unwrap().value.take() {
                return Ok(value);
            }
            let mut state = self.shared.state.lock().unwrap();
            if state.promise_gone {
                return Err(Abandoned);
            }
            while state.value.is_none() && !state.promise_gone {
                state = self.shared.decided.wait(state).unwrap();
            }
        }
    }

    /// Whether `get` would return at once. Never waits for the value, and does not touch it.
    pub fn is_done(&self) -> bool {
        let state = self.shared.state.lock().unwrap();
        state.value.is_some() || state.promise_gone
    }
}
