//! The state of a pool: everything that changes together, behind one lock.
//!
//! ```text
//!  Running ──shutdown()──▶ ShuttingDown ──queue empty, last worker gone──▶ Tidying ──terminated()──▶ Terminated
//!     │                        │ shutdown_now()                             ▲
//!     └────shutdown_now()──────┴─────▶ Stopping ─────last worker gone───────┘
//! ```
//!
//! [`PoolState`] is the phase that the pool is in. `ending` moves it, and nothing else does.
//!
//! Whether a task may come in depends on the phase, on the number of threads and on the queue, all at one moment; so do
//! the decisions to start, to wake and to end a worker. So all of it is in one struct, [`PoolData`], and a decision is made
//! and carried out under one lock. The files below keep to one subject each, and say in their pages which fields are
//! theirs.
//!
//! The queue may be a user's own and may panic, so it is never called except through [`ask`].
//!
//! # Invariants
//!
//! 1. The phase only moves to a later one.
//! 2. `live + starting` is the number of threads of the pool. Each is counted in one of the two from the moment in which it
//!    is ordered until it has left or is known not to come.
//! 3. `idle` workers are `live`, too. While `searching`, one live worker will look at what waits before it sleeps.
//! 4. What is taken out of here to be dropped is dropped when the lock is free.

use std::collections::VecDeque;

use super::batch::{Batches, Frozen, WorkerSlots};
use super::factory::Backoff;
use super::queue::WorkQueue;
use super::settings::PoolSettings;
use crate::executor::PoolState;
use crate::ids::TaskId;
use crate::panics::{self, contain};
use crate::task::Task;
use crate::waiting::wait;

pub(super) struct PoolData {
    pub(super) phase: PoolState,
    pub(super) settings: PoolSettings,

    pub(super) queue: Box<dyn WorkQueue>,
    /// The tasks that a worker claims next, if the queue is a [`FifoQueue`](crate::FifoQueue). See `batch`.
    pub(super) batches: Batches,
    /// What each worker is doing. See `batch`.
    pub(super) worker_slots: WorkerSlots,
    /// Tasks that panicked.
    pub(super) panicked: u64,

    /// Threads that have begun and may still take a task.
    pub(super) live: usize,
    /// Threads that were ordered and have not begun. See `growth`.
    pub(super) starting: usize,
    /// The most threads there ever were.
    pub(super) peak: usize,
    /// Live workers that sleep or are about to be woken.
    pub(super) idle: usize,
    /// A worker was woken and has not looked at the queue yet, or is about to look again before it sleeps.
    pub(super) searching: bool,

    /// Tasks that wait for the thread that was ordered for them. They are taken before those in the queue.
    pub(super) first_tasks: VecDeque<Task>,
    /// Submitters inside the thread factory. Each of them sees to its own task if the thread does not come.
    pub(super) in_factory: usize,
    pub(super) backoff: Backoff,
    /// Threads that drop tasks for which no worker comes.
    pub(super) dropping: usize,

    /// Threads that wait have seen that only waiting workers are left. See `starving`.
    pub(super) relied_on: bool,
    /// Threads that wait have asked about the workers since they were last told of a change.
    pub(super) asked: bool,
    /// How many workers there may be beyond the maximum.
    pub(super) spares: usize,
    /// Waits that were ended because they never would have.
    pub(super) starved: u64,
    /// Tasks that were run by a worker on top of one that waited.
    pub(super) helped: u64,

    /// Submitters that wait for room. See `room`.
    pub(super) submitters: wait::WaitList,
}

impl PoolData {
    pub(super) fn new(queue: Box<dyn WorkQueue>, settings: PoolSettings) -> Self {
        Self {
            phase: PoolState::Running,
            settings,
            queue,
            batches: Batches::default(),
            worker_slots: WorkerSlots::default(),
            panicked: 0,
            live: 0,
            starting: 0,
            peak: 0,
            idle: 0,
            searching: false,
            first_tasks: VecDeque::new(),
            in_factory: 0,
            backoff: Backoff::default(),
            dropping: 0,
            relied_on: false,
            asked: false,
            spares: 0,
            starved: 0,
            helped: 0,
            submitters: wait::WaitList::new(),
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.live + self.starting
    }

    /// How many workers there may be.
    pub(super) fn most_workers(&self) -> usize {
        self.settings.maximum.saturating_add(self.spares)
    }

    /// Whether a worker may end because it has been idle for the keep-alive time.
    pub(super) fn may_time_out(&self) -> bool {
        self.settings.core_timeout || self.workers() > self.settings.core
    }

    /// Tasks that are in the queue, or in the batch that was made of it and not claimed yet.
    pub(super) fn unclaimed(&self) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.batches.remaining()
    }

    /// The same number at the moment at which the batch was frozen.
    pub(super) fn unclaimed_when(&self, frozen: &Frozen) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.batches.remaining_when(frozen)
    }

    /// Whether a task is in the queue, as far as the queue tells.
    pub(super) fn queue_has(&self, id: TaskId) -> bool {
        let mut found = false;
        ask(|| self.queue.for_each(&mut |task| found |= task.id() == id));
        found
    }

    /// Takes a task that waits for its thread, unless another worker has taken it.
    pub(super) fn take_first_task(&mut self, id: TaskId) -> Option<Task> {
        let index = self.first_tasks.iter().position(|task| task.id() == id)?;
        self.first_tasks.remove(index)
    }
}

/// Calls the queue, which may be a user's own. If it panics, there is no answer, and the caller reports the panic by
/// `PoolShared::report_kept` when the lock is free.
pub(super) fn ask<R>(call: impl FnOnce() -> R) -> Option<R> {
    contain(call).map_err(panics::keep).ok()
}
