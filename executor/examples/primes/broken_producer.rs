//! A producer that checks a flag between two primes, but not while it waits for the queue.

use crate::primes;
use executor::{JoinError, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The number of primes for which the queue has room.
const ROOM: usize = 10;

// ANCHOR: broken
/// A producer that puts primes into a queue until the producer is cancelled.
struct BrokenPrimeProducer {
    queue: SyncSender<u64>,
    cancelled: AtomicBool,
    /// The number of sends that have begun, from which the example sees when a send must block.
    begun: AtomicUsize,
}

impl BrokenPrimeProducer {
    fn run(&self) {
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
}
// ANCHOR_END: broken

pub fn show() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (queue, reader) = sync_channel(ROOM);
    let cancelled = AtomicBool::new(false);
    let begun = AtomicUsize::new(0);
    let producer = Arc::new(BrokenPrimeProducer { queue, cancelled, begun });
    let running = Arc::clone(&producer);
    let handle = pool.submit(move || running.run())?;
    println!("read: {:?}", reader.iter().take(3).collect::<Vec<_>>());
    while producer.begun.load(Ordering::SeqCst) < 3 + ROOM + 1 {
        thread::yield_now(); // until it is about to send one prime more than there is room for
    }
    producer.cancelled.store(true, Ordering::SeqCst);
    println!("the producer is told to stop");
    let Err(JoinError::TimedOut(_)) = handle.join_timeout(Duration::from_secs(2)) else {
        return Err("it has ended".into());
    };
    println!("2 seconds later it has not ended: it is in send(), and the queue is full");
    process::exit(1); // a return from main would close the pool, which waits for the task
}
