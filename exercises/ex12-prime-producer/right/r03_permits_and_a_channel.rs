//! Right: the number of permits is the number of free places, and an unbounded channel holds the items.
//! cancel() drops the only sender, so the receiver returns the remaining items, and then reports the end. An
//! RwLock guards the generator's list.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex, RwLock, mpsc};

/// Collects primes until the generator is cancelled, and never waits for another thread.
pub struct PrimeGenerator {
    found: RwLock<Vec<u64>>,
    cancelled: AtomicBool,
}

impl PrimeGenerator {
    /// Makes a generator that has found no prime.
    pub fn new() -> Self {
        Self { found: RwLock::new(Vec::new()), cancelled: AtomicBool::new(false) }
    }

    /// Stores the primes one by one, until no primes are left or the generator is cancelled. `next()`
    /// computes a prime, and may take long.
    pub fn run(&self, primes: impl Iterator<Item = u64>) {
        for prime in primes {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.found.write().unwrap().push(prime);
        }
    }

    /// Asks run() to end. A request to end cannot be taken back.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Returns a copy of the primes that have been found so far.
    pub fn found(&self) -> Vec<u64> {
        self.found.read().unwrap().clone()
    }
}

/// A cancellable queue with room for a limited number of items.
pub struct Queue<T> {
    entrance: Mutex<Entrance<T>>,
    /// Notified when there is a permit, or when the queue is cancelled.
    permitted: Condvar,
    /// Only one taker at a time waits for a message; other takers wait for this lock.
    receiver: Mutex<mpsc::Receiver<T>>,
}

struct Entrance<T> {
    permits: usize,
    /// The sender of the channel; `None` after the queue was cancelled.
    sender: Option<mpsc::Sender<T>>,
}

impl<T> Queue<T> {
    /// Makes an empty queue with room for `room` items; `usize::MAX` means no bound.
    pub fn new(room: usize) -> Self {
        let (sender, receiver) = mpsc::channel();
        let entrance = Mutex::new(Entrance { permits: room, sender: Some(sender) });
        Self { entrance, permitted: Condvar::new(), receiver: Mutex::new(receiver) }
    }

    /// Puts an item into the queue. The call waits while there is no room. If the queue is cancelled, before
    /// the wait or during it, the call returns the item as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut entrance = self.entrance.lock().unwrap();
        loop {
            let Some(sender) = &entrance.sender else { return Err(item) };
            if entrance.permits > 0 {
                sender.send(item).map_err(|refused| refused.0)?;
                entrance.permits -= 1;
                return Ok(());
            }
            entrance = self.permitted.wait(entrance).unwrap();
        }
    }

    /// Takes the oldest item. The call waits while there is no item. The call returns `None` if there is no
    /// item and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let item = self.receiver.lock().unwrap().recv().ok()?;
        self.entrance.lock().unwrap().permits += 1;
        self.permitted.notify_one();
        Some(item)
    }

    /// Cancels the queue: from then on, no item can be put in, and no thread waits. Items that are already in
    /// the queue can still be taken. A request to end cannot be taken back.
    pub fn cancel(&self) {
        self.entrance.lock().unwrap().sender = None;
        self.permitted.notify_all();
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

    /// Puts the primes into the queue one by one, until no primes are left or the queue is cancelled. Returns
    /// the prime that could not be put, if there is one.
    pub fn run(&self, mut primes: impl Iterator<Item = u64>) -> Option<u64> {
        primes.find_map(|prime| self.queue.put(prime).err())
    }

    /// Cancels the queue, so that run() ends even if it is waiting.
    pub fn cancel(&self) {
        self.queue.cancel();
    }
}
