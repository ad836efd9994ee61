//! A greeter that works in rounds: each new greeting begins a new round. Each round has a token of its own.

use crate::greet;
use crate::request::{begin_again, says_begin_again};
use executor::{CancelToken, Cancelled};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

// ANCHOR: greeter
/// A service that sends greetings until the service's task is cancelled. A new greeting begins a new round.
pub struct Greeter {
    state: Mutex<State>,
}

struct State {
    greeting: &'static str,
    round: CancelToken,
}

impl Greeter {
    pub fn run(&self, tell: &Sender<&'static str>) -> Cancelled {
        loop {
            let round = CancelToken::current().child();
            let greeting = self.begin(&round);
            let cancelled = round.attach(|| greet(greeting, tell));
            if !says_begin_again(&cancelled) {
                return cancelled; // the request was for the task
            }
        }
    }

    pub fn restart_with(&self, greeting: &'static str) {
        let mut state = self.state();
        state.greeting = greeting;
        let round = state.round.clone();
        drop(state);
        round.cancel_because(begin_again());
    }

    /// Under one lock, makes `round` the token of the current round, and takes the greeting. Therefore no
    /// restart can happen between these two steps.
    pub fn begin(&self, round: &CancelToken) -> &'static str {
        let mut state = self.state();
        state.round = round.clone();
        state.greeting
    }
    // ANCHOR_END: greeter

    pub fn new(greeting: &'static str) -> Self {
        Self { state: Mutex::new(State { greeting, round: CancelToken::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
