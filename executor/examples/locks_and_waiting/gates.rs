//! A latch and a semaphore, each made of a lock, a condition variable and a number.

use std::sync::{Condvar, Mutex};

// ANCHOR: latch
/// A latch: it opens when `count` events have happened, and then stays open.
pub struct Latch {
    count: Mutex<usize>,
    open: Condvar,
}

impl Latch {
    pub fn new(count: usize) -> Self {
        Self { count: Mutex::new(count), open: Condvar::new() }
    }

    pub fn count_down(&self) {
        let mut count = self.count.lock().unwrap();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.open.notify_all();
        }
    }

    pub fn wait(&self) {
        let mut count = self.count.lock().unwrap();
        while *count > 0 {
            count = self.open.wait(count).unwrap();
        }
    }
}
// ANCHOR_END: latch

// ANCHOR: semaphore
/// A semaphore: it holds a number of permits. A thread that finds no permit waits until another thread
/// returns a permit.
pub struct Semaphore {
    permits: Mutex<usize>,
    given_back: Condvar,
}

impl Semaphore {
    pub fn new(permits: usize) -> Self {
        Self { permits: Mutex::new(permits), given_back: Condvar::new() }
    }

    pub fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap();
        while *permits == 0 {
            permits = self.given_back.wait(permits).unwrap();
        }
        *permits -= 1;
    }

    pub fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.given_back.notify_one();
    }
}
// ANCHOR_END: semaphore
