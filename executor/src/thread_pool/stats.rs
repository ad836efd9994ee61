//! What can be seen of a pool from outside.

use std::fmt;

/// Where a pool stands. It only ever moves to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PoolState {
    /// Accepts tasks and runs them.
    Running,
    /// Accepts no more; runs what it has.
    ShuttingDown,
    /// Accepts no more, begins no more; waits for what runs.
    Stopping,
    /// Has no threads and no tasks any more.
    Terminated,
}

impl fmt::Display for PoolState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::ShuttingDown => "shutting down",
            Self::Stopping => "stopping",
            Self::Terminated => "terminated",
        })
    }
}

/// A look at a pool: all numbers are of the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Where the pool stands.
    pub state: PoolState,
    /// How many threads it is meant to have.
    pub core_pool_size: usize,
    /// How many threads it has.
    pub pool_size: usize,
    /// The most threads it ever had at once.
    pub largest_pool_size: usize,
    /// Tasks that run now.
    pub active: usize,
    /// Tasks that wait for a thread.
    pub queued: usize,
    /// Tasks that have ended, in whichever way.
    pub completed: u64,
    /// Those of them that panicked.
    pub panicked: u64,
}

impl PoolStats {
    /// All tasks accepted so far and not cancelled while they waited: waiting, running and ended.
    #[doc(alias = "getTaskCount")]
    pub fn task_count(&self) -> u64 {
        self.queued as u64 + self.active as u64 + self.completed
    }
}

impl fmt::Display for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} threads, {} active, {} queued, {} completed ({} panicked)",
            self.state,
            self.pool_size,
            self.core_pool_size,
            self.active,
            self.queued,
            self.completed,
            self.panicked
        )
    }
}
