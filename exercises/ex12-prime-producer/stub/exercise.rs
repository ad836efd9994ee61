//! Two tasks that compute primes until they are cancelled: one task checks a flag; the other task may wait in
//! a queue, and cancelling the queue ends this wait.
//!
//! This is the only file to edit. `cargo test -p ex12-prime-producer` checks your answer.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Collects primes until the generator is cancelled, and never waits for another thread.
pub struct PrimeGenerator {
    // What must the generator store, so that it knows the primes that it has found and whether it was asked
    // to end?
}

impl PrimeGenerator {
    /// Makes a generator that has found no prime.
    pub fn new() -> Self {
        todo!("make a generator that has found no prime")
    }

    /// Stores the primes one by one, until no primes are left or the generator is cancelled. `next()`
    /// computes a prime, and may take long.
    pub fn run(&self, primes: impl Iterator<Item = u64>) {
        todo!("keep each prime, and look whether to go on")
    }

    /// Asks run() to end. A request to end cannot be taken back.
    pub fn cancel(&self) {
        todo!("ask run() to end")
    }

    /// Returns a copy of the primes that have been found so far.
    pub fn found(&self) -> Vec<u64> {
        todo!("copy what has been found so far")
    }
}

/// A cancellable queue with room for a limited number of items.
pub struct Queue<T> {
    // What must waiting threads learn, apart from the items? The type `T` must be used somewhere:
    items: std::marker::PhantomData<T>,
}

impl<T> Queue<T> {
    /// Makes an empty queue with room for `room` items. With `usize::MAX`, the queue has no bound.
    pub fn new(room: usize) -> Self {
        todo!("make an empty queue")
    }

    /// Puts an item into the queue. The call waits while there is no room. If the queue is cancelled, before
    /// the wait or during it, the call returns the item as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        todo!("wait for room or for the cancel; then put the item, or give it back")
    }

    /// Takes the oldest item. The call waits while there is no item. The call returns `None` if there is no
    /// item and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        todo!("wait for an item or for the cancel; then take the item, if there is one")
    }

    /// Cancels the queue: from then on, no item can be put in, and no thread waits. Items that are already in
    /// the queue can still be taken.
    pub fn cancel(&self) {
        todo!("make sure that every waiting thread hears of it, and every thread that comes later")
    }
}

/// Puts primes into a queue until the producer is cancelled.
pub struct PrimeProducer {
    queue: Arc<Queue<u64>>,
}

impl PrimeProducer {
    /// Makes a producer that puts its primes into this queue.
    pub fn new(queue: Arc<Queue<u64>>) -> Self {
        Self { queue }
    }

    /// Puts the primes into the queue one by one, until no primes are left or the producer is cancelled. The
    /// method returns the prime that could not be put, if there is one.
    pub fn run(&self, primes: impl Iterator<Item = u64>) -> Option<u64> {
        todo!("put each prime; end when one comes back")
    }

    /// Cancels the queue, so that run() ends even if it is waiting.
    pub fn cancel(&self) {
        todo!("reach run() wherever it is")
    }
}
