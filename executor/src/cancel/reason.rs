//! Reasons: why a task was asked to stop.
//!
//! The request to stop tells a task only *that* it should stop; a log line or an error message should say
//! *why*. So the code that cancels a token stores a reason in the token. The token's descendants inherit the
//! reason, and a [`Cancelled`](struct@crate::Cancelled) error carries the reason out of the task's body.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use super::callbacks;
use crate::sync::Arc;

/// The reason why a [`CancelToken`](crate::CancelToken) was cancelled, and whether the request was made at
/// this token or at one of its ancestors.
///
/// [`CancelToken::reason`](crate::CancelToken::reason) and [`Cancelled::reason`](crate::Cancelled::reason)
/// return the reason. The first request counts: a later request does not change the reason.
///
/// ```
/// use executor::{CancelKind, CancelReason, CancelToken};
///
/// let request = CancelToken::new();
/// let query = request.child();
/// request.cancel_because(CancelReason::new("the client hung up").with_payload(499_u16));
///
/// let cancelled = query.check().unwrap_err();
/// assert_eq!(cancelled.to_string(), "the task was cancelled: the client hung up");
/// let reason = cancelled.reason().unwrap();
/// assert!(reason.is_inherited(), "only `request` was cancelled");
/// assert_eq!((reason.kind(), reason.payload::<u16>()), (CancelKind::Requested, Some(&499)));
/// ```
#[derive(Clone)]
pub struct CancelReason {
    kind: CancelKind,
    inherited: bool,
    said: Option<Arc<Said>>,
}

/// The message and the value that the canceller gave with the request.
struct Said {
    message: Option<Cow<'static, str>>,
    payload: Option<Box<dyn Any + Send + Sync>>,
}

/// The payload is a user's value. The last owner of the payload can be an outcome, a token or an error.
impl Drop for Said {
    fn drop(&mut self) {
        if let Some(payload) = self.payload.take() {
            callbacks::drop_value(payload);
        }
    }
}

/// Who asked a task to stop: a caller, a deadline or an executor.
///
/// ```
/// use executor::{CancelKind, CancelToken};
/// use std::time::Duration;
///
/// let token = CancelToken::new().with_timeout(Duration::ZERO);
/// assert_eq!(token.reason().unwrap().kind(), CancelKind::Deadline);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancelKind {
    /// A caller called `cancel` on a token or a handle.
    Requested,
    /// A deadline has passed: [`CancelToken::with_timeout`](crate::CancelToken::with_timeout).
    Deadline,
    /// An executor was stopped: [`shutdown_now`](crate::ExecutorService::shutdown_now).
    Shutdown,
}

impl CancelReason {
    /// Makes the reason of a request, with a message for human readers.
    ///
    /// ```
    /// let reason = executor::CancelReason::new("the client hung up");
    /// assert_eq!(reason.to_string(), "the client hung up");
    /// ```
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        let said = Said { message: Some(message.into()), payload: None };
        Self { said: Some(Arc::new(said)), ..Self::of(CancelKind::Requested) }
    }

    /// Adds a value of any type, for code that examines the reason. The value is dropped together with the
    /// last token or error that has this reason. The drop can happen on any thread.
    ///
    /// ```
    /// let reason = executor::CancelReason::new("too many requests").with_payload(429_u16);
    /// assert_eq!(reason.payload::<u16>(), Some(&429));
    /// ```
    pub fn with_payload(self, payload: impl Any + Send + Sync) -> Self {
        let message = self.said.and_then(|said| said.message.clone());
        let said = Said { message, payload: Some(Box::new(payload)) };
        Self { said: Some(Arc::new(said)), ..Self::of(self.kind) }
    }

    pub(crate) fn of(kind: CancelKind) -> Self {
        Self { kind, inherited: false, said: None }
    }

    /// Returns this reason, marked as not inherited. The caller may have taken the reason from another token.
    pub(crate) fn given_here(self) -> Self {
        Self { inherited: false, ..self }
    }

    /// Returns a copy of this reason for a child token, marked as inherited.
    pub(crate) fn inherited(&self) -> Self {
        Self { inherited: true, ..self.clone() }
    }

    /// Returns whether a caller, a deadline or an executor asked the task to stop.
    ///
    /// ```
    /// use executor::{CancelKind, CancelReason};
    ///
    /// assert_eq!(CancelReason::new("the client hung up").kind(), CancelKind::Requested);
    /// ```
    pub fn kind(&self) -> CancelKind {
        self.kind
    }

    /// Returns whether the request was made at an ancestor of the token. Tokens to which the token is
    /// [linked](crate::CancelToken::linked) are ancestors, too.
    ///
    /// ```
    /// let parent = executor::CancelToken::new();
    /// let child = parent.child();
    /// parent.cancel();
    /// assert!(child.reason().unwrap().is_inherited());
    /// assert!(!parent.reason().unwrap().is_inherited());
    /// ```
    pub fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Returns true if the reason has a message, or if its kind is not [`CancelKind::Requested`].
    pub(super) fn says_more(&self) -> bool {
        self.kind != CancelKind::Requested || self.message().is_some()
    }

    /// Returns the canceller's message, if there is one.
    ///
    /// ```
    /// let token = executor::CancelToken::new();
    /// token.cancel(); // without a message
    /// assert_eq!(token.reason().unwrap().message(), None);
    /// ```
    pub fn message(&self) -> Option<&str> {
        self.said.as_ref()?.message.as_deref()
    }

    /// Returns the value that the canceller gave with the request, if the value has this type.
    ///
    /// ```
    /// let reason = executor::CancelReason::new("too many requests").with_payload(429_u16);
    /// assert_eq!(reason.payload::<u16>(), Some(&429));
    /// assert_eq!(reason.payload::<String>(), None); // another type
    /// ```
    pub fn payload<T: Any>(&self) -> Option<&T> {
        self.said.as_ref()?.payload.as_ref()?.downcast_ref()
    }
}

impl From<&'static str> for CancelReason {
    fn from(message: &'static str) -> Self {
        Self::new(message)
    }
}

impl From<String> for CancelReason {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.message(), self.kind) {
            (Some(message), _) => message,
            (None, CancelKind::Requested) => "a caller has cancelled it",
            (None, CancelKind::Deadline) => "its deadline has passed",
            (None, CancelKind::Shutdown) => "its executor was shut down",
        })
    }
}

impl fmt::Debug for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelReason")
            .field("kind", &self.kind)
            .field("inherited", &self.inherited)
            .field("message", &self.message())
            .finish_non_exhaustive()
    }
}
