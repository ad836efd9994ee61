//! Right: each waiting thread has an entry in a list. A waiting putter leaves its item in its entry, and a
//! taker moves the item into the queue. A putter leaves its item in the entry of a waiting taker.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex, mpsc};

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
}

struct State<T> {
    items: VecDeque<T>,
    /// The putters that wait for room, with their items. While this list contains a putter, the queue is
    /// full.
    putters: VecDeque<(T, mpsc::Sender<Result<(), T>>)>,
    /// The takers that wait for an item. While this list contains a taker, the queue is empty.
    takers: VecDeque<mpsc::Sender<T>>,
    cancelled: bool,
}

impl<T> Queue<T> {
    /// Makes an empty queue with room for `room` items; `usize::MAX` means no bound.
    pub fn new(room: usize) -> Self {
        let (items, putters, takers) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { room, state: Mutex::new(State { items, putters, takers, cancelled: false }) }
    }

    /// Puts an item into the queue. The call waits while there is no room. If the queue is cancelled, before
    /// the wait or during it, the call returns the item as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.state.lock().unwrap();
        if state.cancelled {
            return Err(item);
        }
        if let Some(taker) = state.takers.pop_front() {
            taker.send(item).unwrap_or_else(|_| unreachable!("a taker waits for its message"));
            return Ok(());
        }
        if state.items.len() < self.room {
            state.items.push_back(item);
            return Ok(());
        }
        let (sender, receiver) = mpsc::channel();
        state.putters.push_back((item, sender));
        drop(state);
        receiver.recv().unwrap()
    }

    /// Takes the oldest item. The call waits while there is no item. The call returns `None` if there is no
    /// item and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap();
        if let Some(item) = state.items.pop_front() {
            if let Some((item, putter)) = state.putters.pop_front() {
                state.items.push_back(item);
                putter.send(Ok(())).unwrap();
            }
            return Some(item);
        }
        if state.cancelled {
            return None;
        }
        let (sender, receiver) = mpsc::channel();
        state.takers.push_back(sender);
        drop(state);
        receiver.recv().ok()
    }

    /// Cancels the queue: from then on, no item can be put in, and no thread waits. Items that are already in
    /// the queue can still be taken. A request to end cannot be taken back.
    pub fn cancel(&self) {
        let mut state = self.state.lock().unwrap();
        state.cancelled = true;
        state.takers.clear();
        for (item, putter) in state.putters.drain(..) {
            putter.send(Err(item)).unwrap();
        }
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
