//! Right: this answer has three atomics. A writer counts its entry, adds the time, and counts its exit. A
//! reader reads the number of exits first, and the number of entries last. If both numbers are equal, no
//! writer was active in between; otherwise the reader closes a gate that every writer must pass.
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
        (self.tasks > 0).then(|| self.total as f64 / self.tasks as f64)
    }
}

thread_local! {
    /// The time at which the task on this thread began. Each thread runs one task at a time.
    static BEGAN: Cell<Millis> = const { Cell::new(0) };
}

/// The hooks that count and time the tasks of one pool.
pub struct Timing {
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    log: Box<dyn Fn(Summary) + Send + Sync>,
    gate: Mutex<()>,
    entries: AtomicU64,
    total: AtomicU64,
    exits: AtomicU64,
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
        Self {
            clock: Box::new(clock),
            log: Box::new(log),
            gate: Mutex::default(),
            entries: AtomicU64::new(0),
            total: AtomicU64::new(0),
            exits: AtomicU64::new(0),
        }
    }

    /// Returns the summary of the tasks that have ended so far. Any thread may call `summary` at any time.
    pub fn summary(&self) -> Summary {
        // If `total` has the time of a task, the task's entry has been counted. So if the exits (read first)
        // equal the entries (read last), `total` has the times of exactly the counted tasks.
        let exits = self.exits.load(Ordering::SeqCst);
        let total = self.total.load(Ordering::SeqCst);
        if self.entries.load(Ordering::SeqCst) == exits {
            return Summary { tasks: exits, total };
        }
        let _nobody_writes = self.gate.lock().unwrap();
        Summary { tasks: self.exits.load(Ordering::SeqCst), total: self.total.load(Ordering::SeqCst) }
    }
}

impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        BEGAN.with(|began| began.set((self.clock)()));
    }

    /// The threads that wait for the task go on waiting until this method has returned.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let took = (self.clock)() - BEGAN.with(|began| began.get());
        let _nobody_else_writes = self.gate.lock().unwrap();
        self.entries.fetch_add(1, Ordering::SeqCst);
        self.total.fetch_add(took, Ordering::SeqCst);
        self.exits.fetch_add(1, Ordering::SeqCst);
    }

    fn terminated(&self) {
        (self.log)(self.summary());
    }
}
