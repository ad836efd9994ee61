//! Queue owners: the executors that own queues. A task in a queue calls the owner of the queue, and a thread
//! that waits for the task calls the owner, too.
//!
//! There are two kinds of queues. A pool's own threads serve the queue of the pool: they take tasks out of the
//! queue. A *strand* is served by one task, the drain task. The drain task itself is in a queue, or runs on a
//! thread.

use std::collections::BTreeMap;

use super::pool_dump::PoolDump;
use super::starvation::OnStarvation;
use crate::cancel::reason::CancelKind;
use crate::ids::{Location, QueueId, TaskId};
use crate::panics::{PanicHandler, UserCode};
use crate::sync::process::{PoisonError, RwLock};
use crate::sync::{Arc, Weak, ids};
use crate::task::Task;

/// The owner of one or several queues. A task in a queue calls the owner, and a thread that waits for the
/// task calls the owner, too. The caller holds no lock of the task. The argument `queue` says which queue of
/// the owner is meant.
pub(crate) trait QueueOwner: Send + Sync {
    /// Tells the owner that a task was cancelled while it was in the queue. `by` is the kind of party that
    /// has cancelled the task. The method is called once for each cancelled task. The canceller runs the
    /// returned user code after it has released the waiters of the task.
    fn cancelled_in_queue(self: Arc<Self>, queue: QueueId, by: CancelKind) -> Option<UserCode>;

    /// Tells the owner that the queue itself has dropped a cancelled task. The method is called under the lock
    /// of the owner.
    fn tombstone_dropped(&self);

    /// Takes this task out of the queue, if the task is in the queue and not cancelled.
    fn take_out(&self, queue: QueueId, id: TaskId) -> Option<Task>;

    /// Takes all tasks for which `wanted` returns true, except cancelled tasks, out of the owner's queues.
    /// Returns the tasks in the order in which they would have been run. `wanted` is called under the lock of
    /// the queue's owner.
    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task>;

    /// Raises the priority of a drain task in the queue to the value that `priority` returns. `priority` is
    /// called under the lock of the queue's owner. So if two threads raise the task at the same time, the
    /// task keeps the higher priority. The default does nothing, which is correct for queues in which
    /// priorities do not matter.
    fn raise(&self, _queue: QueueId, _id: TaskId, _priority: &dyn Fn() -> i32) {}

    /// Returns the name that a report gives to the owner.
    fn name(&self) -> String;

    /// Returns the threads, or the drain task, that take tasks out of the queue.
    fn served_by(self: Arc<Self>, queue: QueueId) -> ServedBy;

    /// Returns the description of a pool with threads of its own, or `None` for any other owner. The method
    /// never waits long for a lock, because user code may hang while it holds the lock.
    fn dumped(&self) -> Option<PoolDump> {
        None
    }

    /// Returns the number of tasks in the queue that report to this collector.
    fn queued_of(&self, queue: QueueId, collector: usize) -> usize;
}

pub(crate) enum ServedBy {
    Threads(Arc<dyn PoolOwner>),
    /// A drain task. The field is the present location of the drain task.
    DrainTask(Location),
}

/// A pool that owns a queue, as seen by a thread that waits for a task in that queue. The methods that only
/// return facts are called under the lock of `wait_graph`. The methods that change something are called
/// without that lock.
pub(crate) trait PoolOwner: QueueOwner {
    /// Returns true if no task in the queue can begin before a waiting thread goes on. `waiting` is the
    /// number of the pool's threads that wait. A pool that returns true notifies `wait_graph` of the next
    /// task.
    fn waits_for_threads(&self, waiting: usize) -> bool;

    /// Returns the setting of the pool for waits that can never end.
    fn on_starvation(&self) -> OnStarvation;

    /// Returns whether the pool has fewer threads than its maximum, and could start a thread now.
    fn may_grow(&self) -> bool;

    /// Starts a thread if the pool has fewer threads than its maximum. Returns true if a thread was
    /// started.
    fn start_another(&self) -> bool;

    /// Starts a thread beyond the maximum, if the pool allows that. Returns true if a thread was
    /// started.
    fn start_spare(&self) -> bool;

    /// Tells the pool that one of the threads beyond its maximum is no longer needed.
    fn dismiss_spare(&self);

    /// Takes the next task out of the queue.
    fn take_next(&self) -> Option<Task>;

    /// Runs a task of this queue on the calling thread.
    fn help(&self, task: Task);

    /// Tells the pool that a wait of one of its threads ends with a `Starvation`.
    fn has_starved(&self);

    fn panic_handler(&self) -> Option<Arc<dyn PanicHandler>>;
}

/// All queue owners: a map from the id of an owner's first queue to that owner. This map is read when a
/// queued task is cancelled, taken out or raised, and when `wait_graph` looks for the owner of a queue.
static OWNERS: RwLock<BTreeMap<QueueId, Weak<dyn QueueOwner>>> = RwLock::new(BTreeMap::new());

/// Returns all queue owners, the oldest first, each with the id of its first queue. The caller must hold no
/// lock when it drops the owners, because this drop may destroy an owner.
pub(crate) fn all_owners() -> Vec<(QueueId, Arc<dyn QueueOwner>)> {
    let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
    owners.iter().filter_map(|(&id, owner)| Some((id, owner.upgrade()?))).collect()
}

impl QueueId {
    /// Returns the owner of this queue, if it still exists.
    pub(crate) fn owner(self) -> Option<Arc<dyn QueueOwner>> {
        let owners = OWNERS.read().unwrap_or_else(PoisonError::into_inner);
        owners.get(&self.of_all_lanes())?.upgrade()
    }

    /// Returns the pool that owns this queue, if threads serve the queue.
    pub(crate) fn pool(self) -> Option<Arc<dyn PoolOwner>> {
        match self.owner()?.served_by(self) {
            ServedBy::Threads(pool) => Some(pool),
            ServedBy::DrainTask(_) => None,
        }
    }
}

/// The entry of a queue owner in `OWNERS`. Dropping this value removes the entry.
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
        drop(owner); // after the lock was released
    }
}
