//! Stopping a pool that one does not own: by a handle, or by a token that the pool hangs on.
//!
//! Whoever owns a pool ends it. But a signal handler, a hook or one of the pool's own tasks may have to, too,
//! and an `Arc` of the pool in such a place keeps it alive for ever: the pool owns the hook, and the hook the
//! pool. A [`Stopper`] refers to the pool without owning it.
//!
//! A service that consists of several pools is ended at one place if all of them hang on one token
//! ([`ThreadPoolBuilder::cancel_token`](super::ThreadPoolBuilder::cancel_token)). The pool's root, which is
//! above the tokens of all its tasks, is a child of that token, so a cancel reaches the running tasks first,
//! as it reaches every token below; a callback at the token then does what `shutdown_now` does, and drops
//! what that hands back.
//!
//! # Invariants
//!
//! 1. Neither a stopper nor the callback owns the pool.
//! 2. The callback is taken back when the pool is over, so a token that lives on remembers no pool that does
//!    not.

use std::fmt;

use super::ThreadPoolExecutor;
use super::shared::PoolShared;
use crate::cancel::CancelToken;
use crate::executor::PoolState;
use crate::panics::discard;
use crate::sync::{Duration, Weak};
use crate::task::Task;

/// Stops a [`ThreadPoolExecutor`] without owning it: for hooks, signal handlers and the pool's own tasks.
///
/// It does not keep the pool alive, and a pool that is gone counts as terminated. Clones stop the same pool.
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
    /// A handle that can stop the pool and does not keep it alive.
    pub fn stopper(&self) -> Stopper {
        Stopper { pool: self.shared.me.clone() }
    }
}

impl Stopper {
    /// As [`ExecutorService::shutdown`](crate::ExecutorService::shutdown). Does nothing if the pool is gone.
    pub fn shutdown(&self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.shutdown();
        }
    }

    /// As [`ExecutorService::shutdown_now`](crate::ExecutorService::shutdown_now). Empty if the pool is gone.
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    pub fn shutdown_now(&self) -> Vec<Task> {
        self.pool.upgrade().map(|pool| pool.shutdown_now()).unwrap_or_default()
    }

    /// Whether the pool was shut down, in whichever way, or is gone.
    pub fn is_shutdown(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_shutdown())
    }

    /// Whether the pool was shut down and its last task and thread are gone.
    pub fn is_terminated(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_terminated())
    }

    /// As [`ExecutorService::await_termination`](crate::ExecutorService::await_termination): waits for
    /// `timeout` at most, is a cancellation point, and does not keep the pool from ending meanwhile.
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
    /// Has the pool stopped when `token`, the parent of its root, is cancelled.
    pub(super) fn hang_on(&self, token: &CancelToken) {
        let pool = self.me.clone();
        let registration = token.on_cancel(move || {
            let never_begun = pool.upgrade().map(|pool| pool.shutdown_now()).unwrap_or_default();
            never_begun.into_iter().for_each(discard);
        });
        *self.owner_token.lock() = Some(registration);
    }
}
