//! How workers come, and what happens if they do not.
//!
//! The thread factory is user code, so it is called without the lock. Meanwhile the order of events is open:
//! the worker may begin before the factory returns, or never.
//!
//! # From the order to the first task
//!
//! 1. A submitter counts the worker as *starting*, puts its task among the `first_tasks`, counts itself as
//!    `in_factory`, and lets go of the lock.
//! 2. It calls the factory with a [`Worker`], which is to be run on a new thread.
//! 3. The worker begins: it counts as *live* and takes its first task, unless another worker was quicker.
//!
//! | if | then |
//! |---|---|
//! | the factory fails | it drops the [`Worker`], which counts down *starting*; the submitter takes its task back |
//! | the factory says that it has started a thread, and the [`Worker`] is dropped later | no submitter is left to take the task back: the thread that drops the last starting worker drops the tasks that wait for one |
//! | a worker unwinds, which would be a bug of this crate | the last one orders another in its place, if tasks wait |
//!
//! # Invariants
//!
//! 1. A first task has a worker that is starting, a live worker, or a submitter that is `in_factory`. When
//!    none of them is left, it is dropped.
//! 2. A submitter takes its task back in the same step in which it stops to count as `in_factory`.
//! 3. A factory that fails is not asked again before its [`Backoff`](super::factory::Backoff) is over, if
//!    there are other threads.

use std::io;

use super::ThreadPoolExecutor;
use super::factory::Worker;
use super::shared::PoolShared;
use super::state::PoolData;
use super::worker;
use crate::cancel::{Role, enter_role};
use crate::executor::PoolState;
use crate::ids::TaskId;
use crate::panics::{contain, discard};
use crate::sync::{Arc, MutexGuard};
use crate::task::Task;

impl ThreadPoolExecutor {
    /// Starts a thread that waits for work, if there are fewer than core size. Says whether it did.
    pub fn prestart_core_thread(&self) -> bool {
        self.shared.prestart()
    }

    /// Starts all threads up to core size and returns how many it has ordered. A thread that its factory
    /// promised and that does not come is not ordered a second time.
    #[expect(clippy::must_use_candidate, reason = "most callers want the threads, not the number")]
    pub fn prestart_all_core_threads(&self) -> usize {
        (0..self.core_threads()).take_while(|_| self.shared.prestart()).count()
    }
}

/// A worker that was ordered and will not come: why, and the task that it was ordered for. The lock is held
/// since the factory has failed.
pub(super) struct NoWorker<'a> {
    // In the order in which they are dropped: the error is the factory's, or its panic, and must not be
    // dropped before the lock is free.
    pub(super) state: MutexGuard<'a, PoolData>,
    pub(super) error: io::Error,
    pub(super) task: Task,
}

impl PoolShared {
    /// Starts a worker for a task. If none comes, the task comes back, unless another worker has taken it
    /// meanwhile.
    pub(super) fn start_worker<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'_, PoolData>,
        task: Task,
    ) -> Result<(), NoWorker<'a>> {
        let id = task.id();
        state.first_tasks.push_back(task);
        let Err((error, mut state)) = self.order_worker(state, Some(id)) else { return Ok(()) };
        match state.take_first_task(id) {
            Some(task) => Err(NoWorker { state, error, task }),
            None => Ok(()),
        }
    }

    /// Has the factory start a thread, outside the lock, for a first task or for none.
    ///
    /// After a failure the lock is held. The submitter takes its task back in the same step in which it stops
    /// to be counted in `in_factory`; otherwise another thread could take that task for stranded.
    pub(super) fn order_worker<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'_, PoolData>,
        task: Option<TaskId>,
    ) -> Result<(), (io::Error, MutexGuard<'a, PoolData>)> {
        state.starting += 1;
        state.in_factory += 1;
        let factory = Arc::clone(&state.settings.factory);
        drop(state);
        self.report_kept();
        let shared = Arc::clone(self);
        let worker = Worker::new(move |comes| {
            if comes {
                worker::run(&shared, task);
            } else {
                shared.worker_does_not_come();
            }
        });
        let result = {
            let _role = enter_role(Role::Starter(self.address()));
            contain(|| factory.start(worker))
        };
        let result = result.unwrap_or_else(|panic| {
            panic.set_origin(None, self.panic_handler.clone());
            Err(io::Error::other(panic))
        });
        discard(factory); // it may have been replaced meanwhile, so this may be its end
        let mut state = self.state.lock();
        state.in_factory -= 1;
        match result {
            Ok(()) => {
                state.peak = state.peak.max(state.workers());
                self.see_to_stranded(state); // the factory may have dropped the worker already
                Ok(())
            }
            Err(error) => Err((error, state)),
        }
    }

    fn worker_does_not_come(&self) {
        let mut state = self.state.lock();
        self.inbox.close(&state); // the next submitter may have to start another
        state.starting -= 1;
        state.backoff.after_failure();
        self.started.notify_all();
        self.wake_submitter(&state); // another may be started in its place
        self.wake_worker(&mut state, 0);
        let asked = std::mem::take(&mut state.asked);
        self.see_to_stranded(state);
        self.tell_of_worker(asked);
    }

    /// A submitter whose thread does not come usually takes its task back. A factory that said it had started
    /// a thread, and drops it later, leaves nobody to do that: drops the tasks that no thread will come for.
    /// The pool does not end before they are gone.
    pub(super) fn see_to_stranded<'a>(&'a self, mut state: MutexGuard<'a, PoolData>) {
        let nobody_comes = state.workers() == 0 && state.in_factory == 0;
        if nobody_comes && !state.first_tasks.is_empty() {
            let stranded = std::mem::take(&mut state.first_tasks);
            state.dropping += 1;
            drop(state);
            drop(stranded);
            state = self.state.lock();
            state.dropping -= 1;
        }
        self.terminate_if_done(state);
    }

    /// Orders another worker if the last one has left without a look and tasks wait. The inbox is closed.
    pub(super) fn replace_last_worker(&self, state: MutexGuard<'_, PoolData>) {
        let tasks_wait = self.to_be_taken(&state) > 0;
        if let Some(shared) = self.me.upgrade()
            && (state.phase < PoolState::Stopping && state.workers() == 0 && tasks_wait)
        {
            if let Err((error, state)) = shared.order_worker(state, None) {
                shared.see_to_stranded(state);
                discard(error);
            }
        } else {
            self.see_to_stranded(state);
        }
    }

    /// Orders a worker that has no task yet. True if it comes.
    pub(super) fn start_one(&self, state: MutexGuard<'_, PoolData>) -> bool {
        let Some(shared) = self.me.upgrade() else { return false };
        match shared.order_worker(state, None) {
            Ok(()) => true,
            Err((error, state)) => {
                shared.see_to_stranded(state);
                discard(error);
                false
            }
        }
    }

    /// Starts a worker that has no task yet, if there are fewer than core size. True if one was started.
    pub(super) fn prestart(&self) -> bool {
        let state = self.state.lock();
        if state.phase != PoolState::Running || state.workers() >= state.settings.core {
            return false;
        }
        self.start_one(state)
    }
}
