#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

struct State<T> {
    value: Option<T>,
    over: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared { state: Mutex::new(State { value: None, over: false }), changed: Condvar::new() });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

/// The promise was dropped, and no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    pub fn complete(self, value: T) {
        let mut state = self.shared.state.lock().unwrap();
        state.value = Some(value);
        state.over = true;
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        if !state.over {
            state.over = true;
            self.shared.changed.notify_all();
        }
    }
}

impl<T> Future<T> {
    pub fn get(self) -> Result<T, Abandoned> {
        let mut state = self.shared.state.lock().unwrap();
        while !state.over {
            state = self.shared.changed.wait(state).unwrap();
        }
        state.value.take().ok_or(Abandoned)
    }

    /// Never waits, so not for the lock either.
    pub fn is_done(&self) -> bool {
        match self.shared.state.try_lock() {
            Ok(state) => state.over,
            Err(_) => false,
        }
    }
}
