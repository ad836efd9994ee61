//! Requests that take as long as a property says, and a clock that advances only while a thread waits on the
//! clock.

use std::time::Duration;

use executor::{Executor, JoinTimeoutError, RejectReason, RejectedExecution, Task, TaskHandle};
use exercises_harness::{fail, step};

use super::super::exercise::{Clock, Millis};
use crate::probe::Shared;

pub const NEVER: Millis = Millis::MAX;

/// The time on the clock when a property begins. The time does not begin at zero, so that no answer can rely
/// on zero.
pub const START: Millis = 1_000;

/// A test fails after this number of calls to the clock, because the answer then polls the clock instead of
/// waiting.
const PATIENCE: usize = 1_000;

/// An executor and a clock in one object. Each job takes as long as the property says, and all jobs run at
/// the same time. While a thread waits, the time advances from the end of one job to the end of the next job.
#[derive(Default)]
pub struct Simulation {
    /// The times that the jobs take, in the order of their submission.
    pub takes: Vec<Millis>,
    /// The number of the job that the executor refuses, counted from 1.
    pub refuses: Option<usize>,
    /// The time that each submission takes.
    pub submission: Millis,
    /// True if a waiting caller is told to give up at once, like a cancelled task.
    pub interrupts: bool,
    pub state: Shared<State>,
}

#[derive(Default)]
pub struct State {
    passed: Millis,
    /// The number of submitted jobs, and the number of accepted jobs.
    brought: usize,
    accepted: usize,
    /// The number of calls to the clock since the time last advanced.
    asked: usize,
    /// For each running job: the time of its end, its number, and the job.
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

    /// Returns the number of accepted jobs.
    pub fn accepted(&self) -> usize {
        self.state.with(|state| state.accepted)
    }

    fn pass(&self, until: Millis) {
        self.state.with(|state| {
            state.passed = state.passed.max(until);
            state.asked = 0;
        });
    }

    /// Counts a call to the clock, and fails the test after too many calls.
    fn asks(&self, what: &str, cause: &str) {
        let asked = self.state.with(|state| {
            state.asked += 1;
            state.asked
        });
        if asked == PATIENCE {
            fail(&format!("ranked_quotes() has {what} {asked} times, and nothing happened meanwhile"), cause);
        }
    }

    /// Takes out the running job that ends first, if it ends at `until` or earlier.
    fn next_to_end(&self, until: Millis) -> Option<(Millis, usize, Task)> {
        self.state.with(|state| {
            let running = state.running.iter().enumerate();
            let (place, (end, ..)) = running.min_by_key(|(_, (end, ..))| *end)?;
            (*end <= until).then(|| state.running.remove(place))
        })
    }

    fn ends(&self, end: Millis, number: usize, task: Task) {
        self.pass(end);
        step(&format!("{end} ms: request {number} ends"));
        task.run();
    }

    /// Runs the remaining jobs to their ends, except for the jobs that were cancelled.
    pub fn go_on(&self) {
        step("and the executor goes on with what it has");
        while let Some((.., task)) = self.next_to_end(NEVER) {
            task.run();
        }
    }
}

impl Executor for Simulation {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let now = self.passed().saturating_add(self.submission);
        while let Some((end, number, task)) = self.next_to_end(now) {
            self.ends(end, number, task);
        }
        self.pass(now);
        let number = self.state.with(|state| {
            state.brought += 1;
            state.brought
        });
        if self.refuses == Some(number) {
            step(&format!("{now} ms: the executor refuses request {number}"));
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
        step(&format!("{now} ms: request {number} begins"));
        let end = now.saturating_add(self.takes[number - 1]);
        self.state.with(|state| {
            state.accepted += 1;
            state.running.push((end, number, task));
        });
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
            self.ends(end, number, task);
        }
        handle.join_timeout(Duration::ZERO)
    }
}
