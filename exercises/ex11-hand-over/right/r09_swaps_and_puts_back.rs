//! Right: each call swaps BUSY into the state of the slot, and puts the old state back if the call cannot use
//! that state. Until a call puts the old state back, other calls find the slot busy; the exercise allows
//! this.
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
        match self.state.swap(BUSY, Acquire) {
            EMPTY => {}
            FULL => {
                self.state.store(FULL, Release); // no other thread changes a busy slot
                return Err(value);
            }
            _ => return Err(value), // the busy thread stores the next state
        }
        self.value.with(|place| *place = Some(value));
        self.state.store(FULL, Release); // for the thread that takes the value
        Ok(())
    }

    /// Takes the value out, if there is one and no other thread is busy with the slot.
    pub fn take(&self) -> Option<T> {
        match self.state.swap(BUSY, Acquire) {
            FULL => {}
            EMPTY => {
                self.state.store(EMPTY, Release);
                return None;
            }
            _ => return None,
        }
        let value = self.value.with(Option::take);
        self.state.store(EMPTY, Release); // for the thread that puts the next value in
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
        // SeqCst: the store comes before the load in an order that both threads share. No weaker ordering
        // guarantees this order.
        self.flags[me].store(true, SeqCst);
        self.flags[1 - me].load(SeqCst)
    }
}
