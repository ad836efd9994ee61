//! The errors of a task without a result, and the errors of a wait through a shared handle.
//!
//! The errors of waits through a [`TaskHandle`](super::TaskHandle) give the handle back, and are defined in
//! that type's file.

use std::error::Error;
use std::fmt;

use crate::cancel::cancelled::Cancelled;
use crate::panics::Panic;
use crate::waiting::error::into_io_error;
use crate::waiting::starvation::Starvation;

/// The reason why a task has no result.
///
/// An expected failure is not a `TaskError`: a task that can fail returns a `Result`, and this `Result` is
/// the task's result.
///
/// Two `Panicked` errors are equal only if they share one [`Panic`].
///
/// ```
/// use executor::{FutureTask, TaskError};
///
/// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
/// let size = handle.shared();
/// task.run();
/// let Some(Err(TaskError::Panicked(panic))) = size.try_join() else { unreachable!() };
/// assert_eq!(panic.message(), "no such file");
/// ```
#[doc(alias = "ExecutionException")]
#[doc(alias = "CancellationException")]
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// The body panicked.
    Panicked(Panic),
    /// The task was cancelled, or was dropped without having been run. The value tells
    /// [why](Cancelled::reason). If a task was dropped without a request, there is no reason.
    Cancelled(Cancelled),
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            Self::Cancelled(cancelled) => fmt::Debug::fmt(cancelled, f),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled(cancelled) => cancelled.fmt(f),
        }
    }
}

impl Error for TaskError {}

into_io_error!(TaskError => kind Other);

/// The reason why [`SharedHandle::join`](super::SharedHandle::join) gave no result.
///
/// ```
/// use executor::{FutureTask, SharedJoinError};
/// use std::time::Duration;
///
/// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
/// let answer = handle.shared();
/// assert_eq!(answer.join_timeout(Duration::ZERO), Err(SharedJoinError::TimedOut)); // nothing runs the task
/// # drop(task);
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedJoinError {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled. The value tells [why](Cancelled::reason).
    Cancelled(Cancelled),
    /// The *waiting* task was cancelled. The awaited task goes on.
    Interrupted,
    /// The time limit has passed. The awaited task goes on.
    TimedOut,
    /// Every thread that could run the task is itself waiting.
    Starved(Starvation),
}

impl From<TaskError> for SharedJoinError {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Panicked(panic) => Self::Panicked(panic),
            TaskError::Cancelled(cancelled) => Self::Cancelled(cancelled),
        }
    }
}

impl fmt::Debug for SharedJoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            Self::Cancelled(cancelled) => fmt::Debug::fmt(cancelled, f),
            Self::Interrupted => f.write_str("Interrupted"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Starved(starvation) => f.debug_tuple("Starved").field(starvation).finish(),
        }
    }
}

impl fmt::Display for SharedJoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled(cancelled) => cancelled.fmt(f),
            Self::Interrupted => f.write_str("the waiting task was cancelled"),
            Self::TimedOut => f.write_str("the task did not finish in time"),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl Error for SharedJoinError {}

into_io_error!(SharedJoinError => SharedJoinError);
