//! Two tasks that compute primes until they are cancelled: one task checks a flag; the other task may wait in
//! a queue, and cancelling the queue ends this wait.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Collects primes until the generator is cancelled, and never waits for another thread.
pub struct PrimeGenerator {
    found: Mutex<Vec<u64>>,
    cancelled: AtomicBool,
}

impl PrimeGenerator {
    /// Makes a generator that has found no prime.
    pub fn new() -> Self {
        Self { found: Mutex::new(Vec::new()), cancelled: AtomicBool::new(false) }
    }

    /// Stores the primes one by one, until no primes are left or the generator is cancelled. `next()`
    /// computes a prime, and may take long.
    pub fn run(&self, primes: impl Iterator<Item = u64>) {
        for prime in primes {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.found.lock().unwrap().push(prime);
        }
    }

    /// Asks run() to end. A request to end cannot be taken back.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Returns a copy of the primes that have been found so far.
    pub fn found(&self) -> Vec<u64> {
        self.found.lock().unwrap().clone()
    }
}

/// A cancellable queue with room for a limited number of items.
pub struct Queue<T> {
    room: usize,
    state: Mutex<State<T>>,
    /// Notified when there is room, or when the queue is cancelled.
    not_full: Condvar,
    /// Notified when there is an item, or when the queue is cancelled.
    not_empty: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    cancelled: bool,
}

impl<T> Queue<T> {
    /// Makes an empty queue with room for `room` items; `usize::MAX` means no bound.
    pub fn new(room: usize) -> Self {
        let state = Mutex::new(State { items: VecDeque::new(), cancelled: false });
        Self { room, state, not_full: Condvar::new(), not_empty: Condvar::new() }
    }

    /// Puts an item into the queue. The call waits while there is no room. If the queue is cancelled, before
    /// the wait or during it, the call returns the item as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.state.lock().unwrap();
        while state.items.len() == self.room && !state.cancelled {
            state = self.not_full.wait(state).unwrap();
        }
        if state.cancelled {
            return Err(item);
        }
        state.items.push_back(item);
        self.not_empty.notify_one();
        Ok(())
    }

    /// Takes the oldest item. The call waits while there is no item. The call returns `None` if there is no
    /// item and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap();
        while state.items.is_empty() && !state.cancelled {
            state = self.not_empty.wait(state).unwrap();
        }
        let item = state.items.pop_front();
        self.not_full.notify_one();
        item
    }

    /// Cancels the queue: from then on, no item can be put in, and no thread waits. Items that are already in
    /// the queue can still be taken. A request to end cannot be taken back.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
        self.not_full.notify_all();
        self.not_empty.notify_all();
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
