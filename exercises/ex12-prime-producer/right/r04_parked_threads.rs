//! Right: there is no Condvar. Each waiting thread adds itself to a list and parks; a thread that changes the
//! queue unparks all threads in the list. The generator loops with try_for_each, and an error ends this loop.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex, MutexGuard};

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
    pub fn run(&self, mut primes: impl Iterator<Item = u64>) {
        let _ = primes.try_for_each(|prime| {
            if self.cancelled.load(Ordering::SeqCst) {
                return Err(prime);
            }
            self.found.lock().unwrap().push(prime);
            Ok(())
        });
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
    cancelled: bool,
    /// The threads that wait for the next change.
    parked: Vec<Thread>,
}

impl<T> State<T> {
    fn has_changed(&mut self) {
        self.parked.drain(..).for_each(|thread| thread.unpark());
    }
}

impl<T> Queue<T> {
    /// Makes an empty queue with room for `room` items; `usize::MAX` means no bound.
    pub fn new(room: usize) -> Self {
        Self {
            room,
            state: Mutex::new(State { items: VecDeque::new(), cancelled: false, parked: Vec::new() }),
        }
    }

    /// Waits while `blocked` returns true.
    fn lock_when(&self, blocked: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        loop {
            let mut state = self.state.lock().unwrap();
            if state.cancelled || !blocked(&state) {
                return state;
            }
            state.parked.push(thread::current());
            drop(state);
            thread::park();
        }
    }

    /// Puts an item into the queue. The call waits while there is no room. If the queue is cancelled, before
    /// the wait or during it, the call returns the item as `Err`.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.lock_when(|state| state.items.len() == self.room);
        if state.cancelled {
            return Err(item);
        }
        state.items.push_back(item);
        state.has_changed();
        Ok(())
    }

    /// Takes the oldest item. The call waits while there is no item. The call returns `None` if there is no
    /// item and the queue is cancelled.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock_when(|state| state.items.is_empty());
        let item = state.items.pop_front();
        state.has_changed();
        item
    }

    /// Cancels the queue: from then on, no item can be put in, and no thread waits. Items that are already in
    /// the queue can still be taken. A request to end cannot be taken back.
    pub fn cancel(&self) {
        let mut state = self.state.lock().unwrap();
        state.cancelled = true;
        state.has_changed();
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
