//! Right: an atomic says how things stand, and is_done() reads only that. It changes under the lock, after the
//! value is in its place.
#![allow(unused)]

use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};

const OPEN: u8 = 0;
const KEPT: u8 = 1;
const BROKEN: u8 = 2;

struct Shared<T> {
    /// Goes from `OPEN` to one of the others, once, under the lock of `value`.
    phase: AtomicU8,
    value: Mutex<Option<T>>,
    decided: Condvar,
}

impl<T> Shared<T> {
    fn decide(&self, value: MutexGuard<'_, Option<T>>, phase: u8) {
        self.phase.store(phase, Ordering::Release);
        drop(value);
        self.decided.notify_all();
    }
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let shared =
        Arc::new(Shared { phase: AtomicU8::new(OPEN), value: Mutex::new(None), decided: Condvar::new() });
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
        let mut place = self.shared.value.lock().unwrap();
        *place = Some(value);
        self.shared.decide(place, KEPT);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        // Only this promise ever decides, so nothing changes between this look and what follows.
        if self.shared.phase.load(Ordering::Acquire) == OPEN {
            let place = self.shared.value.lock().unwrap();
            self.shared.decide(place, BROKEN);
        }
    }
}

impl<T> Future<T> {
    pub fn get(self) -> Result<T, Abandoned> {
        let mut place = self.shared.value.lock().unwrap();
        loop {
            match self.shared.phase.load(Ordering::Acquire) {
                OPEN => place = self.shared.decided.wait(place).unwrap(),
                KEPT => return Ok(place.take().expect("the value was there before the phase changed")),
                _ => return Err(Abandoned),
            }
        }
    }

    pub fn is_done(&self) -> bool {
        self.shared.phase.load(Ordering::Acquire) != OPEN
    }
}
