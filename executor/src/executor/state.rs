//! The states of a pool's life.

use std::fmt;

/// Where a pool stands. It only ever moves to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PoolState {
    /// Accepts tasks and runs them.
    Running,
    /// Accepts no more; runs what it has.
    ShuttingDown,
    /// Accepts no more, begins no more; waits for what runs.
    Stopping,
    /// Has no threads and no tasks any more; the `terminated` hook is being called.
    Tidying,
    /// Is over.
    Terminated,
}

impl PoolState {
    /// Whether it is between running and terminated.
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
