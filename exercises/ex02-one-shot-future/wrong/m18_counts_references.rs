#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared { value: Mutex::new(None), decided: Condvar::new() });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    value: Mutex<Option<T>>,
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
        // `drop` runs now, and notifies.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let _value = self.shared.value.lock().unwrap(); // so that get() is not between its look and its wait
        self.shared.decided.notify_one();
    }
}

impl<T> Future<T> {
    /// Waits until the value is there and returns it; or until it is clear that it will never be.
    pub fn get(self) -> Result<T, Abandoned> {
        let mut value = self.shared.value.lock().unwrap();
        while value.is_none() && Arc::strong_count(&self.shared) == 2 {
            value = self.shared.decided.wait(value).unwrap();
        }
        value.take().ok_or(Abandoned)
    }

    /// Whether `get` would return at once. Never waits for the value, and does not touch it.
    pub fn is_done(&self) -> bool {
        let value = self.shared.value.lock().unwrap();
        value.is_some() || Arc::strong_count(&self.shared) == 1
    }
}
