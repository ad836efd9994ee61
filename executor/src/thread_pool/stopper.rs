//! Two ways to stop a pool without owning it: a handle, and a token above the pool's root token.
//!
//! Usually the owner of a pool ends it. Sometimes a signal handler, a hook or one of the pool's own tasks
//! must do so. If a hook had an `Arc` of the pool, the pool and the hook would own each other, and would
//! never be dropped. A [`Stopper`] refers to the pool without owning it.
//!
//! One token can end a service of several pools: see
//! [`ThreadPoolBuilder::cancel_token`](super::ThreadPoolBuilder::cancel_token).
//!
//! # Invariants
//!
//! 1. Neither a stopper nor the callback of the token owns the pool.
//! 2. The callback is unregistered when the pool is terminated. So a token that exists for longer than the
//!    pool does not keep the pool's memory allocated.

use std::fmt;

use super::ThreadPoolExecutor;
use super::shared::PoolShared;
use crate::cancel::CancelToken;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::executor::PoolState;
use crate::panics::{contain, discard};
use crate::sync::{Duration, Weak};
use crate::task::Task;

/// Stops a [`ThreadPoolExecutor`] without owning it: for hooks, signal handlers and the pool's own tasks.
///
/// A pool that was dropped and whose threads have left counts as terminated. All clones of a stopper
/// stop the same pool.
///
/// ```
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let stopper = pool.stopper();
/// pool.execute(move || {
///     // … the work is done, or can never be done …
///     stopper.shutdown();
/// })?;
/// pool.close();
/// # Ok::<(), executor::RejectedExecution>(())
/// ```
#[derive(Clone)]
pub struct Stopper {
    pool: Weak<PoolShared>,
}

impl ThreadPoolExecutor {
    /// Returns a handle that can stop the pool and does not keep it alive.
    pub fn stopper(&self) -> Stopper {
        Stopper { pool: self.shared.me.clone() }
    }
}

impl Stopper {
    /// Shuts the pool down: see [`ExecutorService::shutdown`](crate::ExecutorService::shutdown). Does nothing
    /// if the pool was dropped and has ended.
    pub fn shutdown(&self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.shutdown();
        }
    }

    /// Stops the pool and returns the tasks that have not begun: see
    /// [`ExecutorService::shutdown_now`](crate::ExecutorService::shutdown_now). Returns no task if the pool
    /// was dropped and has ended.
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    pub fn shutdown_now(&self) -> Vec<Task> {
        self.pool.upgrade().map(|pool| pool.shutdown_now()).unwrap_or_default()
    }

    /// Returns whether the pool was shut down or stopped, or has ended.
    pub fn is_shutdown(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_shutdown())
    }

    /// Returns whether the pool was shut down and its last task and its last thread have ended.
    pub fn is_terminated(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_terminated())
    }

    /// Waits at most `timeout` for the pool's end: see
    /// [`ExecutorService::await_termination`](crate::ExecutorService::await_termination). It is a
    /// cancellation point. The wait does not keep the pool from ending.
    pub fn await_termination(&self, timeout: Duration) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.await_termination(timeout))
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.pool.upgrade().map(|pool| pool.state.lock().phase);
        f.debug_struct("Stopper").field("pool", &phase.unwrap_or(PoolState::Terminated)).finish()
    }
}

impl PoolShared {
    /// Registers a callback that stops the pool when `token`, the parent of its root token, is cancelled.
    pub(super) fn hang_on(&self, token: &CancelToken) {
        let pool = self.me.clone();
        let registration = token.on_cancel(move || {
            let Some(pool) = pool.upgrade() else { return };
            for task in pool.shutdown_now() {
                // The reason of the token, and not the shutdown: the running tasks see the same reason.
                let reason = pool.root.reason().unwrap_or(CancelReason::of(CancelKind::Shutdown));
                discard(contain(|| task.drop_because(reason)));
            }
        });
        *self.owner_token.lock() = Some(registration);
    }
}
