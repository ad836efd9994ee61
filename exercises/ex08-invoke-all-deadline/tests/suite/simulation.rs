//! Jobs that take as long as a property says, and a clock that advances only while a thread waits on it.

use std::time::Duration;

use executor::{Executor, JoinTimeoutError, RejectReason, RejectedExecution, Task, TaskHandle};
use exercises_harness::{fail, step};

use super::super::exercise::{Clock, Millis};
use crate::probe::Shared;

pub const NEVER: Millis = Millis::MAX;

/// The time at which a property begins. `START` is not zero, because a real clock does not begin at zero.
pub const START: Millis = 1_000;

/// If an answer calls the clock this often and nothing happens meanwhile, the property fails: the answer
/// polls instead of waiting.
const PATIENCE: usize = 1_000;

/// An executor and a clock in one object: each job takes as long as the property says, and all jobs run at
/// the same time. While a thread waits, the time jumps from the end of one job to the end of the next.
#[derive(Default)]
pub struct Simulation {
    /// The time that each job takes, in the order in which the jobs are submitted.
    pub takes: Vec<Millis>,
    /// True if each job runs at once, before `submit` returns.
    pub inline: bool,
    /// The time that each submission takes.
    pub submission: Millis,
    /// The number of jobs that the executor accepts.
    pub room: Option<usize>,
    /// True if a caller that waits is told to give up at once, as happens in a cancelled task.
    pub interrupts: bool,
    pub state: Shared<State>,
}

#[derive(Default)]
pub struct State {
    passed: Millis,
    accepted: usize,
    /// The number of times that a thread has asked for the time, or has asked to wait, since the last event.
    asked: usize,
    /// For each running job: the time at which it ends, its number, and the job itself.
    running: Vec<(Millis, usize, Task)>,
}

impl Simulation {
    pub fn of(takes: &[Millis]) -> Self {
        Self { takes: takes.to_vec(), ..Self::default() }
    }

    /// Returns the time that has passed.
    pub fn passed(&self) -> Millis {
        self.state.with(|state| state.passed)
    }

    fn pass(&self, until: Millis) {
        self.state.with(|state| {
            state.passed = state.passed.max(until);
            state.asked = 0;
        });
    }

    /// Counts a call of the clock that does not advance the time.
    fn asks(&self, what: &str, cause: &str) {
        let asked = self.state.with(|state| {
            state.asked += 1;
            state.asked
        });
        if asked == PATIENCE {
            fail(&format!("invoke_all() has {what} {asked} times, and nothing happened meanwhile"), cause);
        }
    }

    /// Removes the running job that ends first, if it ends no later than `until`.
    fn next_to_end(&self, until: Millis) -> Option<(Millis, usize, Task)> {
        self.state.with(|state| {
            let running = state.running.iter().enumerate();
            let (place, (end, ..)) = running.min_by_key(|(_, (end, ..))| *end)?;
            (*end <= until).then(|| state.running.remove(place))
        })
    }

    /// Runs the remaining jobs until they end, except for the jobs that were cancelled.
    pub fn go_on(&self) {
        step("the executor goes on with the jobs that it has");
        while let Some((.., task)) = self.next_to_end(NEVER) {
            task.run();
        }
    }
}

impl Executor for Simulation {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let (now, accepted) = self.state.with(|state| {
            state.passed += self.submission;
            state.asked = 0;
            (state.passed, state.accepted)
        });
        if self.room.is_some_and(|room| accepted >= room) {
            step(&format!("{now} ms: the executor refuses job {}", accepted + 1));
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
        step(&format!("{now} ms: job {} begins", accepted + 1));
        let end = now.saturating_add(self.takes[accepted]);
        self.state.with(|state| state.accepted += 1);
        if self.inline {
            self.pass(end);
            task.run();
        } else {
            self.state.with(|state| state.running.push((end, accepted + 1, task)));
        }
        Ok(())
    }
}

impl Clock for Simulation {
    fn now(&self) -> Millis {
        self.asks("asked for the time", "the time goes on only while a thread waits: wait with clock.join()");
        START + self.passed()
    }

    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>> {
        let until = self.passed().saturating_add(at_most);
        while !handle.is_finished() {
            if self.interrupts {
                step("the waiting caller is told to give up");
                self.asks(
                    "waited on after it was told to give up",
                    "the caller wants its thread back: leave",
                );
                return Err(JoinTimeoutError::Interrupted(handle));
            }
            let Some((end, number, task)) = self.next_to_end(until) else {
                self.pass(until);
                step(&format!("{until} ms: that was all of the time"));
                return Err(JoinTimeoutError::TimedOut(handle));
            };
            self.pass(end);
            step(&format!("{end} ms: job {number} ends"));
            task.run();
        }
        handle.join_timeout(Duration::ZERO)
    }
}
