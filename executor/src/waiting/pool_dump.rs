//! The description of one pool in a dump.
//!
//! Each kind of pool describes itself: see [`QueueOwner::dumped`](super::queue_owner::QueueOwner::dumped). A
//! dump is made when tasks hang. Perhaps a task hangs in user code, such as a comparator or a queue, while it
//! holds the lock of the pool. So a dump waits for the lock of a pool only for a short time, [`PATIENCE`].

use crate::ids::ThreadKey;
use crate::sync::Duration;
use crate::task::{Task, TaskLabel};
use crate::waiting::starvation::TaskRef;

/// The longest time for which a dump waits for one lock.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// The upper limit for the number of waiting tasks that a dump shows for one pool.
const SHOWN: usize = 20;

/// The description of one pool.
pub(crate) struct PoolDump {
    /// The kind and the name of the pool.
    pub(crate) title: String,
    /// The state of the pool and its numbers. `None` if the lock of the pool was busy; the lists are then
    /// empty.
    pub(crate) numbers: Option<String>,
    pub(crate) running: Vec<RunDump>,
    pub(crate) queued: QueuedDump,
}

/// A task that runs.
pub(crate) struct RunDump {
    /// `None` if the worker runs a computation that has no task.
    pub(crate) task: Option<TaskRef>,
    pub(crate) thread: Option<(ThreadKey, Option<String>)>,
    /// The task has run for at least this time.
    pub(crate) age: Duration,
}

/// The first few waiting tasks, in the order in which they will run, and the number of all waiting tasks.
#[derive(Default)]
pub(crate) struct QueuedDump {
    pub(crate) first: Vec<TaskRef>,
    pub(crate) in_all: usize,
}

impl QueuedDump {
    /// Adds a task to the waiting tasks, unless the task is cancelled.
    pub(crate) fn add(&mut self, task: &Task) {
        if task.is_cancelled() {
            return;
        }
        self.in_all += 1;
        if self.first.len() < SHOWN {
            self.first.push(TaskRef::of(&task.stands_for()));
        }
    }
}

impl TaskRef {
    pub(crate) fn of(label: &TaskLabel) -> Self {
        Self::new(label.id(), label.name())
    }
}
