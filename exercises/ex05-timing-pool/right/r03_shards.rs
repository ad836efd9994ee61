//! Right: four shards with a lock each. A task belongs to the shard that its id hashes to; summary() holds all four
//! locks at once, in order.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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

const SHARDS: usize = 4;

/// The tasks of this shard that run, each with its beginning, and a summary of those that have ended.
#[derive(Default)]
struct Shard {
    began: HashMap<TaskId, Millis>,
    ended: Summary,
}

/// To be given to one pool as its hooks.
pub struct Timing {
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    log: Box<dyn Fn(Summary) + Send + Sync>,
    shards: [Mutex<Shard>; SHARDS],
}

impl Timing {
    /// `clock` says what time it is, and never goes back. `log` is to be called once, when the pool has run its last task.
    ///
    /// Both are somebody else's code: they may ask for the summary. They do not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        Self { clock: Box::new(clock), log: Box::new(log), shards: std::array::from_fn(|_| Mutex::default()) }
    }

    fn shard(&self, task: TaskId) -> &Mutex<Shard> {
        let mut hasher = DefaultHasher::new(); // the same at the task's beginning and at its end
        task.hash(&mut hasher);
        &self.shards[hasher.finish() as usize % SHARDS]
    }

    /// The tasks that have ended so far. Any thread may ask at any time.
    pub fn summary(&self) -> Summary {
        // All at once: one after the other would be a time during which tasks end, and no moment.
        let shards: Vec<_> = self.shards.iter().map(|shard| shard.lock().unwrap()).collect();
        shards.iter().fold(Summary::default(), |sum, shard| Summary {
            tasks: sum.tasks + shard.ended.tasks,
            total: sum.total + shard.ended.total,
        })
    }
}

impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let now = (self.clock)();
        self.shard(task.id).lock().unwrap().began.insert(task.id, now);
    }

    /// Whoever waits for the task goes on only after this.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let now = (self.clock)();
        let mut shard = self.shard(task.id).lock().unwrap();
        if let Some(began) = shard.began.remove(&task.id) {
            shard.ended.tasks += 1;
            shard.ended.total += now - began;
        }
    }

    fn terminated(&self) {
        (self.log)(self.summary());
    }
}
