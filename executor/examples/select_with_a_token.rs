//! A `select!` that waits for three events: a number, a time-out, and the cancellation of its task.
//!
//! ```sh
//! cargo run --example select_with_a_token
//! ```
//!
//! The book explains this example in the chapter "A flag is not enough".

use crossbeam_channel::{after, select};
use executor::channel::{Receiver, SenderExt, bounded};
use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::thread;
use std::time::Duration;

// ANCHOR: select
/// Adds up numbers. The loop waits for three events at once.
fn add_up(numbers: &Receiver<u32>) {
    let stop = CancelToken::current().channel();
    let patience = after(Duration::from_secs(60));
    let mut sum = 0;
    let end = loop {
        select! {
            recv(numbers) -> number => match number {
                Ok(number) => sum += number,
                Err(_) => break "there are no more numbers",
            },
            recv(stop) -> _ => break "the task was cancelled",
            recv(patience) -> _ => break "a minute is over",
        }
    };
    println!("the sum is {sum}; {end}");
}
// ANCHOR_END: select

fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPoolExecutor::single();
    let (sender, numbers) = bounded(10);
    let adder = pool.submit(move || add_up(&numbers))?;
    for number in 1..=10 {
        sender.put(number)?;
    }
    while !sender.is_empty() {
        thread::yield_now(); // until the adder has all of them
    }
    adder.cancel();
    pool.close(); // waits for the adder's thread
    Ok(())
}
