//! A service that begins again if the request says so, and ends with any other.

use executor::{CancelReason, CancelToken, Cancelled};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

// ANCHOR: greeter
/// Greets until its task is cancelled. A new greeting takes a new round.
pub struct Greeter {
    state: Mutex<State>,
}

struct State {
    greeting: &'static str,
    round: CancelToken,
}

/// The payload of a request that means: begin again.
struct Restart;

impl Greeter {
    pub fn run(&self, tell: &Sender<String>) -> Cancelled {
        loop {
            let round = CancelToken::current().child();
            let greeting = self.begin(&round);
            let cancelled = round.attach(|| greet(greeting, tell));
            if !asks_for_restart(&cancelled) {
                return cancelled; // it was meant for the task
            }
        }
    }

    pub fn restart_with(&self, greeting: &'static str) {
        let mut state = self.state();
        state.greeting = greeting;
        let round = state.round.clone();
        drop(state);
        round.cancel_because(CancelReason::new("there is a new greeting").with_payload(Restart));
    }

    /// Under one lock, so that no restart falls between the two.
    fn begin(&self, round: &CancelToken) -> &'static str {
        let mut state = self.state();
        state.round = round.clone();
        state.greeting
    }
    // ANCHOR_END: greeter

    pub fn run_with_one_token(&self, tell: &Sender<String>) -> Cancelled {
        let round = CancelToken::current().child();
        loop {
            let greeting = self.begin(&round);
            let cancelled = round.attach(|| greet(greeting, tell));
            if !asks_for_restart(&cancelled) {
                return cancelled;
            }
        }
    }

    pub fn new(greeting: &'static str) -> Self {
        Self { state: Mutex::new(State { greeting, round: CancelToken::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn asks_for_restart(cancelled: &Cancelled) -> bool {
    cancelled.reason().is_some_and(|reason| reason.payload::<Restart>().is_some())
}

fn greet(greeting: &str, tell: &Sender<String>) -> Cancelled {
    let _ = tell.send(format!("greets with {greeting:?}"));
    loop {
        if let Err(cancelled) = CancelToken::current().sleep(Duration::from_hours(1)) {
            return cancelled;
        }
    }
}
