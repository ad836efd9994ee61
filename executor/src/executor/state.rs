//! The states of a pool's life cycle.

use std::fmt;

/// The state of a pool. A pool passes through the states in this order. It may skip a state, and never
/// returns to an earlier state.
///
/// ```
/// use executor::{PoolState, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(1);
/// assert_eq!(pool.stats().state, PoolState::Running);
/// pool.close();
/// assert_eq!(pool.stats().state, PoolState::Terminated);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PoolState {
    /// The pool accepts tasks and runs them.
    Running,
    /// The pool accepts no more tasks, but runs the accepted tasks.
    ShuttingDown,
    /// The pool accepts no more tasks and begins no more tasks; it waits until the running tasks end.
    Stopping,
    /// The pool has no threads and no tasks any more; it calls the `terminated` hook.
    Tidying,
    /// The pool has ended.
    Terminated,
}

impl PoolState {
    /// Returns whether the pool has been shut down and has not terminated yet.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// pool.execute(|| std::thread::sleep(std::time::Duration::from_millis(10)))?;
    /// assert!(!pool.stats().state.is_terminating());
    /// pool.shutdown();
    /// // A health check answers "draining" now, until the pool is terminated.
    /// assert!(pool.stats().state.is_terminating() || pool.is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_terminating(self) -> bool {
        self > Self::Running && self < Self::Terminated
    }
}

impl fmt::Display for PoolState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::ShuttingDown => "shutting down",
            Self::Stopping => "stopping",
            Self::Tidying => "tidying up",
            Self::Terminated => "terminated",
        })
    }
}
