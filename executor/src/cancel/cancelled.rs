//! The error that a cancellation point returns when the task was asked to stop.

use std::error::Error;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;

use super::reason::CancelReason;

/// The error of a task that was asked to stop.
///
/// A cancellation point returns this error, and `?` passes it out of the task's body.
/// [`reason`](Self::reason) tells why the task was asked to stop. The constant [`Cancelled`](const@Cancelled)
/// has no reason: a task that stops without a request returns `Err(Cancelled)`. All values of this type are
/// equal, even if their reasons differ.
///
/// If task A waits for task B, there are two cases. If B was asked to stop, B is *cancelled*; if A was asked
/// to stop, A's wait is *interrupted*. So [`JoinError`](crate::JoinError) and similar errors have a variant
/// `Cancelled` and a variant `Interrupted`.
///
/// ```
/// use executor::{CancelToken, Cancelled};
///
/// fn step(token: &CancelToken) -> Result<u32, Cancelled> {
///     token.check()?;
///     Ok(1)
/// }
///
/// let token = CancelToken::new();
/// assert_eq!(step(&token), Ok(1));
/// token.cancel_because("the user pressed Esc");
/// assert_eq!(step(&token), Err(Cancelled)); // equal, whatever the reason is
/// ```
#[derive(Clone)]
pub struct Cancelled {
    reason: Option<CancelReason>,
}

/// A [`struct@Cancelled`] without a reason, for a task that stops without a request.
///
/// ```
/// use executor::{Cancelled, FutureTask, TaskState};
///
/// let FutureTask { task, handle } = FutureTask::cancellable(|_token| Err::<u32, _>(Cancelled));
/// task.run();
/// assert_eq!(handle.state(), TaskState::Cancelled);
/// ```
#[allow(non_upper_case_globals)] // written like the value of a struct without fields
pub const Cancelled: Cancelled = Cancelled { reason: None };

impl Cancelled {
    pub(crate) fn because(reason: Option<CancelReason>) -> Self {
        Self { reason }
    }

    /// Returns why the task was asked to stop. Returns `None` if the task stopped without a request.
    ///
    /// ```
    /// let token = executor::CancelToken::new();
    /// token.cancel_because("the disk is full");
    /// let cancelled = token.check().unwrap_err();
    /// assert_eq!(cancelled.reason().and_then(|reason| reason.message()), Some("the disk is full"));
    /// assert!(executor::Cancelled.reason().is_none());
    /// ```
    pub fn reason(&self) -> Option<&CancelReason> {
        self.reason.as_ref()
    }

    /// Takes the `Cancelled` out of an I/O error. If a cancellation ends an I/O operation early, the
    /// operation returns an error that contains a `Cancelled`. An example is a read from a
    /// [`CancellableStream`](crate::CancellableStream).
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
    /// Fails with `error` itself if `error` does not contain a `Cancelled`.
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
        match &self.reason {
            Some(reason) if reason.says_more() => write!(f, "({reason})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was cancelled")?;
        match &self.reason {
            Some(reason) if reason.says_more() => write!(f, ": {reason}"),
            _ => Ok(()),
        }
    }
}

impl Error for Cancelled {}

/// The I/O error has the kind `Other`, not `Interrupted`, because callers repeat an operation that fails with
/// `Interrupted`.
impl From<Cancelled> for io::Error {
    fn from(cancelled: Cancelled) -> Self {
        Self::other(cancelled)
    }
}

/// Does the same as [`Cancelled::from_io`], in a form that
/// [`FutureTask::fallible`](crate::FutureTask::fallible) can use.
impl TryFrom<io::Error> for Cancelled {
    type Error = io::Error;

    fn try_from(error: io::Error) -> Result<Self, io::Error> {
        Self::from_io(error)
    }
}

/// Takes a `Cancelled` out of the boxed error. The box may also contain an [`io::Error`] that contains the
/// `Cancelled`.
impl TryFrom<Box<dyn Error + Send + Sync>> for Cancelled {
    type Error = Box<dyn Error + Send + Sync>;

    fn try_from(error: Box<dyn Error + Send + Sync>) -> Result<Self, Self::Error> {
        let error = match error.downcast::<Self>() {
            Ok(cancelled) => return Ok(*cancelled),
            Err(error) => error.downcast::<io::Error>()?,
        };
        Self::from_io(*error).map_err(Into::into)
    }
}
