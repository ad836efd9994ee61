#![allow(unused)]

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        value: Mutex::new(None),
        promise_gone: AtomicBool::new(false),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    value: Mutex<Option<T>>,
    promise_gone: AtomicBool,
    /// There is a value, or the promise is gone.
    decided: Condvar,
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
        *self.shared.value.lock().unwrap() = Some(value);
        self.shared.decided.notify_one();
        // `drop` runs now. No harm in that: there is a value.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.shared.promise_gone.store(true, Ordering::SeqCst);
        self.shared.decided.notify_one();
    }
}

impl<T> Future<T> {
    /// Waits until the value is there and returns it; or until it is clear that it will never be.
    pub fn get(self) -> Result<T, Abandoned> {
        let mut value = self.shared.value.lock().unwrap();
        loop {
            let promise_gone = self.shared.promise_gone.load(Ordering::SeqCst); // before the look for its value
            match value.take() {
                Some(value) => return Ok(value),
                None if promise_gone => return Err(Abandoned),
                None => value = self.shared.decided.wait(value).unwrap(),
            }
        }
    }

    /// Whether `get` would return at once. Never waits for the value, and does not touch it.
    pub fn is_done(&self) -> bool {
        self.shared.promise_gone.load(Ordering::SeqCst) || self.shared.value.lock().unwrap().is_some()
    }
}
