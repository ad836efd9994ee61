//! A producer that is blocked on a full channel comes back when its task is cancelled, and so does a `select!`.
//!
//! ```sh
//! cargo run -p executor --features crossbeam-channel --example select_with_a_token
//! ```

use crossbeam_channel::{after, select};
use executor::channel::{Receiver, Sender, bounded};
use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::time::Duration;

// ANCHOR: put
/// Puts numbers until somebody has enough of them. Returns how many were put.
fn produce(numbers: &Sender<u32>) -> u32 {
    for number in 0.. {
        if let Err(error) = numbers.put(number) {
            println!("number {number} was not put: {error}");
            return number;
        }
    }
    unreachable!("there is always another number")
}
// ANCHOR_END: put

// ANCHOR: select
/// Adds numbers up. Waits for three things at once.
fn add_up(numbers: &Receiver<u32>) -> u32 {
    let (mut sum, stop, patience) = (0, CancelToken::current().channel(), after(Duration::from_mins(1)));
    loop {
        select! {
            recv(numbers.as_crossbeam()) -> number => match number {
                Ok(number) => sum += number,
                Err(_) => return sum, // nobody sends any more
            },
            recv(stop) -> _ => return sum, // the task was cancelled
            recv(patience) -> _ => return sum,
        }
    }
}
// ANCHOR_END: select

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::fixed(2);
    let (sender, receiver) = bounded(10);
    let token = CancelToken::new();
    let stop = token.clone();
    let own = receiver.clone(); // so that the channel is not closed when the adder ends
    let adder = pool.submit(move || stop.attach(|| add_up(&own)))?;
    for number in 1..=10 {
        sender.put(number)?;
    }
    while !receiver.is_empty() {
        std::thread::yield_now(); // the adder has the others
    }
    token.cancel();
    println!("the sum is {}", adder.join()?);

    let stop = CancelToken::new();
    let token = stop.clone();
    let producer = pool.submit(move || token.attach(|| produce(&sender)))?;
    while receiver.len() < 10 {
        std::thread::yield_now(); // until the channel is full
    }
    stop.cancel();
    println!("{} were put, {} are in the channel", producer.join()?, receiver.len());
    Ok(())
}
