//! What can be seen of a pool from outside.

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

/// A look at a pool: all numbers are of the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolStats {
    /// Where the pool stands.
    pub state: PoolState,
    /// Up to how many threads it starts whether or not there is room in the queue.
    pub core_threads: usize,
    /// How many threads it has at most.
    pub maximum_threads: usize,
    /// How many threads it has, including those that are just being started.
    pub threads: usize,
    /// The most threads it ever had at once.
    pub peak_threads: usize,
    /// Tasks that run now, or for which a thread is starting.
    pub active: usize,
    /// Tasks that wait for a thread.
    pub queued: usize,
    /// Tasks that a thread has taken and that have ended, in whichever way. A task that was cancelled while it waited is
    /// not among them; one that was cancelled in the moment between being taken and being begun is.
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

    /// How many of the waiting tasks have no thread that is free for them.
    ///
    /// A task that was just submitted waits for a moment even in a pool of idle threads, until one of them has woken. So
    /// `queued` says whether tasks wait, and this says whether threads are short. A server that lets idle connections
    /// keep their threads asks this.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let busy = Arc::new(Latch::new(1));
    /// for _ in 0..5 {
    ///     let until = Arc::clone(&busy);
    ///     pool.execute(move || until.wait().unwrap())?;
    /// }
    /// assert_eq!(pool.stats().backlog(), 3);
    /// busy.count_down();
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    pub fn backlog(&self) -> usize {
        let idle = self.threads.saturating_sub(self.active);
        self.queued.saturating_sub(idle)
    }
}

impl fmt::Display for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core_threads: core, maximum_threads: maximum, .. } = self;
        write!(f, "{}: {} ", self.state, self.threads)?;
        match *maximum {
            usize::MAX => write!(f, "threads (core {core}, no maximum), ")?,
            maximum if maximum == *core => write!(f, "of {maximum} threads, ")?,
            maximum => write!(f, "threads (core {core}, maximum {maximum}), ")?,
        }
        write!(f, "{} active, {} queued, ", self.active, self.queued)?;
        write!(f, "{} completed ({} panicked)", self.completed, self.panicked)
    }
}

/// A closer look: which tasks run and which wait. Prints as a list; tasks without a name appear by id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolSnapshot {
    /// The numbers.
    pub stats: PoolStats,
    /// The tasks that run, and those for which a thread is starting.
    pub running: Vec<String>,
    /// The tasks that wait, in the order in which they would be run as far as the queue tells.
    pub queued: Vec<String>,
}

impl fmt::Display for PoolSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stats)?;
        for task in &self.running {
            write!(f, "\n  running {task}")?;
        }
        for task in &self.queued {
            write!(f, "\n  queued  {task}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backlog_is_what_waits_beyond_the_idle_threads() {
        for (threads, active, queued, backlog) in
            [(2, 2, 0, 0), (2, 2, 3, 3), (2, 0, 2, 0), (2, 1, 2, 1), (4, 1, 2, 0), (0, 0, 1, 1), (1, 2, 1, 1)]
        {
            let stats = PoolStats {
                state: PoolState::Running,
                core_threads: 2,
                maximum_threads: 2,
                threads,
                peak_threads: 4,
                active,
                queued,
                completed: 0,
                panicked: 0,
            };
            assert_eq!(stats.backlog(), backlog, "{stats}");
        }
    }
}
