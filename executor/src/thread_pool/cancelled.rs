//! Tasks that are cancelled while they wait.
//!
//! A task that is cancelled through its handle drops its closure at once. The empty task, a *tombstone*,
//! stays in the queue: to remove it at once, the canceller would have to search the whole queue. The pool
//! does not run a tombstone. A tombstone must not count as a waiting task, and must not take another task's
//! room. So the pool counts the tombstones, and clears out many of them at once.
//!
//! # The life of a tombstone
//!
//! | when | counted by | count |
//! |---|---|---|
//! | a task was cancelled before it comes in | its submitter, by [`made`] | + 1 |
//! | a waiting task is cancelled | the canceller, by [`QueueOwner::cancelled_in_queue`] | + 1 |
//! | a tombstone is claimed or taken out of the queue | the thread that does so, by [`has_left`] | − 1 |
//! | a user's queue drops a tombstone | the queue, by [`QueueOwner::tombstone_dropped`] | − 1 |
//!
//! [`made`]: crate::task::tombstones::Tombstones::made
//! [`has_left`]: crate::task::tombstones::Tombstones::has_left
//!
//! The pool clears out the tombstones when a task finds no room, when half of the tasks in the queue are
//! tombstones, and in [`purge`](ThreadPoolExecutor::purge). A worker that takes a tombstone drops it.
//!
//! # Invariants
//!
//! 1. Each tombstone is added to the count once and subtracted once. A canceller first cancels the task and
//!    then adds one to the count. After the cancellation and before the addition, another thread may take the
//!    task out and subtract one. So the count can be below zero for a moment. While no thread is cancelling a
//!    task, the count is exact.
//! 2. Tombstones are dropped after the lock was released.

use super::ThreadPoolExecutor;
use super::hooks::TaskInfo;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::cancel::reason::CancelKind;
use crate::ids::{QueueId, TaskId};
use crate::panics::UserCode;
use crate::sync::Arc;
use crate::task::Task;
use crate::waiting::pool_dump::PoolDump;
use crate::waiting::queue_owner::{QueueOwner, ServedBy};

impl ThreadPoolExecutor {
    /// Takes a waiting task out of the queue. Returns `None` if the task is not in the queue: it runs, has
    /// ended, was cancelled, or was never submitted to this pool. The caller can run the task. If the caller
    /// drops the task, the task's handle is cancelled.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// let waiting = pool.submit(|| 6 * 7)?;
    /// let task = pool.remove(waiting.id()).expect("the task waits");
    /// task.run(); // on this thread
    /// assert_eq!(waiting.join()?, 42);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&self, id: TaskId) -> Option<Task> {
        self.shared.remove(id).map(Task::handed_out)
    }

    /// Clears out the remains of tasks that were cancelled while they waited. The pool also clears out these
    /// remains by itself, sooner or later, and the pool's counts never include these tasks. A call of this
    /// method frees the memory of the cancelled tasks at once.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// pool.submit(|| 6 * 7)?.cancel();
    /// pool.purge();
    /// assert_eq!(pool.queued(), 0);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn purge(&self) {
        self.shared.purge();
    }
}

/// Cancelled tasks that were taken out of the queue. The drop of this value reports each task to the hooks,
/// and drops the task. The thread that drops this value must not hold a lock.
pub(super) struct CancelledTasks<'a> {
    pool: &'a PoolShared,
    pub(super) tasks: Vec<Task>,
}

impl<'a> CancelledTasks<'a> {
    pub(super) fn of(pool: &'a PoolShared) -> Self {
        Self { pool, tasks: Vec::new() }
    }

    /// Reports the tasks to the hooks, and drops the tasks.
    pub(super) fn clear(&mut self) {
        self.pool.drop_cancelled(self.tasks.drain(..));
    }
}

impl Drop for CancelledTasks<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl PoolShared {
    /// Reports to the hooks that these tasks were cancelled in the queue, and drops the tasks. The caller
    /// must not hold a lock.
    pub(super) fn drop_cancelled(&self, tasks: impl IntoIterator<Item = Task>) {
        for task in tasks {
            self.tell_hooks(|hooks| {
                hooks.cancelled_in_queue(&TaskInfo::of(&task.label()), &task.why_cancelled());
            });
        }
    }

    /// Takes the next task out of the queue. Cancelled tasks that are in the queue before this task go into
    /// `cancelled`, which the caller drops outside the lock.
    #[inline]
    pub(super) fn take_queued(
        &self,
        state: &mut PoolData,
        cancelled: &mut CancelledTasks<'_>,
    ) -> Option<Task> {
        loop {
            let task = ask(|| state.queue.pop()).flatten()?;
            let was_cancelled = self.tombstones.has_left(&task);
            self.wake_submitter(state);
            if !was_cancelled {
                return Some(task);
            }
            cancelled.tasks.push(task);
        }
    }

    /// Takes the cancelled tasks out of the queue. The caller drops the tasks outside the lock. The caller
    /// has already reclaimed the batch.
    pub(super) fn clear_out(&self, state: &mut PoolData) -> Vec<Task> {
        let Some(removed) = ask(|| state.queue.remove_if(&mut Task::is_cancelled)) else { return Vec::new() };
        for task in &removed {
            self.tombstones.has_left(task);
        }
        removed
    }

    /// Takes the cancelled tasks out of the queue under the lock, and drops the tasks outside the lock.
    fn purge(&self) {
        let mut state = self.state.lock();
        self.inbox.reclaim(&mut state);
        let tasks = self.clear_out(&mut state);
        drop(state);
        self.drop_cancelled(tasks);
        self.report_kept();
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
        if was_cancelled {
            self.drop_cancelled([task]);
            return None;
        }
        Some(task)
    }
}

impl QueueOwner for PoolShared {
    fn cancelled_in_queue(self: Arc<Self>, _queue: QueueId, by: CancelKind) -> Option<UserCode> {
        let mut state = self.state.lock();
        self.tombstones.made();
        self.never_taken.cancelled(by);
        self.wake_submitter(&state);
        // Without this step, cancelled tasks that no worker reaches would pile up in the queue. The queue is
        // searched only when half of its tasks are tombstones, so the time for each tombstone is constant.
        if !self.tombstones.are_many(|| self.inbox.waiting(&state)) {
            return None;
        }
        self.inbox.reclaim(&mut state);
        let tasks = self.clear_out(&mut state);
        drop(state);
        Some(Box::new(move || {
            self.drop_cancelled(tasks);
            self.report_kept();
        }))
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
        let (tasks, taken): (Vec<_>, Vec<_>) =
            removed.into_iter().partition(|task| self.tombstones.has_left(task));
        self.wake_submitter(&state); // the submitter tells the next one when it leaves the wait list
        drop(state);
        self.drop_cancelled(tasks);
        self.report_kept();
        taken
    }

    fn raise(&self, _queue: QueueId, id: TaskId, priority: &dyn Fn() -> i32) {
        if self.inbox.in_use() {
            return; // a queue that is first in, first out ignores priorities
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

    fn dumped(&self) -> Option<PoolDump> {
        Some(self.describe())
    }

    fn queued_of(&self, _queue: QueueId, collector: usize) -> usize {
        let mut state = self.state.lock();
        self.inbox.reclaim(&mut state);
        let mut queued = 0;
        ask(|| state.queue.for_each(&mut |task| queued += usize::from(task.collector() == collector)));
        queued
    }
}
