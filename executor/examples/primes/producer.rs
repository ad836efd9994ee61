//! A producer whose wait for room in the queue ends when the producer's task is cancelled.

use crate::primes;
use executor::channel::{ReceiverExt, Sender, SenderExt, bounded};
use executor::{ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;

/// The number of primes for which the queue has room.
const ROOM: usize = 10;

// ANCHOR: producer
/// A producer that puts primes into a queue until the producer's task is cancelled.
struct PrimeProducer {
    queue: Sender<u64>,
}

impl PrimeProducer {
    fn run(&self) {
        for prime in primes() {
            if self.queue.put(prime).is_err() {
                return; // cancelled, or no reader is left
            }
        }
    }
}
// ANCHOR_END: producer

// ANCHOR: cancel
pub fn show() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (queue, reader) = bounded(ROOM);
    let producer = PrimeProducer { queue };
    let handle = pool.submit(move || producer.run())?;
    println!("read: {:?}", reader.take_iter().take(3).collect::<Vec<_>>());
    while reader.len() < ROOM {
        thread::yield_now(); // until the queue is full, so that the next put() waits
    }
    handle.cancel();
    pool.close(); // waits for the producer's thread
    println!("the producer has ended; of what it had put, {} were not read", reader.take_iter().count());
    Ok(())
}
// ANCHOR_END: cancel
