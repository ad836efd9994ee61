//! Right: a number counts the steps of the slot, four for each value; this number modulo four is the state of
//! the slot.
#![allow(unused)]

use crate::sync::Plain;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// A place for one value. Any thread may put a value in, and any thread may take the value out.
pub struct Slot<T> {
    /// Two threads must never use this memory at the same time.
    value: Plain<Option<T>>,
    steps: crate::sync::atomic::AtomicUsize,
}

impl<T> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self { value: Plain::new(None), steps: Default::default() }
    }

    /// Adds one step if the slot is at step `here`, which is 0 to 3. Returns the number before the step.
    fn goes_in(&self, here: usize) -> Option<usize> {
        let steps = self.steps.load(Relaxed);
        let may = steps % 4 == here && self.steps.compare_exchange(steps, steps + 1, Acquire, Relaxed).is_ok();
        may.then_some(steps)
    }

    /// Puts a value in. If the slot already has a value, or another thread is busy with the slot, returns the
    /// given value.
    pub fn put(&self, value: T) -> Result<(), T> {
        let Some(steps) = self.goes_in(0) else { return Err(value) };
        self.value.with(|place| *place = Some(value));
        self.steps.store(steps + 2, Release);
        Ok(())
    }

    /// Takes the value out, if there is one and no other thread is busy with the slot.
    pub fn take(&self) -> Option<T> {
        let steps = self.goes_in(2)?;
        let value = self.value.with(Option::take);
        self.steps.store(steps + 2, Release);
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
