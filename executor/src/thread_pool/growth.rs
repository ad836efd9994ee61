//! The start of workers, and what happens if a worker does not start.
//!
//! The thread factory is user code, so the pool calls it without the lock. The worker may begin before the
//! factory returns, or after that, or never.
//!
//! # From the order to the first task
//!
//! 1. A submitter counts a new worker as *starting* and itself as `in_factory`, puts its task among the
//!    `first_tasks`, and releases the lock.
//! 2. The submitter calls the factory with a [`Worker`], which the factory must run on a new thread.
//! 3. The worker begins: it counts as *live* and takes its first task, unless another worker has taken that
//!    task.
//!
//! | if | then |
//! |---|---|
//! | the factory fails | it drops the [`Worker`]: *starting* goes down; the submitter takes its task back |
//! | the [`Worker`] is dropped after the factory's `Ok` | the last such drop also drops the first tasks |
//! | a worker unwinds (a bug of this crate) | if it was the last worker and tasks wait, it requests another worker |
//!
//! # Invariants
//!
//! 1. While a first task waits, there is a starting worker, a live worker, or a submitter that is
//!    `in_factory`. If no worker and no submitter of this kind is left, the task is dropped.
//! 2. After the factory call of a submitter has failed, the pool decreases `in_factory` and returns the task
//!    to the submitter, in one step.
//! 3. While there are other threads, a factory that has failed is not called again before its
//!    [`Backoff`](super::factory::Backoff) is over.

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

impl ThreadPoolExecutor {
    /// Starts a thread that waits for tasks, if there are fewer threads than the core size. Returns true if
    /// the call has asked the factory for a thread.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// assert!(pool.prestart_core_thread());
    /// assert!(!pool.prestart_core_thread()); // the pool has all its threads
    /// ```
    #[doc(alias = "prestartCoreThread")]
    pub fn prestart_core_thread(&self) -> bool {
        let state = self.shared.state.lock();
        let is_below_core = state.workers() < state.settings.core;
        state.phase == PoolState::Running && is_below_core && self.shared.start_one(state)
    }

    /// Starts all threads up to the core size, and returns the number of threads that the call has requested.
    /// If the factory returns `Ok` and then drops the worker, the pool does not request the thread a second
    /// time.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::fixed(4);
    /// pool.prestart_core_thread();
    /// assert_eq!(pool.prestart_all_core_threads(), 3);
    /// ```
    #[doc(alias = "prestartAllCoreThreads")]
    #[expect(clippy::must_use_candidate, reason = "most callers want the threads, not the number")]
    pub fn prestart_all_core_threads(&self) -> usize {
        (0..self.core_threads()).take_while(|_| self.prestart_core_thread()).count()
    }
}

impl PoolShared {
    /// Calls the factory outside the lock, to start a thread with or without a first task.
    ///
    /// After a failure the caller holds the lock again, and no longer counts as `in_factory`. The caller must
    /// take its task back before it releases the lock, so that no other thread drops the task.
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
        discard(factory); // if it was replaced meanwhile, this drops it
        let mut state = self.state.lock();
        state.in_factory -= 1;
        match result {
            Ok(()) => {
                state.peak = state.peak.max(state.workers());
                self.see_to_stranded(state); // perhaps the factory has dropped the worker already
                Ok(())
            }
            Err(error) => Err((error, state)),
        }
    }

    fn worker_does_not_come(&self) {
        let mut state = self.state.lock();
        self.inbox.close(&state); // perhaps the next submitter must start another worker
        state.starting -= 1;
        state.backoff.after_failure();
        self.started.notify_all();
        self.wake_submitter(&state); // another worker can be started in its place
        self.wake_worker(&mut state, 0);
        let asked = std::mem::take(&mut state.asked);
        self.see_to_stranded(state);
        self.tell_of_worker(asked);
    }

    /// Drops the first tasks if no thread will take them, and then ends the pool if it was shut down and has
    /// no worker left. If the factory returns `Ok` and the worker is dropped later, the submitter has already
    /// returned and cannot take its task back. The pool does not end before the tasks are dropped.
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

    /// Requests another worker if the last worker has unwound and tasks wait. The inbox must be
    /// closed.
    pub(super) fn replace_last_worker(&self, state: MutexGuard<'_, PoolData>) {
        let tasks_wait = self.to_be_taken(&state) > 0;
        if state.phase < PoolState::Stopping && state.workers() == 0 && tasks_wait {
            self.start_one(state);
        } else {
            self.see_to_stranded(state);
        }
    }

    /// Requests a worker without a first task. Returns false if the factory fails.
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
}
