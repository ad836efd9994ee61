//! The state of a pool behind one lock: all fields that change together.
//!
//! ```text
//! Running ──shutdown()──▶ ShuttingDown ──no task, no worker left──▶ Tidying ──terminated()──▶ Terminated
//!    │                        │ shutdown_now()                        ▲
//!    └────shutdown_now()──────┴─────▶ Stopping ────no worker left─────┘
//! ```
//!
//! [`PoolState`] is the phase of the pool. Only `ending` changes it.
//!
//! When a thread accepts a task, or starts, wakes or ends a worker, it must know the phase, the number of
//! threads and the queue at one moment. So these fields are in one struct, [`PoolData`]. A thread makes a
//! decision and carries the decision out under one lock.
//!
//! The queue may be a user's own and may panic, so the pool calls it only through [`ask`].
//!
//! # Invariants
//!
//! 1. The phase only changes to a later phase, never to an earlier phase.
//! 2. `live + starting` is the number of threads of the pool. Each thread is in one of these two numbers from
//!    the moment when it is requested until it leaves, or until the pool knows that it will not start.
//! 3. `live` includes the `idle` workers. While `searching` is true, one live worker will look for a task
//!    before it sleeps.
//! 4. If a task, a queue or a setting is taken out of the state, it is dropped after the lock was released.

use std::collections::VecDeque;

use super::batch::{Batches, Frozen, WorkerSlots};
use super::factory::Backoff;
use super::failures::Failures;
use super::queue::WorkQueue;
use super::settings::PoolSettings;
use crate::executor::PoolState;
use crate::ids::TaskId;
use crate::panics::{self, contain};
use crate::task::Task;
use crate::time::Sightings;
use crate::waiting::wait;

pub(super) struct PoolData {
    pub(super) phase: PoolState,
    pub(super) settings: PoolSettings,

    pub(super) queue: Box<dyn WorkQueue>,
    /// The tasks that a worker claims next, if the queue is a [`FifoQueue`](crate::FifoQueue). See `batch`.
    pub(super) batches: Batches,
    /// The activity of each worker. See `batch`.
    pub(super) worker_slots: WorkerSlots,
    pub(super) failures: Failures,

    /// The number of worker threads that have begun and have not left.
    pub(super) live: usize,
    /// The number of worker threads that were requested and have not begun yet. See `growth`.
    pub(super) starting: usize,
    /// The largest number of worker threads that the pool has had so far.
    pub(super) peak: usize,
    /// The number of live workers that sleep, or that were woken and do not run yet.
    pub(super) idle: usize,
    /// True if a worker was woken and has not looked for a task yet, or will look again before it sleeps.
    pub(super) searching: bool,

    /// Tasks for which threads were requested, one thread for each task. A busy worker takes these tasks
    /// before tasks in the queue.
    pub(super) first_tasks: VecDeque<Task>,
    /// Submitters inside the thread factory. If the factory fails, the submitter that called the factory
    /// takes its own task back.
    pub(super) in_factory: usize,
    pub(super) backoff: Backoff,
    /// The number of threads that are dropping tasks for which no worker starts.
    pub(super) dropping: usize,

    /// True if a waiting thread relies on the answer that all workers of the pool wait. See `starving`.
    pub(super) relied_on: bool,
    /// True if a waiting thread has asked whether all workers of the pool wait. When the pool makes these
    /// threads check their waits again, it clears the flag.
    pub(super) asked: bool,
    /// The number of workers that the pool may have beyond the maximum.
    pub(super) spares: usize,
    /// The running tasks that the last dump or the last look of the watchdog has found. See `running`.
    pub(super) sightings: Sightings,
    /// The number of waits that failed because they could never have ended.
    pub(super) starved: u64,
    /// The number of tasks that a waiting thread ran on top of its own task.
    pub(super) helped: u64,

    /// The submitters that wait for room. See `room`.
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
            failures: Failures::default(),
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
            sightings: Sightings::default(),
            starved: 0,
            helped: 0,
            submitters: wait::WaitList::new(),
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.live + self.starting
    }

    /// Returns the number of workers that the pool may have.
    pub(super) fn most_workers(&self) -> usize {
        self.settings.maximum.saturating_add(self.spares)
    }

    /// Returns whether a worker may end because it has been idle for the keep-alive time.
    pub(super) fn may_time_out(&self) -> bool {
        self.settings.core_timeout || self.workers() > self.settings.core
    }

    /// Returns the number of tasks that are in the queue, or in the batch and not yet claimed.
    pub(super) fn unclaimed(&self) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.batches.remaining()
    }

    /// Returns [`unclaimed`](Self::unclaimed) as it was when the batch was frozen.
    pub(super) fn unclaimed_when(&self, frozen: &Frozen) -> usize {
        ask(|| self.queue.len()).unwrap_or(0) + self.batches.remaining_when(frozen)
    }

    /// Returns whether a task with this id is in the queue.
    pub(super) fn queue_has(&self, id: TaskId) -> bool {
        let mut found = false;
        ask(|| self.queue.for_each(&mut |task| found |= task.id() == id));
        found
    }

    /// Takes out a task for which a thread was requested. Returns `None` if a worker has taken the task
    /// already.
    pub(super) fn take_first_task(&mut self, id: TaskId) -> Option<Task> {
        let index = self.first_tasks.iter().position(|task| task.id() == id)?;
        self.first_tasks.remove(index)
    }
}

/// Calls the queue, which may be a user's own. Returns `None` if the queue panics. The caller must then
/// release the lock and call `PoolShared::report_kept`, which reports the panic.
pub(super) fn ask<R>(call: impl FnOnce() -> R) -> Option<R> {
    contain(call).map_err(panics::keep).ok()
}
