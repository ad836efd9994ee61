//! Right: the atomics are Relaxed, and two fences synchronise the threads: a Release fence before the store,
//! and an Acquire fence after the compare_exchange.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put a value in, and any thread may take the value out.
pub struct Slot<T> {
    /// Two threads must never use this memory at the same time.
    value: Plain<Option<T>>,
    state: AtomicU8,
}

const EMPTY: u8 = 0;
/// A thread is using the plain memory.
const BUSY: u8 = 1;
const FULL: u8 = 2;

impl<T> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self { value: Plain::new(None), state: AtomicU8::new(EMPTY) }
    }

    /// Puts a value in. If the slot already has a value, or another thread is busy with the slot, returns the
    /// given value.
    pub fn put(&self, value: T) -> Result<(), T> {
        if self.state.compare_exchange(EMPTY, BUSY, Relaxed, Relaxed).is_err() {
            return Err(value);
        }
        fence(Acquire);
        self.value.with(|place| *place = Some(value));
        fence(Release);
        self.state.store(FULL, Relaxed);
        Ok(())
    }

    /// Takes the value out, if there is one and no other thread is busy with the slot.
    pub fn take(&self) -> Option<T> {
        if self.state.compare_exchange(FULL, BUSY, Relaxed, Relaxed).is_err() {
            return None;
        }
        fence(Acquire);
        let value = self.value.with(Option::take);
        fence(Release);
        self.state.store(EMPTY, Relaxed);
        value
    }
}

/// Two flags, one for each of two threads.
pub struct TwoFlags {
    flags: [AtomicBool; 2],
}

impl TwoFlags {
    /// Makes two flags that are down.
    pub fn new() -> Self {
        Self { flags: [AtomicBool::new(false), AtomicBool::new(false)] }
    }

    /// Raises the flag of thread `me`, which is 0 or 1, and then returns whether the other flag is up.
    pub fn raise_and_look(&self, me: usize) -> bool {
        self.flags[me].store(true, Relaxed);
        fence(SeqCst); // between the store and the load
        self.flags[1 - me].load(Relaxed)
    }
}
