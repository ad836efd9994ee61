//! Right: The flag of the queue is an atomic, and cancel() sets it while it holds the lock. put() looks at it before it takes the lock, too. The producer has a flag of its own as well, and looks at it before it computes a prime.
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
    room: usize,
    cancelled: AtomicBool,
    state: Mutex<State<T>>,
    /// There is room, or the queue is cancelled.
    not_full: Condvar,
    /// There is an item, or the queue is cancelled.
    not_empty: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
}

impl<T> Queue<T> {
    /// Makes an empty one with room for `room` items. `usize::MAX` is no bound.
    pub fn new(room: usize) -> Self {
        let state = Mutex::new(State { items: VecDeque::new() });
        Self {
            room,
            cancelled: AtomicBool::new(false),
            state,
            not_full: Condvar::new(),
            not_empty: Condvar::new(),
        }
    }

    /// Puts an item into the queue. Waits while there is no room. If the queue is cancelled, before the wait or during it, the
    /// item comes back as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        if self.cancelled.load(Ordering::SeqCst) {
            return Err(item);
        }
        let mut state = self.state.lock().unwrap();
        while state.items.len() == self.room && !self.cancelled.load(Ordering::SeqCst) {
            state = self.not_full.wait(state).unwrap();
        }
        if self.cancelled.load(Ordering::SeqCst) {
            return Err(item);
        }
        state.items.push_back(item);
        self.not_empty.notify_one();
        Ok(())
    }

    /// Takes the oldest item. Waits while there is none. `None` if there is none and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap();
        while state.items.is_empty() && !self.cancelled.load(Ordering::SeqCst) {
            state = self.not_empty.wait(state).unwrap();
        }
        let item = state.items.pop_front();
        self.not_full.notify_one();
        item
    }

    /// From now on no item is put and no thread waits. What was put before can still be taken. It cannot be taken back.
    pub fn cancel(&self) {
        let state = self.state.lock().unwrap();
        self.cancelled.store(true, Ordering::SeqCst);
        self.not_full.notify_all();
        self.not_empty.notify_all();
    }
}

/// Puts primes into a queue until it is cancelled.
pub struct PrimeProducer {
    queue: Arc<Queue<u64>>,
    cancelled: AtomicBool,
}

impl PrimeProducer {
    /// Makes one that puts its primes into this queue.
    pub fn new(queue: Arc<Queue<u64>>) -> Self {
        Self { queue, cancelled: AtomicBool::new(false) }
    }

    /// Puts one prime after the other, until there are no more or it is cancelled. Returns the prime that it could not put, if
    /// there is one.
    pub fn run(&self, primes: impl Iterator<Item = u64>) -> Option<u64> {
        let mut primes = primes;
        while !self.cancelled.load(Ordering::SeqCst) {
            if let Err(prime) = self.queue.put(primes.next()?) {
                return Some(prime);
            }
        }
        None
    }

    /// Asks run() to end, also while it waits: cancels the queue.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.queue.cancel();
    }
}
