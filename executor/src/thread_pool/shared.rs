//! What a pool and its workers share, and what can be asked of it from outside.

use super::PoolState;
use super::hooks::Hooks;
use super::inbox::Inbox;
use super::state::{Seat, State, ask};
use super::stats::{PoolSnapshot, PoolStats};
use crate::cancel::CancelToken;
use crate::latch::Latch;
use crate::panics::{self, PanicHandler, contain};
use crate::queue::WorkQueue;
use crate::sync::atomic::{AtomicIsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use crate::task::{Outcome, QueueWatcher, Task, TaskId, TaskLabel};

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    /// Tasks that were accepted and are not in the state's queue yet.
    pub(super) inbox: Inbox,
    /// There is something for a worker to see to: a task, a changed size, the pool's end.
    pub(super) work: Condvar,
    /// A worker that was being started has begun, or will not come.
    pub(super) started: Condvar,
    pub(super) terminated: Latch,
    /// Above the tokens of all the tasks that run here.
    pub(super) root: CancelToken,
    pub(super) hooks: Box<dyn Hooks>,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
    pub(super) threads_first: bool,
    /// As in the state: what drops a task in the queue may hold the lock already.
    pub(super) dropped_tombstones: Arc<AtomicIsize>,
    /// This, for the tasks in the queue, which tell it when they are cancelled.
    pub(super) me: Weak<Shared>,
}

impl Shared {
    /// The state, with all that was accepted so far in its queue.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        self.empty_inbox(&mut state);
        state
    }

    /// Takes the next task, as [`State::take`] does, also out of the inbox.
    #[inline]
    pub(super) fn take(&self, state: &mut State, cancelled: &mut Vec<Task>) -> Option<Task> {
        state.take(cancelled).or_else(|| {
            self.empty_inbox(state);
            state.take(cancelled)
        })
    }

    /// Moves what is in the inbox into the queue.
    pub(super) fn empty_inbox(&self, state: &mut State) {
        if let Some(queue) = state.queue.as_fifo() {
            state.tombstones += self.inbox.empty_into(queue);
        }
    }

    /// The same, and makes submitters come to the state again. True if the queue has tasks now.
    pub(super) fn close_inbox(&self, state: &mut State) -> bool {
        let Some(queue) = state.queue.as_fifo() else { return false };
        state.tombstones += self.inbox.close_into(queue);
        !queue.is_empty()
    }

    /// Runs a refused task on the calling thread. It is no task of the pool's, so no hook is called and nothing counted,
    /// but a panic in it that nobody reads is reported where the submitter expects it.
    pub(super) fn run_here(&self, task: Task) {
        let label = task.label();
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
            }
        });
    }

    /// Calls user code; a panic in it is reported and goes no further.
    pub(super) fn call_hook(&self, call: impl FnOnce(&dyn Hooks)) {
        if let Err(panic) = contain(|| call(&*self.hooks)) {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Reports panics of the queue.
    pub(super) fn report_kept(&self) {
        for panic in panics::take_kept() {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    pub(super) fn stats(&self) -> PoolStats {
        let stats = self.lock().stats();
        self.report_kept();
        stats
    }

    pub(super) fn queued(&self) -> usize {
        let queued = self.lock().queued();
        self.report_kept();
        queued
    }

    pub(super) fn is_shutdown(&self) -> bool {
        self.state.lock().phase > PoolState::Running
    }

    pub(super) fn take_next_queued(&self) -> Option<Task> {
        let mut cancelled = Vec::new();
        let task = self.lock().take_queued(&mut cancelled);
        drop(cancelled);
        self.report_kept();
        task
    }

    pub(super) fn remove(&self, id: TaskId) -> Option<Task> {
        let mut state = self.lock();
        let removed = ask(|| state.queue.remove_if(&mut |task| task.id() == id));
        let Some(task) = removed.unwrap_or_default().pop() else {
            drop(state);
            self.report_kept();
            return None;
        };
        let was_cancelled = state.leave_queue(&task);
        state.wake_submitter();
        drop(state);
        (!was_cancelled).then_some(task)
    }

    pub(super) fn purge(&self) {
        let removed = self.lock().purge();
        drop(removed);
        self.report_kept();
    }

    pub(super) fn snapshot(&self) -> PoolSnapshot {
        let state = self.lock();
        let running = state.seats.iter().filter_map(|seat| match seat {
            Seat::Running(task) => Some(task.clone()),
            _ => None,
        });
        let mut running: Vec<_> = running.chain(state.handed.iter().map(Task::label)).collect();
        running.sort_by_key(TaskLabel::id); // tasks of one submitter in the order in which it made them
        let running = running.iter().map(ToString::to_string).collect();
        let mut queued = Vec::new();
        let mut look = |task: &Task| {
            if !task.is_cancelled() {
                queued.push(task.label().to_string());
            }
        };
        ask(|| state.queue.for_each(&mut look));
        let snapshot = PoolSnapshot { stats: state.stats(), running, queued };
        drop(state);
        self.report_kept();
        snapshot
    }
}

impl QueueWatcher for Shared {
    fn tombstone_dropped(&self) {
        self.dropped_tombstones.fetch_add(1, Ordering::Relaxed);
    }

    fn take_out(&self, id: TaskId) -> Option<Task> {
        self.remove(id)
    }

    fn cancelled_in_queue(&self) {
        let mut state = self.lock();
        state.tombstones += 1;
        state.wake_submitter();
        // What is left of a cancelled task is small, but a queue that is never reached would keep it for ever. Clearing
        // up when half of the queue is dead costs each of them a constant share.
        let dead = state.dead();
        if dead >= 32 && dead * 2 >= state.length() {
            let removed = state.purge();
            drop(state);
            drop(removed);
            self.report_kept();
        }
    }
}
