//! Tasks that are cancelled while they wait.
//!
//! A task that is cancelled through its handle gives up its closure at once, wherever it is. What stays in
//! the queue is an empty shell, a *tombstone*: it will not be run, and must not count as a task that waits,
//! nor take another task's room. To search the queue for it at once would take time in proportion to the
//! queue's length for every cancel. So tombstones stay where they are, are counted, and are cleared out
//! later, many at a time.
//!
//! # The life of a tombstone
//!
//! | when | who | count |
//! |---|---|---|
//! | a task comes in and was cancelled before it could be told of its queue | its submitter, by [`made`](crate::task::tombstones::Tombstones::made) | + 1 |
//! | a task is cancelled in the inbox, the batch or the queue | the canceller, by [`QueueOwner::cancelled_in_queue`] | + 1 |
//! | it is claimed or taken out of the queue | that thread, by [`has_left`](crate::task::tombstones::Tombstones::has_left) | − 1 |
//! | a user's queue drops it | the queue, by [`QueueOwner::tombstone_dropped`] | − 1 |
//!
//! Tombstones are cleared out when a task finds no room, when half of what waits are tombstones, by
//! [`purge`](ThreadPoolExecutor::purge), and one by one as workers come upon them.
//!
//! # Invariants
//!
//! 1. Each task that waits tells the pool of its cancellation once, or finds out as it comes in; and each
//!    such task is subtracted once. A canceller adds after the task is cancelled, and the thread that takes
//!    the task out may subtract before that. So the count may be below zero for a moment, and is exact when
//!    no cancelling is under way.
//! 2. What is taken out is dropped when the lock is free.

use super::ThreadPoolExecutor;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::ids::{QueueId, TaskId};
use crate::sync::Arc;
use crate::task::Task;
use crate::waiting::queue_owner::{QueueOwner, ServedBy};

impl ThreadPoolExecutor {
    /// Takes a waiting task out of the queue. `None` if it is not there: it runs, has ended, was cancelled,
    /// or was never submitted here. The task can still be run; dropping it cancels its handle.
    pub fn remove(&self, id: TaskId) -> Option<Task> {
        self.shared.remove(id).map(Task::handed_out)
    }

    /// Clears out at once what is left of tasks that were cancelled while they waited. The pool does that by
    /// itself sooner or later, and no count includes them; this frees the memory now.
    pub fn purge(&self) {
        let mut state = self.shared.state.lock();
        self.shared.inbox.reclaim(&mut state);
        let removed = self.shared.clear_out(&mut state);
        drop(state);
        drop(removed);
        self.shared.report_kept();
    }
}

impl PoolShared {
    /// Takes the task to be run next out of the queue. Puts those that were cancelled before it into
    /// `cancelled`, to be dropped outside the lock.
    #[inline]
    pub(super) fn take_queued(&self, state: &mut PoolData, cancelled: &mut Vec<Task>) -> Option<Task> {
        loop {
            let task = ask(|| state.queue.pop()).flatten()?;
            let was_cancelled = self.tombstones.has_left(&task);
            self.wake_submitter(state);
            if !was_cancelled {
                return Some(task);
            }
            cancelled.push(task);
        }
    }

    /// Takes the cancelled tasks out of the queue, for the caller to drop outside the lock. The batch is
    /// reclaimed before.
    pub(super) fn clear_out(&self, state: &mut PoolData) -> Vec<Task> {
        let Some(removed) = ask(|| state.queue.remove_if(&mut Task::is_cancelled)) else { return Vec::new() };
        for task in &removed {
            self.tombstones.has_left(task);
        }
        removed
    }

    fn remove(&self, id: TaskId) -> Option<Task> {
        let mut state = self.state.lock();
        self.inbox.reclaim(&mut state);
        let removed = ask(|| state.queue.remove_if(&mut |task| task.id() == id));
        let Some(task) = removed.unwrap_or_default().pop() else {
            drop(state);
            self.report_kept();
            return None;
        };
        let was_cancelled = self.tombstones.has_left(&task);
        self.wake_submitter(&state);
        drop(state);
        (!was_cancelled).then_some(task)
    }
}

impl QueueOwner for PoolShared {
    fn cancelled_in_queue(&self, _queue: QueueId) {
        let mut state = self.state.lock();
        self.tombstones.made();
        self.wake_submitter(&state);
        // A tombstone is small, but in a queue that is never reached it would stay for ever. Clearing up when
        // half of the queue is tombstones costs each of them a constant share.
        if self.tombstones.are_many(|| self.inbox.waiting(&state)) {
            self.inbox.reclaim(&mut state);
            let removed = self.clear_out(&mut state);
            drop(state);
            drop(removed);
            self.report_kept();
        }
    }

    fn tombstone_dropped(&self) {
        self.tombstones.gone();
    }

    fn take_out(&self, _queue: QueueId, id: TaskId) -> Option<Task> {
        self.remove(id)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let mut state = self.state.lock();
        self.inbox.reclaim(&mut state);
        let removed = ask(|| state.queue.remove_if(&mut |task| wanted(task))).unwrap_or_default();
        let (cancelled, taken): (Vec<_>, Vec<_>) =
            removed.into_iter().partition(|task| self.tombstones.has_left(task));
        self.wake_submitter(&state); // which has the next one look when it has its room
        drop(state);
        drop(cancelled);
        self.report_kept();
        taken
    }

    fn raise(&self, _queue: QueueId, id: TaskId, priority: &dyn Fn() -> i32) {
        if self.inbox.in_use() {
            return; // first in, first out
        }
        let mut state = self.state.lock();
        ask(|| state.queue.raise(id, priority()));
        drop(state);
        self.report_kept();
    }

    fn name(&self) -> String {
        self.state.lock().settings.name.as_deref().unwrap_or("a pool without a name").to_owned()
    }

    fn served_by(self: Arc<Self>, _queue: QueueId) -> ServedBy {
        ServedBy::Threads(self)
    }

    fn queued_of(&self, _queue: QueueId, collector: usize) -> usize {
        let mut state = self.state.lock();
        self.inbox.reclaim(&mut state);
        let mut queued = 0;
        ask(|| state.queue.for_each(&mut |task| queued += usize::from(task.collector() == collector)));
        queued
    }
}
