
#![allow(unused)]

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        value: Mutex::new(None),
        done: AtomicBool::new(false),
        waiting: Mutex::new(()),
        decided: Condvar::new(),
    });
    (Promise { shared: Arc::clone(&shared) }, Future { shared })
}

struct Shared<T> {
    value: Mutex<Option<T>>,
    done: AtomicBool,
    waiting: Mutex<()>,
    decided: Condvar,
}

pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

pub struct Future<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    pub fn complete(self, value: T) {
        *self.shared.value.lock().unwrap() = Some(value);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::SeqCst);
        self.shared.decided.notify_one();
    }
}

impl<T> Future<T> {
    pub fn get(self) -> Result<T, Abandoned> {
        let mut waiting = self.shared.waiting.lock().unwrap();
        while !self.shared.done.load(Ordering::SeqCst) {
            waiting = self.shared.decided.wait(waiting).unwrap();
        }
        self.shared.value.lock().unwrap().take().ok_or(Abandoned)
    }

    pub fn is_done(&self) -> bool {
        self.shared.done.load(Ordering::SeqCst)
    }
}
