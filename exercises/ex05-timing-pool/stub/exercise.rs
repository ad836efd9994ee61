//! A pool that times its tasks: hooks count the tasks, add up their times, and log the sum when the pool
//! ends.
//!
//! This is the only file to edit. `cargo test -p ex05-timing-pool` checks your answer.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;

use executor::{Hooks, Outcome, TaskId, TaskInfo};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, thread_local};

/// Milliseconds: a time on the clock, or the difference of two times.
pub type Millis = u64;

/// The number of the tasks that have ended, and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of tasks that have ended.
    pub tasks: u64,
    /// The total time of all tasks that have ended.
    pub total: Millis,
}

impl Summary {
    /// The average number of milliseconds that a task took; `None` if there was no task.
    pub fn mean(&self) -> Option<f64> {
        todo!("divide the total by the number of tasks, if it can be done")
    }
}

/// The hooks that count and time the tasks of one pool.
pub struct Timing {
    // What must be kept from one call to the next? Which part of the state does each thread have for itself
    // (`thread_local!`), and which part do all threads share?
}

impl Timing {
    /// `clock` returns the time, and never goes back. `log` must be called once, when the pool has run its
    /// last task.
    ///
    /// Both closures are the caller's code, and they may ask for the summary. The closures must not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        todo!("keep the clock and the log in boxes (Box<dyn Fn() -> Millis + Send + Sync>)")
    }

    /// Returns the summary of the tasks that have ended so far. Any thread may call `summary` at any time.
    pub fn summary(&self) -> Summary {
        todo!("say what has been counted so far")
    }
}

// The pool calls these hooks on its own threads. `before_execute`, the task and `after_execute` run on the
// same thread, one after the other, before the next task of that thread. Other threads may call the hooks at
// the same time. `Hooks` has more methods than these three.
impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        todo!("the task is about to begin")
    }

    /// The threads that wait for the task go on waiting until this method has returned.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        todo!("the task has ended")
    }

    fn terminated(&self) {
        todo!("the pool has run its last task")
    }
}
