//! Who watches over a queue of tasks: what a task, and a thread that waits for one, can ask of whoever owns the queue.

use std::collections::BTreeMap;

use crate::ids::{TaskId, WatcherId};
use crate::panics::PanicHandler;
use crate::starvation::OnStarvation;
use crate::sync::process::{PoisonError, RwLock};
use crate::sync::{Arc, Weak, ids};
use crate::task::Task;

/// The threads that take tasks out of a queue, as far as a thread asks that waits for one of these tasks. What is asked is
/// answered under the lock of `wait_graph`; what is to be done is done without it.
pub(crate) trait Workforce: Send + Sync {
    /// What to call it in a report.
    fn name(&self) -> String;

    /// Whether no task in the queue begins before one of so many threads goes on, which wait. If so, and until it has been
    /// said, `wait_graph` is told when a task comes.
    fn waits_for_threads(&self, waiting: usize) -> bool;

    /// If the queue is a line that begins with a task in another queue: that one.
    fn waits_in(&self) -> Option<WatcherId> {
        None
    }

    /// Whether another thread than its own may run a task of this queue.
    fn lends_tasks(&self) -> bool {
        true
    }

    /// Whether the queue would accept a task now.
    fn has_room(&self) -> bool;

    /// How many tasks in the queue report to this collector.
    fn queued_of(&self, collector: usize) -> usize;

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

/// What a task with a handle can do to the queue that it is in. Called without any lock of the task's.
pub(crate) trait QueueWatcher: Workforce {
    /// A task was cancelled while it was in the queue. Called once for each.
    fn cancelled_in_queue(&self);

    /// The queue itself has dropped a task that was cancelled in it. Called under the lock of the queue's owner.
    fn tombstone_dropped(&self);

    /// Takes a task out of the queue, if it is in there and not cancelled.
    fn take_out(&self, id: TaskId) -> Option<Task>;

    /// Takes all those out of the queue that are wanted and not cancelled, in the order in which they would have been run.
    /// `wanted` is asked under the lock of the queue's owner.
    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task>;
}

/// All watchers there are. It is asked only when a task that waits is cancelled or taken out.
static WATCHERS: RwLock<BTreeMap<WatcherId, Weak<dyn QueueWatcher>>> = RwLock::new(BTreeMap::new());

impl WatcherId {
    /// The watcher, if it is there still.
    pub(crate) fn watcher(self) -> Option<Arc<dyn QueueWatcher>> {
        WATCHERS.read().unwrap_or_else(PoisonError::into_inner).get(&self)?.upgrade()
    }
}

/// The entry of a watcher in the list of all. It is taken off the list when this is dropped.
pub(crate) struct Watch(WatcherId);

impl Watch {
    pub(crate) fn new<W: QueueWatcher + 'static>(watcher: &Weak<W>) -> Self {
        static LAST: ids::AtomicU64 = ids::AtomicU64::new(0);
        let number = LAST.fetch_add(1, ids::Ordering::Relaxed) + 1;
        let id = WatcherId::from_number(number).expect("they are counted from one");
        let watcher = Weak::clone(watcher) as Weak<dyn QueueWatcher>;
        WATCHERS.write().unwrap_or_else(PoisonError::into_inner).insert(id, watcher);
        Self(id)
    }

    #[inline]
    pub(crate) fn id(&self) -> WatcherId {
        self.0
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let watcher = WATCHERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        drop(watcher); // when the list is free
    }
}
