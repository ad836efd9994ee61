//! How a task can end, and how waiting for it can, as its handle sees it.

use std::error::Error;
use std::fmt;

use super::TaskHandle;
use crate::error::Cancelled;
use crate::panics::Panic;

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

// ANCHOR: join_error
/// Why [`TaskHandle::join`] gave no result.
///
/// It is not `PartialEq`, like all errors that give a handle back: a handle equals no other. Match on it instead, as in
/// `assert!(matches!(handle.join(), Err(JoinError::Cancelled)))`.
#[doc(alias = "ExecutionException")]
#[doc(alias = "CancellationException")]
#[doc(alias = "InterruptedException")]
#[non_exhaustive]
pub enum JoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on, and here is its handle.
    Interrupted(TaskHandle<T>),
}
// ANCHOR_END: join_error

/// Why [`TaskHandle::join_timeout`] gave no result. Not `PartialEq`, as [`JoinError`].
#[doc(alias = "TimeoutException")]
#[non_exhaustive]
pub enum JoinTimeoutError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on, and here is its handle.
    Interrupted(TaskHandle<T>),
    /// The time was up; the task waited for goes on, and here is its handle.
    TimedOut(TaskHandle<T>),
}

/// Why [`TaskHandle::try_join`] gave no result. Not `PartialEq`, as [`JoinError`].
#[non_exhaustive]
pub enum TryJoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The task is not finished; here is its handle.
    NotFinished(TaskHandle<T>),
}

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
}

/// The parts that the join errors have in common. By hand, because deriving would ask `T: Debug`.
macro_rules! join_error {
    ($name:ident<T> $(, $variant:ident => $text:literal)*) => {
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => f.debug_tuple("Panicked").field(&panic.message()).finish(),
                    Self::Cancelled => f.write_str("Cancelled"),
                    $(Self::$variant(handle) => f.debug_tuple(stringify!($variant)).field(handle).finish(),)*
                }
            }
        }

        impl<T> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => panic.fmt(f),
                    Self::Cancelled => Cancelled.fmt(f),
                    $(Self::$variant(_) => f.write_str($text),)*
                }
            }
        }

        impl<T> Error for $name<T> {}

        impl<T> From<TaskError> for $name<T> {
            fn from(error: TaskError) -> Self {
                match error {
                    TaskError::Panicked(panic) => Self::Panicked(panic),
                    TaskError::Cancelled => Self::Cancelled,
                }
            }
        }
    };
}

join_error!(JoinError<T>, Interrupted => "the waiting task was cancelled");
join_error!(JoinTimeoutError<T>,
    Interrupted => "the waiting task was cancelled",
    TimedOut => "the task did not finish in time");
join_error!(TryJoinError<T>, NotFinished => "the task is not finished");

impl<T> From<JoinError<T>> for JoinTimeoutError<T> {
    fn from(error: JoinError<T>) -> Self {
        match error {
            JoinError::Panicked(panic) => Self::Panicked(panic),
            JoinError::Cancelled => Self::Cancelled,
            JoinError::Interrupted(handle) => Self::Interrupted(handle),
        }
    }
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
        }
    }
}

impl Error for SharedJoinError {}
