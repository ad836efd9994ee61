//! A printer of orders. A round lasts from one pause to the next.

use executor::channel::{Receiver, ReceiverExt, TakeError};
use executor::{CancelToken, Executor, JoinError, TaskHandle, masked, prelude::*};
use std::error::Error;
use std::time::Duration;

// ANCHOR: printer
/// A printer at work. The printer owns the orders until the printer is paused or the pool is stopped.
pub struct Printer {
    round: CancelToken,
    orders: TaskHandle<Receiver<u32>>, // the round is a task and returns the orders
}

impl Printer {
    /// Begins a round.
    pub fn start(pool: &dyn Executor, orders: Receiver<u32>) -> Result<Self, Box<dyn Error>> {
        let round = CancelToken::new();
        let pause = round.clone();
        let orders = pool.submit(move || {
            let stop = CancelToken::current();
            CancelToken::linked([&pause, &stop]).attach(|| print_until_cancelled(&orders));
            orders
        })?;
        Ok(Self { round, orders })
    }

    /// Ends the round, and waits until the printer has stopped. The orders are returned, so the caller can
    /// begin a new round with them. Returns an error if the pool is stopped or the caller is cancelled; in
    /// both cases the round ends, too.
    pub fn pause(self) -> Result<Receiver<u32>, JoinError<Receiver<u32>>> {
        self.round.cancel_because("the paper is changed");
        self.orders.join()
    }
}
// ANCHOR_END: printer

// ANCHOR: print
fn print_until_cancelled(orders: &Receiver<u32>) -> TakeError {
    loop {
        match orders.take() {
            Ok(order) => masked(|| print(order)), // a page is printed as a whole, or not begun
            Err(ended) => return ended,
        }
    }
}
// ANCHOR_END: print

fn print(order: u32) {
    match CancelToken::current().sleep(Duration::from_millis(20)) {
        Ok(()) => println!("order {order} is printed, and dry"),
        Err(cancelled) => println!("order {order} is smudged: {cancelled}"),
    }
}
