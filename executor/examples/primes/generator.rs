//! A generator that checks a flag between two primes.

use crate::primes;
use executor::{ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

// ANCHOR: generator
/// A generator that makes primes until it is cancelled; it never waits for another thread.
#[derive(Default)]
struct PrimeGenerator {
    primes: Mutex<Vec<u64>>,
    cancelled: AtomicBool,
}

impl PrimeGenerator {
    fn run(&self) {
        for prime in primes() {
            if self.cancelled.load(Ordering::SeqCst) {
                return;
            }
            self.primes().push(prime);
        }
    }

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
    // ANCHOR_END: generator

    /// Returns the primes that the generator has made so far.
    fn primes(&self) -> MutexGuard<'_, Vec<u64>> {
        self.primes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn show() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let generator = Arc::new(PrimeGenerator::default());
    let running = Arc::clone(&generator);
    let handle = pool.submit(move || running.run())?;
    while generator.primes().len() < 5 {
        thread::yield_now();
    }
    generator.cancel();
    handle.join()?; // it looks at the flag before the next prime
    println!("{:?} and so on; then the generator was told to stop, and has ended", &generator.primes()[..5]);
    Ok(())
}
