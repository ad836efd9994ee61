//! Wrong: take() hears with Relaxed that the value is there.
//! The learner sees: put() releases, and nothing is acquired: the taker need not see the value.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put one in, and any thread may take it out.
pub struct Slot<T> {
    /// Two threads must not be in here at the same time.
    value: Plain<Option<T>>,
    state: AtomicU8,
}

const EMPTY: u8 = 0;
/// A thread is in the plain memory.
const BUSY: u8 = 1;
const FULL: u8 = 2;

impl<T> Slot<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { value: Plain::new(None), state: AtomicU8::new(EMPTY) }
    }

    /// Puts a value in. If there is one, or another thread is busy with the slot, gives it back.
    pub fn put(&self, value: T) -> Result<(), T> {
        // Acquire: after what the thread did that took the last value.
        if self.state.compare_exchange(EMPTY, BUSY, Acquire, Relaxed).is_err() {
            return Err(value);
        }
        self.value.with(|place| *place = Some(value));
        self.state.store(FULL, Release); // for the thread that takes it
        Ok(())
    }

    /// Takes the value out, if there is one and no other thread is busy with the slot.
    pub fn take(&self) -> Option<T> {
        if self.state.compare_exchange(FULL, BUSY, Relaxed, Relaxed).is_err() {
            return None;
        }
        let value = self.value.with(Option::take);
        self.state.store(EMPTY, Release); // for the thread that puts the next one in
        value
    }
}

/// A flag for each of two threads.
pub struct TwoFlags {
    flags: [AtomicBool; 2],
}

impl TwoFlags {
    /// Makes two that are down.
    pub fn new() -> Self {
        Self { flags: [AtomicBool::new(false), AtomicBool::new(false)] }
    }

    /// Raises the flag of thread `me`, which is 0 or 1, and says then whether the other one is up.
    pub fn raise_and_look(&self, me: usize) -> bool {
        // SeqCst: the store comes before the load in an order that both threads share. Nothing less says that.
        self.flags[me].store(true, SeqCst);
        self.flags[1 - me].load(SeqCst)
    }
}
