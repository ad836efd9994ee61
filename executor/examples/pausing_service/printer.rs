//! A service that can be paused: a request on one of its tokens ends a round, and one on another ends the service.

use executor::channel::{Receiver, TakeError};
use executor::{CancelToken, Cancelled, Latch, masked};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

// ANCHOR: printer
/// Prints what is ordered until it is stopped. Can be paused.
pub struct Printer {
    stop: CancelToken,
    round: Mutex<Arc<Round>>,
}

/// From one pause to the next. Its token is a child of `stop`.
struct Round {
    token: CancelToken,
    stands_still: Latch,
    resumed: Latch,
}

impl Printer {
    pub fn work(&self, orders: &Receiver<u32>) {
        loop {
            let round = Arc::clone(&self.round());
            let ended = round.token.attach(|| print_until_cancelled(orders));
            round.stands_still.count_down();
            if ended == TakeError::Closed || self.stop.attach(|| round.resumed.wait()).is_err() {
                return;
            }
        }
    }

    /// When this returns `Ok`, the printer stands still. `Err` if it is stopped, or the caller is.
    pub fn pause(&self) -> Result<(), Cancelled> {
        let round = Arc::clone(&self.round());
        round.token.cancel_because("the paper is changed");
        CancelToken::linked([&CancelToken::current(), &self.stop]).attach(|| round.stands_still.wait())
    }

    pub fn resume(&self) {
        let mut round = self.round();
        if round.token.is_cancelled() {
            let paused = std::mem::replace(&mut *round, Round::below(&self.stop));
            paused.resumed.count_down();
        }
    }

    pub fn stop(&self) {
        self.stop.cancel();
    }
    // ANCHOR_END: printer

    pub fn new() -> Self {
        let stop = CancelToken::new();
        Self { round: Mutex::new(Round::below(&stop)), stop }
    }

    fn round(&self) -> MutexGuard<'_, Arc<Round>> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    fn below(stop: &CancelToken) -> Arc<Self> {
        Arc::new(Self { token: stop.child(), stands_still: Latch::new(1), resumed: Latch::new(1) })
    }
}

// ANCHOR: print
fn print_until_cancelled(orders: &Receiver<u32>) -> TakeError {
    loop {
        match orders.take() {
            Ok(order) => masked(|| print(order)), // a page is printed or not begun
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
