//! A shared future: one value, and any number of threads and asynchronous tasks that wait for it.
//!
//! This is the only file to edit. `cargo test -p ex09-shared-future` checks your answer.
#![allow(unused)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

/// Makes a shared future: returns its promise and the first future.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    todo!("make the place that both ends share")
}

/// The error of a future without a value: a caller cancelled the future, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The outcome, which every waiter gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

/// The promise, with which one thread provides the value. There is only one promise.
pub struct Promise<T> {
    // What state do the promise and the futures share? The type `T` must be used somewhere:
    place: std::marker::PhantomData<T>,
}

/// A future, with which a thread or a task waits for the value. Many futures may wait for one value.
pub struct SharedFuture<T> {
    place: std::marker::PhantomData<T>,
}

impl<T> Promise<T> {
    /// Provides the value, even if no thread or task waits for it. Returns false if the outcome was decided
    /// before.
    pub fn complete(self, value: T) -> bool {
        todo!("decide the outcome, if it is open, and tell all who wait")
    }
}

// What must happen if a promise is dropped without having been completed?

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        todo!("another end on the same place")
    }
}

impl<T> SharedFuture<T> {
    /// Blocks the calling thread until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        todo!("wait until there is an outcome")
    }

    /// Cancels the future, for all waiters. Returns true if this call decided the outcome.
    pub fn cancel(&self) -> bool {
        todo!("decide the outcome, if it is open, and tell all who wait")
    }

    /// Returns true if the outcome is decided, with a value or without.
    pub fn is_done(&self) -> bool {
        todo!("look, and leave everything as it is")
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// Returns the outcome if it is decided; if not, keeps the waker and wakes it after the decision. It is
    /// enough to wake the waker of the last poll.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        todo!("look, and leave `context.waker()` if there is nothing yet")
    }
}
