//! Two objects without a lock: a slot through which one thread hands a value to another, and two flags that
//! two threads raise and check.
//!
//! This is the only file to edit. `cargo test -p ex11-hand-over` checks your answer.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put a value in, and any thread may take the value out.
pub struct Slot<T> {
    /// Two threads must never use this memory at the same time. `self.value.with(|place| …)` gives access
    /// without any check.
    value: Plain<Option<T>>,
    // How does a thread know that it may use the value, and that no other thread will use it meanwhile?
}

impl<T> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        todo!("make an empty slot")
    }

    /// Puts a value in. If the slot already has a value, or another thread is busy with the slot, returns the
    /// given value.
    pub fn put(&self, value: T) -> Result<(), T> {
        todo!("get in, alone; leave the value; say that it is there")
    }

    /// Takes the value out, if there is one and no other thread is busy with the slot.
    pub fn take(&self) -> Option<T> {
        todo!("get in, alone; take the value; say that there is room")
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
        todo!("raise your flag, look at the other one: with which orderings?")
    }
}
