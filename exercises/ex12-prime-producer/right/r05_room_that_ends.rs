//! Right: The room that is left is an Option: a cancelled queue has none. The generator looks at the flag before it asks for a prime and after.
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
        let mut primes = primes;
        while !self.cancelled.load(Ordering::SeqCst) {
            let Some(prime) = primes.next() else { return };
            let mut found = self.found.lock().unwrap();
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            found.push(prime);
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
    state: Mutex<State<T>>,
    put: Condvar,
    taken: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    /// How many more can be put. None when the queue is cancelled.
    free: Option<usize>,
}

impl<T> Queue<T> {
    /// Makes an empty one with room for `room` items. `usize::MAX` is no bound.
    pub fn new(room: usize) -> Self {
        let state = Mutex::new(State { items: VecDeque::new(), free: Some(room) });
        Self { state, put: Condvar::new(), taken: Condvar::new() }
    }

    /// Puts an item into the queue. Waits while there is no room. If the queue is cancelled, before the wait or during it, the
    /// item comes back as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let state = self.state.lock().unwrap();
        let mut state = self.taken.wait_while(state, |state| state.free == Some(0)).unwrap();
        let Some(free) = &mut state.free else { return Err(item) };
        *free -= 1;
        state.items.push_back(item);
        self.put.notify_one();
        Ok(())
    }

    /// Takes the oldest item. Waits while there is none. `None` if there is none and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let nothing = |state: &mut State<T>| state.items.is_empty() && state.free.is_some();
        let mut state = self.put.wait_while(self.state.lock().unwrap(), nothing).unwrap();
        let item = state.items.pop_front()?;
        if let Some(free) = &mut state.free {
            *free += 1;
            self.taken.notify_one();
        }
        Some(item)
    }

    /// From now on no item is put and no thread waits. What was put before can still be taken. It cannot be taken back.
    pub fn cancel(&self) {
        self.state.lock().unwrap().free = None;
        self.put.notify_all();
        self.taken.notify_all();
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
