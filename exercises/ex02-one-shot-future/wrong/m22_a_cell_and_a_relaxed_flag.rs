#![allow(unused)]

use std::cell::UnsafeCell;

use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        value: UnsafeCell::new(None),
        state: AtomicU8::new(PENDING),
        looking: Mutex::new(()),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    value: UnsafeCell<Option<T>>,
    state: AtomicU8,
    looking: Mutex<()>,
    /// The state is no longer pending.
    decided: Condvar,
}

unsafe impl<T: Send> Send for Shared<T> {}
unsafe impl<T: Send> Sync for Shared<T> {}

const PENDING: u8 = 0;
const COMPLETED: u8 = 1;
const ABANDONED: u8 = 2;

impl<T> Shared<T> {
    fn decide(&self, state: u8) {
        self.state.store(state, Ordering::Relaxed);
        let _looking = self.looking.lock().unwrap();
        self.decided.notify_one();
    }
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
        unsafe { *self.shared.value.get() = Some(value) };
        self.shared.decide(COMPLETED);
        // `drop` runs now, and finds the promise kept.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if self.shared.state.load(Ordering::Relaxed) == PENDING {
            self.shared.decide(ABANDONED);
        }
    }
}

impl<T> Future<T> {
    /// Waits until the value is there and returns it; or until it is clear that it will never be.
    pub fn get(self) -> Result<T, Abandoned> {
        if !self.is_done() {
            let mut looking = self.shared.looking.lock().unwrap();
            while !self.is_done() {
                looking = self.shared.decided.wait(looking).unwrap();
            }
        }
        let value = unsafe { (*self.shared.value.get()).take() };
        value.ok_or(Abandoned)
    }

    /// Whether `get` would return at once. Never waits for the value, and does not touch it.
    pub fn is_done(&self) -> bool {
        self.shared.state.load(Ordering::Relaxed) != PENDING
    }
}
