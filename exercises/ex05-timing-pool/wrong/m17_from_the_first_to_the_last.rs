//! Wrong: the total is the time from the first beginning to the last end, with all that was idle, and what went on at the
//! same time counted once.
//! The learner sees: the time between two tasks is in the total.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;

use executor::{Hooks, Outcome, TaskId, TaskInfo};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, thread_local};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What is known of the tasks that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many there were.
    pub tasks: u64,
    /// How long they took together.
    pub total: Millis,
}

impl Summary {
    /// How many milliseconds a task took on average; none if there was no task.
    pub fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.total as f64 / self.tasks as f64)
    }
}

/// To be given to one pool as its hooks.
pub struct Timing {
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    log: Box<dyn Fn(Summary) + Send + Sync>,
    first: Mutex<Option<Millis>>,
    summary: Mutex<Summary>,
}

impl Timing {
    /// `clock` says what time it is, and never goes back. `log` is to be called once, when the pool has run its last task.
    ///
    /// Both are somebody else's code: they may ask for the summary. They do not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock: Box::new(clock),
            log: Box::new(log),
            first: Mutex::default(),
            summary: Mutex::default(),
        }
    }

    /// The tasks that have ended so far. Any thread may ask at any time.
    pub fn summary(&self) -> Summary {
        *self.summary.lock().unwrap()
    }
}

impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        self.first.lock().unwrap().get_or_insert_with(|| (self.clock)());
    }

    /// Whoever waits for the task goes on only after this.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let took = (self.clock)() - self.first.lock().unwrap().unwrap_or_default();
        let mut summary = self.summary.lock().unwrap();
        summary.tasks += 1;
        summary.total = took;
    }

    fn terminated(&self) {
        (self.log)(self.summary());
    }
}
