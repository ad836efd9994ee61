//! Right: a value, and a gate that knows nothing of it. complete() only leaves the value. The drop of the promise
//! opens the gate, whether the promise was kept or not.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Closed, and one day open for ever.
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }

    fn is_open(&self) -> bool {
        *self.open.lock().unwrap()
    }
}

struct Shared<T> {
    value: Mutex<Option<T>>,
    gate: Gate,
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let gate = Gate { open: Mutex::new(false), opened: Condvar::new() };
    let shared = Arc::new(Shared { value: Mutex::new(None), gate });
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
        *self.shared.value.lock().unwrap() = Some(value);
        // And here it is dropped.
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.shared.gate.open();
    }
}

impl<T> Future<T> {
    pub fn get(self) -> Result<T, Abandoned> {
        self.shared.gate.pass();
        let value = self.shared.value.lock().unwrap().take();
        value.ok_or(Abandoned)
    }

    pub fn is_done(&self) -> bool {
        self.shared.gate.is_open()
    }
}
