//! The clock of the properties: it shows the time that the property has set.

use exercises_harness::{fail, step};

use super::super::exercise::{Clock, Millis, NEVER};
use crate::probe::{Counter, Shared};
use crate::sync::Arc;

pub(super) struct Hands {
    state: Shared<State>,
    /// Counts the changes of the time and the calls of `wake`.
    turns: Counter,
}

#[derive(Default)]
struct State {
    now: Millis,
    /// True if `wake` was called, and has not yet ended a wait.
    was_woken: bool,
    /// True while a thread waits.
    is_watched: bool,
}

impl Hands {
    /// Makes a clock that shows 0.
    pub(super) fn new() -> Arc<Self> {
        let turns = Counter::new("its time, or for wake()");
        Arc::new(Self { state: Shared::default(), turns })
    }

    /// Advances the time.
    pub(super) fn advance_to(&self, time: Millis) {
        step(&format!("the clock says {time}"));
        self.state.with(|state| state.now = time);
        self.turns.add();
    }

    /// Returns true if a wait until this time must end now.
    fn is_over(&self, until: Millis) -> bool {
        self.state.with(|state| {
            let over = state.was_woken || state.now >= until;
            if over {
                state.was_woken = false;
                state.is_watched = false;
            }
            over
        })
    }
}

impl Clock for Hands {
    fn now(&self) -> Millis {
        self.state.with(|state| state.now)
    }

    fn wait_until(&self, until: Millis) {
        if self.state.with(|state| std::mem::replace(&mut state.is_watched, true)) {
            fail(
                "two threads wait for the clock at once",
                "the clock wakes only one thread. Let one thread wait until the earliest time of all entries",
            );
        }
        step(&if until == NEVER {
            "sleeps until it is woken".into()
        } else {
            format!("sleeps until {until}")
        });
        loop {
            let turns = self.turns.get();
            if self.is_over(until) {
                break;
            }
            self.turns.wait_for(turns + 1);
        }
    }

    fn wake(&self) {
        step("calls wake()");
        self.state.with(|state| state.was_woken = true);
        self.turns.add();
    }
}
