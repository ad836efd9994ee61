//! Looks at a flag between two primes, too, and waits where it cannot look.

use crate::primes;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

// ANCHOR: broken
/// Puts primes into a queue until it is cancelled.
pub struct BrokenPrimeProducer {
    queue: SyncSender<u64>,
    cancelled: AtomicBool,
    /// How many it has begun to send. The example looks at it, so that every run hangs.
    pub begun: AtomicUsize,
}

impl BrokenPrimeProducer {
    pub fn run(&self) {
        for prime in primes() {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.begun.fetch_add(1, Ordering::SeqCst);
            if self.queue.send(prime).is_err() {
                return;
            }
        }
    }
    // ANCHOR_END: broken

    pub fn new(queue: SyncSender<u64>) -> Self {
        Self { queue, cancelled: AtomicBool::new(false), begun: AtomicUsize::new(0) }
    }

    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
}
