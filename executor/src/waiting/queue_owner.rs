//! Who watches over a queue of tasks: what a task, and a thread that waits for one, can ask of whoever owns
//! the queue.
//!
//! There are two kinds of queues. A pool's is served by threads. A *strand* is served by a task, its drain
//! task, which itself is in some queue or on some thread.

use std::collections::BTreeMap;

use super::starvation::OnStarvation;
use crate::ids::{Location, QueueId, TaskId};
use crate::panics::PanicHandler;
use crate::sync::process::{PoisonError, RwLock};
use crate::sync::{Arc, Weak, ids};
use crate::task::Task;

/// What a task with a handle can do to the queue that it is in, and what a thread asks that waits for it.
/// Called without any lock of the task's. The owner of several queues is told which is meant.
pub(crate) trait QueueOwner: Send + Sync {
    /// A task was cancelled while it was in the queue. Called once for each.
    fn cancelled_in_queue(&self, queue: QueueId);

    /// The queue itself has dropped a task that was cancelled in it. Called under the lock of the queue's
    /// owner.
    fn tombstone_dropped(&self);

    /// Takes a task out of the queue, if it is in there and not cancelled.
    fn take_out(&self, queue: QueueId, id: TaskId) -> Option<Task>;

    /// Takes all those out of its queues that are wanted and not cancelled, in the order in which they would
    /// have been run. `wanted` is asked under the lock of the queue's owner.
    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task>;

    /// A task in the queue, the drain task of a strand, has a higher priority now, which the strand tells.
    /// Where priorities do not matter there is nothing to be done. The strand is asked under the lock of the
    /// queue's owner: so of two that raise it at once, neither has the lower priority stay.
    fn raise(&self, _queue: QueueId, _id: TaskId, _priority: &dyn Fn() -> i32) {}

    /// What to call it in a report.
    fn name(&self) -> String;

    /// Who takes tasks out of the queue.
    fn served_by(self: Arc<Self>, queue: QueueId) -> ServedBy;

    /// How many tasks in the queue report to this collector.
    fn queued_of(&self, queue: QueueId, collector: usize) -> usize;
}

pub(crate) enum ServedBy {
    Threads(Arc<dyn PoolOwner>),
    /// A task, which is here.
    DrainTask(Location),
}

/// The threads that take tasks out of a pool's queue, as far as a thread asks that waits for one of these
/// tasks. What is asked is answered under the lock of `wait_graph`; what is to be done is done without it.
pub(crate) trait PoolOwner: QueueOwner {
    /// Whether no task in the queue begins before one of so many threads goes on, which wait. If so, and
    /// until it has been said, `wait_graph` is told when a task comes.
    fn waits_for_threads(&self, waiting: usize) -> bool;

    /// What is to be done for its threads when they starve.
    fn on_starvation(&self) -> OnStarvation;

    /// Whether there are fewer threads than the maximum, and one could be started now.
    fn may_grow(&self) -> bool;

    /// Starts a thread if there are fewer than the maximum. True if one was started.
    fn start_another(&self) -> bool;

    /// Starts a thread beyond the maximum, if that is allowed.
    fn start_spare(&self) -> bool;

    /// One of the threads beyond the maximum is not needed any more.
    fn dismiss_spare(&self);

    /// Takes the task out of the queue that would be next.
    fn take_next(&self) -> Option<Task>;

    /// Runs a task of this queue on the calling thread.
    fn help(&self, task: Task);

    /// One of its threads is told that it starves.
    fn has_starved(&self);

    fn panic_handler(&self) -> Option<Arc<dyn PanicHandler>>;
}

/// All queue owners there are. It is asked only when a task that waits is cancelled or taken out.
static OWNERS: RwLock<BTreeMap<QueueId, Weak<dyn QueueOwner>>> = RwLock::new(BTreeMap::new());

impl QueueId {
    /// The queue owner, if it is there still.
    pub(crate) fn owner(self) -> Option<Arc<dyn QueueOwner>> {
        let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
        owners.get(&self.of_all_lanes())?.upgrade()
    }

    /// The pool whose queue it is, if it is a pool's.
    pub(crate) fn pool(self) -> Option<Arc<dyn PoolOwner>> {
        match self.owner()?.served_by(self) {
            ServedBy::Threads(pool) => Some(pool),
            ServedBy::DrainTask(_) => None,
        }
    }
}

/// The entry of a queue owner in the list of all. It is taken off the list when this is dropped.
pub(crate) struct QueueRegistration(QueueId);

impl QueueRegistration {
    pub(crate) fn new<W: QueueOwner + 'static>(owner: &Weak<W>) -> Self {
        static LAST: ids::AtomicU64 = ids::AtomicU64::new(0);
        let number = LAST.fetch_add(1, ids::Ordering::Relaxed) + 1;
        let id = QueueId::of_owner(number);
        let owner = Weak::clone(owner) as Weak<dyn QueueOwner>;
        OWNERS.write().unwrap_or_else(PoisonError::into_inner).insert(id, owner);
        Self(id)
    }

    #[inline]
    pub(crate) fn id(&self) -> QueueId {
        self.0
    }
}

impl Drop for QueueRegistration {
    fn drop(&mut self) {
        let owner = OWNERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        drop(owner); // when the list is free
    }
}
