//! Right: one atomic is the lock of the plain memory; a thread swaps the atomic again and again until the
//! swap shows that the lock was free. The flags are two bits of one atomic, because all changes of one atomic
//! have a single order, whatever memory ordering they use.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put a value in, and any thread may take the value out.
pub struct Slot<T> {
    /// Two threads must never use this memory at the same time.
    value: Plain<Option<T>>,
    locked: AtomicBool,
}

impl<T> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self { value: Plain::new(None), locked: AtomicBool::new(false) }
    }

    /// Calls the function with the plain memory, under the lock.
    fn locked<R>(&self, f: impl FnOnce(&mut Option<T>) -> R) -> R {
        while self.locked.swap(true, Acquire) {
            crate::sync::hint::spin_loop();
        }
        let result = self.value.with(f);
        self.locked.store(false, Release);
        result
    }

    /// Puts a value in. If the slot already has a value, returns the given value.
    pub fn put(&self, value: T) -> Result<(), T> {
        self.locked(|place| match place {
            Some(_) => Err(value),
            None => {
                *place = Some(value);
                Ok(())
            }
        })
    }

    /// Takes the value out, if there is one.
    pub fn take(&self) -> Option<T> {
        self.locked(Option::take)
    }
}

/// Two flags, one for each of two threads.
pub struct TwoFlags {
    flags: AtomicU8,
}

impl TwoFlags {
    /// Makes two flags that are down.
    pub fn new() -> Self {
        Self { flags: AtomicU8::new(0) }
    }

    /// Raises the flag of thread `me`, which is 0 or 1, and then returns whether the other flag is up.
    pub fn raise_and_look(&self, me: usize) -> bool {
        let before = self.flags.fetch_or(1 << me, Relaxed);
        before & (1 << (1 - me)) != 0
    }
}
