//! A task's own limits: a time limit, a deadline, or a token that cancels the task.
//!
//! [`join_or_cancel`](crate::TaskHandle::join_or_cancel) limits the wait of one caller. If the handle of a
//! task is joined late, or never, the task needs its own limit. A task's own limit is made together with the
//! task, before any executor has seen the task. So the limit works in the same way on every executor, and
//! also while the task waits in a queue. The executors do not watch the limits, because all threads of a pool
//! may be busy with tasks that take too long. The timer of the process, or the thread that cancels the token,
//! cancels the task through its cell.
//!
//! Each limit is part of an observer of the task. So the limit is removed when the task has ended or was
//! dropped.

use super::{Canceller, FutureTask};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, Registration};
use crate::panics::UserCode;
use crate::sync::{Duration, Instant, Mutex};
use crate::task::Outcome;
use crate::task::observer::TaskObserver;
use crate::time::{self, TimerEntry};

/// A time limit. The observer of a time limit: the drop of this observer removes the limit from the timer.
impl TaskObserver for Mutex<TimerEntry> {}

/// A parent of the task's token, and the registration that cancels the task when this parent is cancelled.
struct Under {
    token: CancelToken,
    canceller: Canceller,
    registration: Option<Registration>,
}

/// The token of the running task is a child of `token`. So a cancellation that marks `token` also marks the
/// task's token.
///
/// The callback of the registration runs later in this cancellation. So a body may see the mark, and may end
/// before the callback runs. Therefore the worker also looks at `token` when the body has ended: if `token`
/// was cancelled before, the task is cancelled.
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
        // The callback may be running, and may wait for the worker that has run this task. So the worker must
        // not wait for the callback.
        if let Some(registration) = self.registration.take() {
            registration.take_back();
        }
    }
}

impl<T: Send + 'static> FutureTask<T> {
    /// Gives the task a time limit: if the task has not ended after `timeout`, it is cancelled.
    ///
    /// The timeout is measured from this call, so it includes the time in the queue. When the time is up, a
    /// task that has not begun is cancelled in its queue, so its handle is finished at once. If the task is
    /// running, its token is cancelled. The [reason](crate::CancelReason) says [`CancelKind::Deadline`]. A
    /// `timeout` beyond the range of the clock, such as [`Duration::MAX`], sets no limit. If a task has
    /// several limits, the earliest limit cancels the task.
    ///
    /// The limit works on every executor. If you do not need the result, you can drop the handle: the limit
    /// stays.
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

    /// Gives the task a deadline: at this time, the task is cancelled in the same way as by
    /// [`timeout`](Self::timeout). If the deadline has passed, the task is cancelled at once and never
    /// begins.
    ///
    /// Use a deadline for several tasks that share one limit.
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
    /// Without `under`, a submitted task is independent of its submitter: see [`CancelToken`]. With
    /// `under(&CancelToken::current())`, the new task is cancelled together with the submitting task. If the
    /// task has not begun, it is cancelled in its queue. The token of the running task is a child of `token`,
    /// and also of the token of the thread that runs the task. If the token is cancelled before the body has
    /// ended, the outcome is *cancelled*, as after [`cancel`](crate::TaskHandle::cancel). A task can be put
    /// under several tokens.
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
    /// If the token is already cancelled, this call cancels the task, and the task never begins.
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

    /// Makes the timer call `when_time_is_up` at `deadline`, unless the task has ended by then.
    /// `when_time_is_up` must cancel the task, because the detector assumes that each wait for a limited task
    /// ends.
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
