//! Right: the plain memory has a lock that a thread tries again and again, with fences for its orderings. And the flags
//! are two bits of one atomic.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put one in, and any thread may take it out.
pub struct Slot<T> {
    /// Two threads must not be in here at the same time.
    value: Plain<Option<T>>,
    locked: AtomicBool,
}

impl<T> Slot<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { value: Plain::new(None), locked: AtomicBool::new(false) }
    }

    /// Does something with the place, alone.
    fn locked<R>(&self, f: impl FnOnce(&mut Option<T>) -> R) -> R {
        while self.locked.swap(true, Relaxed) {
            crate::sync::thread::yield_now();
        }
        fence(Acquire);
        let result = self.value.with(f);
        fence(Release);
        self.locked.store(false, Relaxed);
        result
    }

    /// Puts a value in. If there is one, gives it back.
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

/// A flag for each of two threads.
pub struct TwoFlags {
    flags: AtomicU8,
}

impl TwoFlags {
    /// Makes two that are down.
    pub fn new() -> Self {
        Self { flags: AtomicU8::new(0) }
    }

    /// Raises the flag of thread `me`, which is 0 or 1, and says then whether the other one is up.
    pub fn raise_and_look(&self, me: usize) -> bool {
        let before = self.flags.fetch_or(1 << me, Relaxed);
        before & (1 << (1 - me)) != 0
    }
}
