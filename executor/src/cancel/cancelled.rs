//! The error that a cancellation point returns when the task was asked to stop.

use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;

use super::reason::CancelReason;

/// The error of a task that was asked to stop.
///
/// A cancellation point returns it, so that `?` carries the request out of the task's body.
/// [`reason`](Self::reason) tells why. A task that gives up of its own accord returns `Err(Cancelled)`:
/// `Cancelled` is also the name of a value without a reason. All values are equal, whatever their reasons.
///
/// Where the outcome of *another* task is at stake, two words keep the two tasks apart: the awaited task is
/// *cancelled*, the waiting task's wait is *interrupted*. So [`JoinError`](crate::JoinError) and the errors
/// like it have a variant `Cancelled` and a variant `Interrupted`.
#[derive(Clone)]
pub struct Cancelled {
    reason: Option<CancelReason>,
}

/// A [`struct@Cancelled`] without a reason: a task that gives up of its own accord returns it.
#[allow(non_upper_case_globals)] // written like the value of a struct without fields
pub const Cancelled: Cancelled = Cancelled { reason: None };

impl Cancelled {
    pub(crate) fn because(reason: Option<CancelReason>) -> Self {
        Self { reason }
    }

    /// Returns why the task was asked to stop. `None` if it gave up of its own accord.
    pub fn reason(&self) -> Option<&CancelReason> {
        self.reason.as_ref()
    }

    /// Takes the `Cancelled` out of the error of an input or output operation that was cut short, such as a
    /// read from a [`CancellableStream`](crate::CancellableStream).
    ///
    /// ```
    /// use std::io;
    /// use executor::Cancelled;
    ///
    /// let error = io::Error::from(Cancelled);
    /// assert!(Cancelled::from_io(error).is_ok());
    /// ```
    ///
    /// # Errors
    /// Gives the error back if it is another one.
    pub fn from_io(error: io::Error) -> Result<Self, io::Error> {
        error.downcast()
    }
}

impl PartialEq for Cancelled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cancelled {}

impl Hash for Cancelled {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cancelled")?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, "({reason})"))
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was cancelled")?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl Error for Cancelled {}

/// The error has the kind `Other`: a caller that meets the kind `Interrupted` would try again.
impl From<Cancelled> for io::Error {
    fn from(cancelled: Cancelled) -> Self {
        Self::other(cancelled)
    }
}
