//! Waits where a cancel reaches it.

use crate::primes;
use executor::channel::Sender;

// ANCHOR: producer
/// Puts primes into a queue until its task is cancelled.
pub struct PrimeProducer {
    queue: Sender<u64>,
}

impl PrimeProducer {
    pub fn run(&self) {
        for prime in primes() {
            if self.queue.put(prime).is_err() {
                return; // cancelled, or nobody reads any more
            }
        }
    }
    // ANCHOR_END: producer

    pub fn new(queue: Sender<u64>) -> Self {
        Self { queue }
    }
}
