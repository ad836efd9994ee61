//! Wrong: The queue is a sync_channel of std, and cancel() drops its receiver, which ends a blocked send().
//! The learner sees: what had been put is lost; and a take() that waits keeps the lock that cancel() needs.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Collects primes until it is cancelled, and never waits for another thread.
pub struct PrimeGenerator {
    found: Mutex<Vec<u64>>,
    cancelled: AtomicBool,
}

impl PrimeGenerator {
    /// Makes one that has found no prime.
    pub fn new() -> Self {
        Self { found: Mutex::new(Vec::new()), cancelled: AtomicBool::new(false) }
    }

    /// Keeps one prime after the other, until there are no more or it is cancelled. `next()` computes a prime, and may take
    /// long.
    pub fn run(&self, primes: impl Iterator<Item = u64>) {
        for prime in primes {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.found.lock().unwrap().push(prime);
        }
    }

    /// Asks run() to end. It cannot be taken back.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// A copy of what has been found so far.
    pub fn found(&self) -> Vec<u64> {
        self.found.lock().unwrap().clone()
    }
}

/// A queue with room for so many items, and with an end.
pub struct Queue<T> {
    sender: crate::sync::mpsc::SyncSender<T>,
    receiver: Mutex<Option<crate::sync::mpsc::Receiver<T>>>,
}

impl<T> Queue<T> {
    /// Makes an empty one with room for `room` items.
    pub fn new(room: usize) -> Self {
        let (sender, receiver) = crate::sync::mpsc::sync_channel(room);
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }

    /// Puts an item into the queue. Waits while there is no room. If the queue is cancelled, before the wait or during it, the
    /// item comes back as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        self.sender.send(item).map_err(|refused| refused.0)
    }

    /// Takes the oldest item. Waits while there is none. `None` if there is none and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        self.receiver.lock().unwrap().as_ref()?.recv().ok()
    }

    /// From now on no item is put and no thread waits. What was put before can still be taken. It cannot be taken back.
    pub fn cancel(&self) {
        *self.receiver.lock().unwrap() = None;
    }
}

/// Puts primes into a queue until it is cancelled.
pub struct PrimeProducer {
    queue: Arc<Queue<u64>>,
}

impl PrimeProducer {
    /// Makes one that puts its primes into this queue.
    pub fn new(queue: Arc<Queue<u64>>) -> Self {
        Self { queue }
    }

    /// Puts one prime after the other, until there are no more or it is cancelled. Returns the prime that it could not put, if
    /// there is one.
    pub fn run(&self, mut primes: impl Iterator<Item = u64>) -> Option<u64> {
        primes.find_map(|prime| self.queue.put(prime).err())
    }

    /// Asks run() to end, also while it waits: cancels the queue.
    pub fn cancel(&self) {
        self.queue.cancel();
    }
}
