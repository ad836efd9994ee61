//! The errors of waits and submissions: one type for each way in which a call can fail.
//!
//! An error gives the caller's value back, so that the caller does not lose it. An error that contains a task
//! or a handle is defined in a module that knows these types
//! ([`RejectedExecution`](crate::RejectedExecution), [`JoinError`](crate::JoinError)); the errors in this
//! module contain neither a task nor a handle. All these errors are `Send`, `Sync` and `'static`, so `?` can
//! turn them into any other error.

use std::error::Error;
use std::fmt;
use std::io;

use super::starvation::Starvation;
use crate::cancel::cancelled::Cancelled;

/// Converts an error type into `io::Error`, so that `?` works in a function that returns `io::Result`.
///
/// The error of an interrupted wait becomes a [`struct@Cancelled`] in the `io::Error`, as at any other cancellation
/// point. Any other error is stored unchanged: `io::Error::downcast` returns it. The kind is `TimedOut` after
/// a time limit, `InvalidInput` for contradictory settings, and `Other` in all other cases. The kind is never
/// `Interrupted`, because callers repeat an operation that fails with `Interrupted`.
///
/// ```text
/// into_io_error!(WaitError => WaitError); // an enum with the variants `Interrupted` and `TimedOut`
/// into_io_error!(RejectedSubmission<T> => RejectReason in reason, where T: Send + 'static); // in a field
/// into_io_error!(TaskError => kind Other); // one kind for all values
/// ```
macro_rules! into_io_error {
    ($error:ty => kind $kind:ident $(, where $($bounds:tt)*)?) => {
        impl$(<$($bounds)*>)? From<$error> for std::io::Error {
            fn from(error: $error) -> Self {
                std::io::Error::new(std::io::ErrorKind::$kind, error)
            }
        }
    };
    ($error:ty => $reason:ident $(in $field:ident)? $(, where $($bounds:tt)*)?) => {
        /// An interrupted wait becomes a [`Cancelled`](struct@crate::Cancelled), which
        /// [`from_io`](crate::Cancelled::from_io) finds. The kind is `TimedOut` after a time limit, and
        /// `Other` in all other cases.
        impl$(<$($bounds)*>)? From<$error> for std::io::Error {
            fn from(error: $error) -> Self {
                match &error$(.$field)? {
                    $reason::Interrupted { .. } => $crate::cancel::interrupted().into(),
                    $reason::TimedOut { .. } => std::io::Error::new(std::io::ErrorKind::TimedOut, error),
                    _ => std::io::Error::other(error),
                }
            }
        }
    };
}
pub(crate) use into_io_error;

/// The reason why a wait with a time limit ended before the awaited thing came.
///
/// ```
/// use executor::{Latch, WaitError};
/// use std::time::Duration;
///
/// let closed = Latch::new(1);
/// assert_eq!(closed.wait_timeout(Duration::ZERO), Err(WaitError::TimedOut));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The *waiting* task was cancelled. A wait without a time limit reports the cancellation as
    /// [`struct@Cancelled`].
    #[doc(alias = "InterruptedException")]
    Interrupted,
    /// The time limit has passed.
    TimedOut,
    /// All threads that could have ended the wait are waiting, too. A wait returns this error only if its
    /// time limit is beyond the range of the clock.
    Starved(Starvation),
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("the waiting task was cancelled"),
            Self::TimedOut => f.write_str("the wait timed out"),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl Error for WaitError {}

into_io_error!(WaitError => WaitError);

impl From<Cancelled> for WaitError {
    fn from(_: Cancelled) -> Self {
        Self::Interrupted
    }
}

/// The reason why a wait without a time limit ended before the awaited thing came.
///
/// In the body of a cancellable task, `?` turns this error into a [`struct@Cancelled`]. If the task was
/// cancelled, the `Cancelled` contains the reason of the request. The conversion drops a [`Starvation`],
/// which then goes to the panic handler.
///
/// ```
/// use executor::{CancelToken, CutShort, Semaphore};
///
/// let token = CancelToken::new();
/// token.cancel_because("the user pressed Esc");
/// let semaphore = Semaphore::new(1);
/// let Err(CutShort::Interrupted(cancelled)) = token.attach(|| semaphore.acquire()) else { unreachable!() };
/// assert_eq!(cancelled.reason().unwrap().message(), Some("the user pressed Esc"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutShort {
    /// The *waiting* task was cancelled.
    #[doc(alias = "InterruptedException")]
    Interrupted(Cancelled),
    /// All threads that could have ended the wait are waiting, too.
    Starved(Starvation),
}

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted(cancelled) => cancelled.fmt(f),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl Error for CutShort {}

impl From<Cancelled> for CutShort {
    fn from(cancelled: Cancelled) -> Self {
        Self::Interrupted(cancelled)
    }
}

impl From<CutShort> for WaitError {
    fn from(why: CutShort) -> Self {
        match why {
            CutShort::Interrupted(_) => Self::Interrupted,
            CutShort::Starved(starvation) => Self::Starved(starvation),
        }
    }
}

/// An interrupted wait becomes a [`struct@Cancelled`], which [`from_io`](Cancelled::from_io) finds.
impl From<CutShort> for io::Error {
    fn from(why: CutShort) -> Self {
        match why {
            CutShort::Interrupted(cancelled) => cancelled.into(),
            CutShort::Starved(_) => Self::other(why),
        }
    }
}

impl From<CutShort> for Cancelled {
    fn from(why: CutShort) -> Self {
        match why {
            CutShort::Interrupted(cancelled) => cancelled,
            CutShort::Starved(_) => Cancelled,
        }
    }
}

/// The reason why an executor refused a task.
///
/// ```
/// use executor::{RejectReason, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::single();
/// pool.shutdown();
/// let refused = pool.execute(|| println!("too late")).unwrap_err();
/// assert!(matches!(refused.reason, RejectReason::Shutdown));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum RejectReason {
    /// The executor was shut down.
    Shutdown,
    /// No thread was free, no further thread could be started, and the queue was full. A
    /// [`BoundedExecutor`](crate::BoundedExecutor) is saturated when it has as many unfinished tasks as its
    /// bound allows.
    Saturated,
    /// The executor was still saturated when the time limit had passed.
    TimedOut,
    /// The *submitting* task was cancelled while it waited for room.
    Interrupted,
    /// The executor was saturated, and all threads that could have made room are waiting, too.
    Starved(Starvation),
    /// The task needed a new thread, and the system or the thread factory could not start this thread.
    NoThread(io::Error),
}

impl From<WaitError> for RejectReason {
    fn from(why: WaitError) -> Self {
        match why {
            WaitError::Interrupted => Self::Interrupted,
            WaitError::TimedOut => Self::TimedOut,
            WaitError::Starved(starvation) => Self::Starved(starvation),
        }
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shutdown => f.write_str("the executor is shut down"),
            Self::Saturated => f.write_str("the executor has no room for another task"),
            Self::TimedOut => f.write_str("there was no room in time"),
            Self::Interrupted => f.write_str("the submitting task was cancelled while it waited for room"),
            Self::Starved(starvation) => starvation.fmt(f),
            Self::NoThread(error) => write!(f, "no thread could be started: {error}"),
        }
    }
}

impl Error for RejectReason {}

into_io_error!(RejectReason => RejectReason);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_can_cross_threads_and_turn_into_others() {
        fn ok<E: Error + Send + Sync + 'static>() {}
        ok::<Cancelled>();
        ok::<WaitError>();
        ok::<CutShort>();
    }
}
