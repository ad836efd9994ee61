//! Two ways to stop a pool without owning it: a handle, and a token whose cancellation stops the pool.
//!
//! Usually the owner of a pool ends the pool. Sometimes a signal handler, a hook or one of the pool's own
//! tasks must end the pool. If a hook had an `Arc` of the pool, the pool and the hook would own each other,
//! and would never be dropped. A [`Stopper`] refers to the pool without owning it.
//!
//! One token can end a service of several pools: see
//! [`ThreadPoolBuilder::cancel_token`](super::ThreadPoolBuilder::cancel_token).
//!
//! # Invariants
//!
//! 1. Neither a stopper nor the callback of the token owns the pool.
//! 2. The callback is unregistered when the pool is terminated. So a token that lives longer than the pool
//!    does not keep the pool's memory allocated.

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
/// A pool counts as terminated when it was dropped and its threads have left. All clones of a stopper
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
    /// Returns a handle that can stop the pool and does not keep the pool alive.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let stopper = pool.stopper();
    /// drop(pool); // the stopper does not keep the pool
    /// assert!(stopper.is_terminated());
    /// ```
    pub fn stopper(&self) -> Stopper {
        Stopper { pool: self.shared.me.clone() }
    }
}

impl Stopper {
    /// Shuts the pool down: see [`ExecutorService::shutdown`](crate::ExecutorService::shutdown). Does nothing
    /// if the pool was dropped and has ended.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// pool.stopper().shutdown();
    /// assert!(pool.submit(|| 6 * 7).is_err());
    /// ```
    pub fn shutdown(&self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.shutdown();
        }
    }

    /// Stops the pool and returns the tasks that have not begun: see
    /// [`ExecutorService::shutdown_now`](crate::ExecutorService::shutdown_now). Returns no task if the pool
    /// was dropped and has ended.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// # let (begun, end) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    /// # let (here, until) = (Arc::clone(&begun), Arc::clone(&end));
    /// # let keep_busy = move || { here.count_down(); drop(until.wait()); };
    /// pool.execute(keep_busy)?;
    /// # begun.wait()?;
    /// pool.execute(|| ())?;
    /// assert_eq!(pool.stopper().shutdown_now().len(), 1); // the task that has not begun
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    pub fn shutdown_now(&self) -> Vec<Task> {
        self.pool.upgrade().map(|pool| pool.shutdown_now()).unwrap_or_default()
    }

    /// Returns whether the pool was shut down or stopped, or has ended.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let stopper = pool.stopper();
    /// assert!(!stopper.is_shutdown());
    /// pool.shutdown();
    /// assert!(stopper.is_shutdown());
    /// ```
    pub fn is_shutdown(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_shutdown())
    }

    /// Returns true if the pool was shut down, and its last task and last thread have ended.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let stopper = pool.stopper();
    /// assert!(!stopper.is_terminated());
    /// pool.close();
    /// assert!(stopper.is_terminated());
    /// ```
    pub fn is_terminated(&self) -> bool {
        self.pool.upgrade().is_none_or(|pool| pool.is_terminated())
    }

    /// Waits until the pool is terminated, for `timeout` at most, and returns whether the pool is terminated:
    /// see [`ExecutorService::await_termination`](crate::ExecutorService::await_termination). A thread that
    /// waits here does not keep the pool from ending.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let stopper = pool.stopper();
    /// assert!(!stopper.await_termination(Duration::from_millis(1))); // the pool still accepts tasks
    /// stopper.shutdown();
    /// assert!(stopper.await_termination(Duration::from_secs(30)));
    /// ```
    ///
    /// # Blocking
    /// Blocks until the pool is terminated, for `timeout` at most. If a task of the pool calls this method,
    /// the call cannot succeed, because the pool cannot end before that task.
    ///
    /// # Cancellation
    /// A cancellation point: returns early if the calling task is cancelled.
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
                // The running tasks see the token's reason, so the waiting tasks get this reason, too, and
                // not `Shutdown`.
                let reason = pool.root.reason().unwrap_or(CancelReason::of(CancelKind::Shutdown));
                discard(contain(|| task.drop_because(reason)));
            }
        });
        *self.owner_token.lock() = Some(registration);
    }
}
