//! Looks at a flag between two primes.

use crate::primes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

// ANCHOR: generator
/// Makes primes until it is cancelled, and never waits for anybody.
#[derive(Default)]
pub struct PrimeGenerator {
    primes: Mutex<Vec<u64>>,
    cancelled: AtomicBool,
}

impl PrimeGenerator {
    pub fn run(&self) {
        for prime in primes() {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.primes().push(prime);
        }
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
    // ANCHOR_END: generator

    /// Those that there are so far.
    pub fn primes(&self) -> MutexGuard<'_, Vec<u64>> {
        self.primes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
