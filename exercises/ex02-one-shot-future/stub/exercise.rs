//! A one-shot future: a place for one value, which one thread provides and another thread waits for.
//!
//! This is the only file to edit. `cargo test -p ex02-one-shot-future` checks your answer.
#![allow(unused)]

use crate::sync::{Arc, Condvar, Mutex};

/// Makes a one-shot future: returns its promise and its future.
pub fn promise<T>() -> (Promise<T>, Future<T>) {
    todo!("make the place that both ends share")
}

/// The promise, with which one thread provides the value.
pub struct Promise<T> {
    // What state do the promise and the future share? The type `T` must be used somewhere:
    place: std::marker::PhantomData<T>,
}

/// The future, with which another thread waits for the value.
pub struct Future<T> {
    place: std::marker::PhantomData<T>,
}

/// The error of a future whose promise was dropped: no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    /// Provides the value and wakes up the thread that waits for it. The method never waits, and also works
    /// if the future has been dropped.
    ///
    /// `complete` takes the promise by value, so a promise can be completed only once.
    pub fn complete(self, value: T) {
        todo!("put the value into its place and wake up the waiter")
    }
}

// What must happen if a promise is dropped without having been completed?

impl<T> Future<T> {
    /// Waits for the value and returns it. Returns an error when it is certain that no value will come.
    pub fn join(self) -> Result<T, Abandoned> {
        todo!("wait until there is something to return")
    }

    /// Returns true if `join` would return at once. `is_done` never waits for the value, and does not take
    /// the value out.
    pub fn is_done(&self) -> bool {
        todo!("look, and leave everything as it is")
    }
}
