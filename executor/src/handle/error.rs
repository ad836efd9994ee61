//! How a task can end without a result, and how waiting for it through a shared handle can.
//!
//! The errors of a [`TaskHandle`](super::TaskHandle)'s own waits give the handle back. So they stand beside
//! it.

use std::error::Error;
use std::fmt;

use crate::cancel::cancelled::Cancelled;
use crate::panics::Panic;
use crate::waiting::starvation::Starvation;

/// Why a task has no result.
///
/// The task's own failures are not here: a task that can fail returns a `Result`, which is then its result.
///
/// Two that panicked are equal if it is the same [`Panic`].
#[doc(alias = "ExecutionException")]
#[doc(alias = "CancellationException")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// The body panicked.
    Panicked(Panic),
    /// The task was cancelled, or dropped without having been run.
    Cancelled,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl Error for TaskError {}

/// Why [`SharedHandle::join`](super::SharedHandle::join) gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedJoinError {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on.
    Interrupted,
    /// The time was up; the task waited for goes on.
    TimedOut,
    /// Every thread that could run the task waits, too.
    Starved(Starvation),
}

impl From<TaskError> for SharedJoinError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Panicked(panic) => Self::Panicked(panic),
            TaskError::Cancelled => Self::Cancelled,
        }
    }
}

impl fmt::Display for SharedJoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
            Self::Interrupted => f.write_str("the waiting task was cancelled"),
            Self::TimedOut => f.write_str("the task did not finish in time"),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl Error for SharedJoinError {}
