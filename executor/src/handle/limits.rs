//! A task's own limits: a time limit, a deadline, or a token that cancels the task.
//!
//! [`join_or_cancel`](crate::TaskHandle::join_or_cancel) limits the wait of one caller. A task whose handle
//! is joined late, or never, needs limits of its own. Such a limit is made together with the task, before any
//! executor has seen the task. So it is the same on every executor, and it also acts while the task waits in
//! a queue. No executor watches the limits: all threads of a pool may be busy with tasks that take too long.
//! The timer of the process, or the party that cancels the token, cancels the task through its cell.
//!
//! An observer of the task holds each limit. So the limit is taken back when the task has ended or was
//! dropped.

use super::{Canceller, FutureTask};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, Registration};
use crate::panics::UserCode;
use crate::sync::{Duration, Instant, Mutex};
use crate::task::Outcome;
use crate::task::observer::TaskObserver;
use crate::time::{self, TimerEntry};

/// A time limit. The drop of this observer takes the limit out of the timer.
impl TaskObserver for Mutex<TimerEntry> {}

/// A token above the task, and the registration that cancels the task when the token is cancelled.
struct Under {
    token: CancelToken,
    canceller: Canceller,
    registration: Option<Registration>,
}

/// The running task sees the token above its own token. So the task's own token is marked in the same step as
/// the token above it.
///
/// The callback of the registration comes later than that step. A body that has seen the mark may end before
/// the callback. So the worker looks at the token as well: if the cancel came before the end of the body, the
/// task is cancelled.
impl TaskObserver for Under {
    fn root(&self) -> Option<&CancelToken> {
        Some(&self.token)
    }

    fn finished(&self, _outcome: &Outcome) {
        if let Some(reason) = self.token.reason() {
            self.canceller.cancel_because(reason.inherited());
        }
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        // The callback may be running, and waiting for the worker that has run this task. So the worker must
        // not wait for the callback.
        if let Some(registration) = self.registration.take() {
            registration.take_back();
        }
    }
}

impl<T: Send + 'static> FutureTask<T> {
    /// Gives the task a time limit: if the task has not ended after `timeout`, it is cancelled.
    ///
    /// The time counts from this call. The time for which the task waits for a thread counts, too. When the
    /// time is up, a task that has not begun is cancelled in its queue, so its handle is finished at once.
    /// The token of a running task is cancelled. The [reason](crate::CancelReason) says
    /// [`CancelKind::Deadline`]. A `timeout` beyond the range of the clock, such as [`Duration::MAX`], is no
    /// limit. A task can have several limits: the first limit that is up counts.
    ///
    /// The limit works on every executor. To limit a task whose result is of no use, drop the handle.
    ///
    /// ```
    /// use executor::{CancelKind, FutureTask, JoinError, ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let sleeps = FutureTask::cancellable(|token| token.sleep(Duration::from_secs(3600)));
    /// match pool.submit(sleeps.timeout(Duration::from_millis(5)))?.join() {
    ///     Err(JoinError::Cancelled(why)) => assert_eq!(why.reason().unwrap().kind(), CancelKind::Deadline),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "orTimeout")]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with_limit(Instant::now().checked_add(timeout))
    }

    /// Gives the task a deadline, at which it is cancelled, as by [`timeout`](Self::timeout). If the deadline
    /// has passed, the task is cancelled at once and never begins.
    ///
    /// Use it for several tasks that share one limit.
    ///
    /// ```
    /// use executor::{FutureTask, TaskState};
    /// use std::time::Instant;
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 42).deadline(Instant::now());
    /// task.run();
    /// assert_eq!(handle.state(), TaskState::Cancelled);
    /// ```
    #[cfg(not(any(feature = "loom", feature = "shuttle")))] // a model has a clock of its own
    pub fn deadline(self, deadline: Instant) -> Self {
        self.with_limit(Some(deadline))
    }

    /// Puts the task under a token: when the token is cancelled, the task is cancelled.
    ///
    /// A submitted task is otherwise independent of its submitter: see [`CancelToken`]. With
    /// `under(&CancelToken::current())` the new task is cancelled together with the submitting task. A task
    /// that has not begun is cancelled in its queue. The token of the running task is a child of `token` and,
    /// as always, of the token of the thread that runs the task. If the cancel comes before the end of the
    /// body, the outcome is *cancelled*, as after [`cancel`](crate::TaskHandle::cancel). A task can be under
    /// several tokens.
    ///
    /// ```
    /// use executor::{CancelToken, FutureTask, JoinError, ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let request = CancelToken::new();
    /// let sleeps = FutureTask::cancellable(|token| token.sleep(Duration::from_secs(3600)));
    /// let query = pool.submit(sleeps.under(&request))?;
    /// request.cancel_because("the client hung up");
    /// match query.join() {
    ///     Err(JoinError::Cancelled(why)) => assert!(why.to_string().contains("the client hung up")),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cancellation
    /// If the token is cancelled already, the task is cancelled by this call and never begins.
    pub fn under(mut self, token: &CancelToken) -> Self {
        let canceller = self.handle.canceller();
        if token.has_deadline() {
            canceller.will_be_called();
        }
        let cancels = canceller.clone();
        let registration = token.on_cancel_because(move |reason| _ = cancels.cancel_because(reason));
        let registration = Some(registration);
        self.task = self.task.accompanied(Under { token: token.clone(), canceller, registration });
        self
    }

    fn with_limit(self, deadline: Option<Instant>) -> Self {
        let Some(deadline) = deadline else { return self };
        let canceller = self.handle.canceller();
        let cancel = move || _ = canceller.cancel_because(CancelReason::of(CancelKind::Deadline));
        if deadline <= Instant::now() {
            cancel();
            return self;
        }
        self.limited(deadline, cancel)
    }

    /// Makes the timer call `when_time_is_up` at `deadline`, unless the task has ended by then. The call must
    /// cancel the task, so that no detector takes a wait for the task for a wait without end.
    pub(crate) fn limited(
        mut self,
        deadline: Instant,
        when_time_is_up: impl FnOnce() + Send + 'static,
    ) -> Self {
        self.handle.canceller().will_be_called();
        let entry = time::at(deadline, || Some(Box::new(when_time_is_up) as UserCode));
        self.task = self.task.accompanied(Mutex::new(entry));
        self
    }
}
