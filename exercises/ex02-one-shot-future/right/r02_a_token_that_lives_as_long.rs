//! Right: the promise has the only strong reference to a token, and drops this reference under the lock. The
//! thread that holds the lock sees whether the promise is gone.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex, Weak};

struct Shared<T> {
    value: Mutex<Option<T>>,
    changed: Condvar,
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared { value: Mutex::new(None), changed: Condvar::new() });
    let token = Arc::new(());
    let pulse = Arc::downgrade(&token);
    (Promise { shared: Arc::clone(&shared), token: Some(token) }, Future { shared, pulse })
}

pub struct Promise<T> {
    shared: Arc<Shared<T>>,
    /// Only `drop` removes this strong reference.
    token: Option<Arc<()>>,
}

pub struct Future<T> {
    shared: Arc<Shared<T>>,
    /// This weak reference may be upgraded only under the lock, because the upgrade keeps the token alive for
    /// a moment.
    pulse: Weak<()>,
}

/// The error of a future whose promise was dropped: no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    pub fn complete(self, value: T) {
        *self.shared.value.lock().unwrap() = Some(value);
        self.shared.changed.notify_all();
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let value = self.shared.value.lock().unwrap();
        self.token = None;
        drop(value);
        self.shared.changed.notify_all();
    }
}

impl<T> Future<T> {
    fn promise_is_gone(&self) -> bool {
        self.pulse.upgrade().is_none()
    }

    pub fn join(self) -> Result<T, Abandoned> {
        let mut value = self.shared.value.lock().unwrap();
        while value.is_none() && !self.promise_is_gone() {
            value = self.shared.changed.wait(value).unwrap();
        }
        value.take().ok_or(Abandoned)
    }

    pub fn is_done(&self) -> bool {
        let value = self.shared.value.lock().unwrap();
        value.is_some() || self.promise_is_gone()
    }
}
