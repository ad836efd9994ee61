//! Three ways to make primes until somebody has enough of them, and how each is stopped.
//!
//! ```sh
//! cargo run -p executor --features crossbeam-channel --example primes -- generator
//! cargo run -p executor --features crossbeam-channel --example primes -- broken
//! cargo run -p executor --features crossbeam-channel --example primes -- producer
//! ```
//!
//! The book's chapter: A flag is not enough.

#![allow(unreachable_pub)] // the modules read like those of a library

mod broken_producer;
mod generator;
mod producer;

use broken_producer::BrokenPrimeProducer;
use generator::PrimeGenerator;
use producer::PrimeProducer;

use executor::channel::bounded;
use executor::{JoinTimeoutError, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::process;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// For how many primes there is room between the producer and its reader.
const ROOM: usize = 10;

fn primes() -> impl Iterator<Item = u64> {
    (2_u64..).filter(|n| (2..=n.isqrt()).all(|divisor| n % divisor != 0))
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("generator") => generator(),
        Some("broken") => broken(),
        Some("producer") => producer(),
        _ => Err("say which: generator, broken or producer".into()),
    }
}

fn generator() -> Result<(), Box<dyn Error>> {
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

fn broken() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (queue, reader) = mpsc::sync_channel(ROOM);
    let producer = Arc::new(BrokenPrimeProducer::new(queue));
    let running = Arc::clone(&producer);
    let handle = pool.submit(move || running.run())?;
    println!("read: {:?}", reader.iter().take(3).collect::<Vec<_>>());
    while producer.begun.load(Ordering::SeqCst) < 3 + ROOM + 1 {
        thread::yield_now(); // until it is about to send one more than there is room for
    }
    producer.cancel();
    println!("the producer is told to stop");
    let Err(JoinTimeoutError::TimedOut(_)) = handle.join_timeout(Duration::from_secs(2)) else {
        return Err("it has ended".into());
    };
    println!("2 seconds later it has not ended: it is in send(), and the queue is full");
    process::exit(1); // without this the process would wait for it for ever
}

// ANCHOR: cancel
fn producer() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (queue, reader) = bounded(ROOM);
    let handle = pool.submit(move || PrimeProducer::new(queue).run())?;
    println!("read: {:?}", reader.iter().take(3).collect::<Vec<_>>());
    while reader.len() < ROOM {
        thread::yield_now(); // until the queue is full, so that the next put() waits
    }
    handle.cancel();
    pool.close(); // waits for the producer's thread
    println!("the producer has ended; of what it had put, {} were not read", reader.iter().count());
    Ok(())
}
// ANCHOR_END: cancel
