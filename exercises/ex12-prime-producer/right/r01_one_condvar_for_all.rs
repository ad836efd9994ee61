//! Right: One Condvar for putters and takers, and every notification is for all. In the generator, the flag is behind the lock of the list.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Collects primes until it is cancelled, and never waits for another thread.
pub struct PrimeGenerator {
    state: Mutex<Search>,
}

struct Search {
    found: Vec<u64>,
    cancelled: bool,
}

impl PrimeGenerator {
    /// Makes one that has found no prime.
    pub fn new() -> Self {
        Self { state: Mutex::new(Search { found: Vec::new(), cancelled: false }) }
    }

    /// Keeps one prime after the other, until there are no more or it is cancelled. `next()` computes a prime, and may take
    /// long.
    pub fn run(&self, primes: impl Iterator<Item = u64>) {
        for prime in primes {
            let mut state = self.state.lock().unwrap();
            if state.cancelled {
                return;
            }
            state.found.push(prime);
        }
    }

    /// Asks run() to end. It cannot be taken back.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
    }

    /// A copy of what has been found so far.
    pub fn found(&self) -> Vec<u64> {
        self.state.lock().unwrap().found.clone()
    }
}

/// A queue with room for so many items, and with an end.
pub struct Queue<T> {
    room: usize,
    state: Mutex<State<T>>,
    /// There is room or an item, or the queue is cancelled.
    changed: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    cancelled: bool,
}

impl<T> Queue<T> {
    /// Makes an empty one with room for `room` items. `usize::MAX` is no bound.
    pub fn new(room: usize) -> Self {
        let state = Mutex::new(State { items: VecDeque::new(), cancelled: false });
        Self { room, state, changed: Condvar::new() }
    }

    /// Puts an item into the queue. Waits while there is no room. If the queue is cancelled, before the wait or during it, the
    /// item comes back as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let full = |state: &mut State<T>| state.items.len() == self.room && !state.cancelled;
        let mut state = self.changed.wait_while(self.state.lock().unwrap(), full).unwrap();
        if state.cancelled {
            return Err(item);
        }
        state.items.push_back(item);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Takes the oldest item. Waits while there is none. `None` if there is none and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let empty = |state: &mut State<T>| state.items.is_empty() && !state.cancelled;
        let item = self.changed.wait_while(self.state.lock().unwrap(), empty).unwrap().items.pop_front();
        self.changed.notify_all();
        item
    }

    /// From now on no item is put and no thread waits. What was put before can still be taken. It cannot be taken back.
    pub fn cancel(&self) {
        self.state.lock().unwrap().cancelled = true;
        self.changed.notify_all();
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
