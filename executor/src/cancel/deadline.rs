//! Deadlines: tokens that are cancelled when their time is up.

use std::collections::BTreeSet;

use super::reason::{CancelKind, CancelReason};
use super::tree::{Callbacks, CancelToken};
use crate::panics::UserCode;
use crate::sync::{Arc, Duration, Instant};
use crate::time;

impl CancelToken {
    /// Makes a child token that is cancelled after `timeout`, unless the child is cancelled earlier by
    /// another request.
    ///
    /// If the timeout cancels the child, the child's [reason](Self::reason) has the kind
    /// [`CancelKind::Deadline`]. The timeout is measured from this call, even if the work begins later. The
    /// deadlines of the child's ancestors limit the child, too. With a `timeout` of zero, the child is
    /// cancelled from the start. A `timeout` beyond the range of the clock, such as [`Duration::MAX`], sets
    /// no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{CancelKind, CancelToken};
    ///
    /// let query = CancelToken::current().with_timeout(Duration::from_millis(10));
    /// let cancelled = query.sleep(Duration::from_secs(3600)).unwrap_err();
    /// assert_eq!(cancelled.reason().unwrap().kind(), CancelKind::Deadline);
    /// ```
    ///
    /// # What it costs
    ///
    /// A deadline needs no thread of its own. One timer thread watches the deadlines of all tokens; the first
    /// token with a deadline starts the timer thread. When a token is dropped or cancelled before its
    /// deadline, the timer's entry for this token is freed. When a deadline passes, the callbacks of
    /// [`on_cancel`](Self::on_cancel) run on the timer thread, and meanwhile another thread watches the other
    /// deadlines. So a callback that takes a long time delays only other callbacks of the same deadline. If
    /// the system cannot start another thread, some tokens are cancelled late: the library cancels them when
    /// it can start a thread for a later deadline.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        self.with_limit(Instant::now().checked_add(timeout))
    }

    /// Makes a child that is cancelled at `deadline`. If the deadline has passed, the child is cancelled from
    /// the start. A deadline costs as much as the time limit of [`with_timeout`](Self::with_timeout).
    ///
    /// Use a deadline for several steps that share one time limit: the second step gets only the time that
    /// remains after the first step.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use executor::CancelToken;
    ///
    /// let budget = CancelToken::new().with_deadline(Instant::now() + Duration::from_secs(60));
    /// assert!(budget.check().is_ok());
    /// ```
    #[cfg(not(any(feature = "loom", feature = "shuttle")))] // a model has a clock of its own
    pub fn with_deadline(&self, deadline: Instant) -> Self {
        self.with_limit(Some(deadline))
    }

    fn with_limit(&self, deadline: Option<Instant>) -> Self {
        let child = self.child();
        let Some(deadline) = deadline else { return child };
        if deadline <= Instant::now() {
            child.cancel_because(CancelReason::of(CancelKind::Deadline));
        } else if !child.is_cancelled() {
            child.cancel_at(deadline);
        }
        child
    }

    /// Returns whether this token or one of its ancestors has a deadline or a time limit.
    pub(crate) fn has_deadline(&self) -> bool {
        let (mut seen, mut to_see) = (BTreeSet::new(), vec![self]); // no recursion: chains can be long
        while let Some(token) = to_see.pop() {
            let state = token.node.state.lock();
            if state.deadline.is_some() || state.is_limited {
                return true;
            }
            drop(state);
            if seen.insert(Arc::as_ptr(&token.node)) {
                to_see.extend(token.node.parents());
            }
        }
        false
    }

    /// Remembers that a timer will cancel the task of this token.
    pub(crate) fn note_time_limit(&self) {
        self.if_live(|state| state.is_limited = true);
    }

    fn cancel_at(&self, deadline: Instant) {
        let node = Arc::downgrade(&self.node); // the timer keeps no token alive
        let mut entry = Some(time::at(deadline, move || {
            let callbacks =
                Self { node: node.upgrade()? }.begin_cancel(&CancelReason::of(CancelKind::Deadline))?;
            Some(callbacks).filter(|callbacks| !callbacks.are_none()).map(later)
        }));
        // If the token was cancelled in the meantime, the timer's entry is dropped here.
        self.if_live(|state| state.deadline = entry.take());
    }
}

fn later(callbacks: Callbacks) -> UserCode {
    Box::new(move || callbacks.run())
}
