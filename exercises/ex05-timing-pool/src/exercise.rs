//! A pool that times its tasks: hooks that count them, add up the time they take, and log it at the pool's
//! end.
//!
//! This is the only file to edit. `cargo test -p ex05-timing-pool` checks it.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;

use executor::{Hooks, Outcome, TaskId, TaskInfo};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, thread_local};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// The number and the times of the tasks that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many tasks have ended.
    pub tasks: u64,
    /// How long these tasks took together.
    pub total: Millis,
}

impl Summary {
    /// How many milliseconds a task took on average; `None` if there was no task.
    pub fn mean(&self) -> Option<f64> {
        todo!("divide the total by the number of tasks, if it can be done")
    }
}

/// Counts and times the tasks of one pool, as its hooks.
pub struct Timing {
    // What is kept from one call to another? Which part belongs to a thread (`thread_local!`), and which to
    // all threads?
}

impl Timing {
    /// `clock` says what time it is, and never goes back. `log` must be called once, when the pool has run
    /// its last task.
    ///
    /// Both are foreign code: they may ask for the summary. They do not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        todo!("keep the clock and the log in boxes (Box<dyn Fn() -> Millis + Send + Sync>)")
    }

    /// The summary of the tasks that have ended so far. Any thread may ask at any time.
    pub fn summary(&self) -> Summary {
        todo!("say what has been counted so far")
    }
}

// The pool calls these on its own threads. `before_execute`, the task and `after_execute` are on the same
// thread, and then comes the next task; other threads do the same at the same time. `Hooks` has more methods
// than these three.
impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        todo!("the task is about to begin")
    }

    /// A thread that waits for the task goes on only after this.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        todo!("the task has ended")
    }

    fn terminated(&self) {
        todo!("the pool has run its last task")
    }
}
