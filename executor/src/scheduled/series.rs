//! The handle of a series of runs. Through the handle a caller can inspect, change, pause and end the series,
//! and can wait for its end.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, call_outside};
use crate::handle::{Promise, SharedHandle, SharedJoinError};
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Duration, Instant, Mutex, Weak};
use crate::waiting::error::{CutShort, WaitError};
use crate::waiting::wait::cut_short;

/// The closure that a series runs again and again. The argument is the series itself, so the closure can
/// change or end the series.
pub(super) type SeriesBody = Box<dyn FnMut(&Series) + Send>;

/// The reason why a series has ended.
///
/// ```
/// use executor::{ScheduledThreadPoolExecutor, SeriesEnd, prelude::*};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
/// pool.shutdown();
/// assert_eq!(backup.join()?, SeriesEnd::Shutdown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeriesEnd {
    /// The series was [cancelled](Series::cancel).
    Cancelled,
    /// The executor of the series was shut down.
    Shutdown,
    /// A run has panicked, and the series was set to [`AfterPanic::Stop`](crate::AfterPanic::Stop).
    Panicked(Panic),
}

impl fmt::Display for SeriesEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the series was cancelled"),
            Self::Shutdown => f.write_str("the executor of the series was shut down"),
            Self::Panicked(panic) => write!(f, "a run of the series panicked: {}", panic.message()),
        }
    }
}

/// The calls that a series makes to its executor.
pub(super) trait Planner: Send + Sync {
    /// Notes that a run is about to begin. Returns false if the run must not begin.
    fn begin(&self, series: TaskId, run: u64) -> bool;

    /// Notes that a run has ended, or that it will not begin.
    fn ended(&self, series: &Arc<SeriesShared>, run: u64, panic: Option<&Panic>);

    /// Ends the series: it has no more runs. Returns false if the series had ended before.
    fn remove(&self, series: TaskId) -> bool;

    fn pause(&self, series: TaskId) -> bool;

    fn resume(&self, series: TaskId);

    fn set_period(&self, series: TaskId, period: Duration);

    fn next_run(&self, series: TaskId) -> Option<Instant>;

    fn is_paused(&self, series: TaskId) -> bool;
}

/// The state that a series and its runs share.
pub(super) struct SeriesShared {
    pub(super) id: TaskId,
    pub(super) name: Option<Cow<'static, str>>,
    /// The token of the series: the tokens of its runs are children of this token. If the series is
    /// cancelled, this token is cancelled.
    pub(super) token: CancelToken,
    /// The closure to run; `None` while a run uses it.
    pub(super) body: Mutex<Option<SeriesBody>>,
    pub(super) runs: AtomicU64,
    end: Promise<SeriesEnd>,
    ended: SharedHandle<SeriesEnd>,
    pub(super) planner: Weak<dyn Planner>,
    pub(super) may_be_zero: bool,
}

impl SeriesShared {
    pub(super) fn new(
        name: Option<Cow<'static, str>>,
        body: SeriesBody,
        planner: Weak<dyn Planner>,
        may_be_zero: bool,
    ) -> Arc<Self> {
        let (end, ended) = Promise::new();
        Arc::new(Self {
            id: TaskId::next(),
            name,
            token: CancelToken::new(),
            body: Mutex::new(Some(body)),
            runs: AtomicU64::new(0),
            end,
            ended: ended.shared(),
            planner,
            may_be_zero,
        })
    }

    /// Ends a series that has left the schedule: publishes the reason, and drops the body. If a run is under
    /// way, that run owns the body and drops it.
    pub(super) fn finish(&self, end: SeriesEnd) {
        let _ = self.end.complete(end); // refused only if the series has ended before
        self.drop_body();
    }

    /// Ends the series as [`finish`](Self::finish) does, and asks a run that is under way to stop.
    pub(super) fn call_off(&self, end: SeriesEnd) {
        let kind = if end == SeriesEnd::Shutdown { CancelKind::Shutdown } else { CancelKind::Requested };
        let callbacks = self.token.begin_cancel(&CancelReason::of(kind));
        let _ = self.end.complete(end);
        if let Some(callbacks) = callbacks {
            callbacks.run();
        }
        self.drop_body();
    }

    /// Drops the body, unless a run has it. The `Drop` of the user's closure runs outside any task.
    pub(super) fn drop_body(&self) {
        let body = self.body.lock().take();
        if let Some(body) = body {
            call_outside(|| drop(body)); // the body may have captured the last handle of another series
        }
    }
}

impl Drop for SeriesShared {
    fn drop(&mut self) {
        self.drop_body(); // the series was never accepted, or its executor is gone
    }
}

/// The handle of a series of runs, with which a caller inspects, changes and ends the series. All clones of a
/// handle refer to one series.
///
/// Dropping the handle changes nothing: the series goes on. The handle is a [`Future`] that is ready when the
/// series has ended.
///
/// ```
/// use executor::{ScheduledThreadPoolExecutor, SeriesEnd};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let mut left = 3;
/// let countdown = pool.schedule_with_fixed_delay(Duration::ZERO, Duration::from_millis(1), move |series| {
///     println!("{left}");
///     left -= 1;
///     if left == 0 {
///         series.cancel();
///     }
/// })?;
/// assert_eq!(countdown.join()?, SeriesEnd::Cancelled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # From within
/// A run may call all methods on its own series except [`join`](Self::join). In a run, that call would wait
/// for the end of the series, but the series cannot end before the run has returned. If a run changes the
/// series, the change applies to the later runs.
#[doc(alias = "TimerTask")]
#[derive(Clone)]
#[doc(alias = "ScheduledFuture")]
#[doc(alias = "RunnableScheduledFuture")]
pub struct Series {
    inner: Arc<SeriesShared>,
    ended: SharedHandle<SeriesEnd>,
}

impl Series {
    pub(super) fn of(inner: &Arc<SeriesShared>) -> Self {
        Self { inner: Arc::clone(inner), ended: inner.ended.clone() }
    }

    /// Returns the id of the series. All runs of the series have this id.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// let another = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert_eq!(backup.id(), backup.clone().id());
    /// assert_ne!(backup.id(), another.id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn id(&self) -> TaskId {
        self.inner.id
    }

    /// Returns the name of the series. All runs of the series have this name.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).named("backup").at_fixed_rate(Duration::from_secs(60))?;
    /// assert_eq!(backup.name(), Some("backup"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// Returns the number of runs that have returned or panicked.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three_times = |series: &executor::Series| {
    ///     if series.runs() == 2 {
    ///         series.cancel(); // this is the third run
    ///     }
    /// };
    /// let series = pool.series(three_times).at_fixed_rate(Duration::from_millis(1))?;
    /// series.join()?;
    /// assert!(series.runs() >= 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn runs(&self) -> u64 {
        // Acquire: pairs with the Release in `run_body`. So a caller that sees the new count also sees what
        // the counted run did.
        self.inner.runs.load(Ordering::Acquire)
    }

    /// Returns the planned time of the next run. Returns `None` while a run is under way or
    /// waits for a thread, while the series is paused, and after the end of the series.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::{Duration, Instant};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let hour = Duration::from_secs(3600);
    /// let backup = pool.series(|_| ()).first_after(hour).at_fixed_rate(hour)?;
    /// assert!(backup.next_run().expect("it waits") > Instant::now());
    /// backup.cancel();
    /// assert_eq!(backup.next_run(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getDelay")]
    pub fn next_run(&self) -> Option<Instant> {
        self.inner.planner.upgrade()?.next_run(self.inner.id)
    }

    /// Changes the period of a series at a fixed rate, or the delay of a series with a fixed delay.
    ///
    /// At a fixed rate, the new period begins at the planned time of the last run. With a fixed delay,
    /// the new delay begins at the end of the last run. If the new time of the next run has passed, the next run
    /// is due at once. The time of the first run does not change.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three = Arc::new(Latch::new(3));
    /// let run = Arc::clone(&three);
    /// let poll = pool.series(move |_| run.count_down()).at_fixed_rate(Duration::from_secs(3600))?;
    /// poll.set_period(Duration::from_millis(1)); // often, while a client looks at the page
    /// three.wait()?;
    /// assert!(poll.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `period` is zero and the series has a fixed rate.
    pub fn set_period(&self, period: Duration) {
        assert!(self.inner.may_be_zero || !period.is_zero(), "a fixed rate needs a period");
        if let Some(planner) = self.inner.planner.upgrade() {
            planner.set_period(self.inner.id, period);
        }
    }

    /// Pauses the series: no further run begins until the series is [resumed](Self::resume). A run that is
    /// under way is not disturbed. A second call has no further effect.
    ///
    /// A paused series has not ended. If series go on after a shutdown, the executor waits for the paused
    /// series, too.
    ///
    /// Returns false if the series has ended.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert!(backup.pause());
    /// backup.cancel();
    /// assert!(!backup.pause()); // the series has ended
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn pause(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.pause(self.inner.id))
    }

    /// Resumes the series if it is paused; otherwise has no effect. A series at a fixed rate runs next at its
    /// first tick after the call: the ticks during the pause do not count as missed. If a run of a series
    /// with a fixed delay became due during the pause, this run is due now.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let two = Arc::new(Latch::new(2));
    /// let run = Arc::clone(&two);
    /// let poll = pool.series(move |series| {
    ///     run.count_down();
    ///     series.pause(); // until another thread resumes the series
    /// });
    /// let poll = poll.with_fixed_delay(Duration::ZERO)?;
    /// while two.wait_timeout(Duration::from_millis(1)).is_err() {
    ///     poll.resume();
    /// }
    /// assert!(poll.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume(&self) {
        if let Some(planner) = self.inner.planner.upgrade() {
            planner.resume(self.inner.id);
        }
    }

    /// Returns whether the series is paused.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// backup.pause();
    /// assert!(backup.is_paused()); // the status page says so
    /// backup.resume();
    /// assert!(!backup.is_paused());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_paused(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.is_paused(self.inner.id))
    }

    /// Ends the series. The series leaves the executor at once, and the [token](crate::CancelToken::current)
    /// of a run that is under way is cancelled. Returns false if the series had ended before.
    ///
    /// The calling thread runs the callbacks that the run has registered with the run's token.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, SeriesEnd};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert!(backup.cancel());
    /// assert_eq!(backup.ended(), Some(SeriesEnd::Cancelled));
    /// assert!(!backup.cancel()); // the series had ended
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.remove(self.inner.id))
    }

    /// Returns the reason why the series has ended, or `None` if the series has not ended.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, SeriesEnd};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert_eq!(backup.ended(), None);
    /// backup.cancel();
    /// assert_eq!(backup.ended(), Some(SeriesEnd::Cancelled));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ended(&self) -> Option<SeriesEnd> {
        Some(told(self.ended.try_join()?.as_deref().ok()))
    }

    /// Waits until the series has ended, and returns the reason. If the series was cancelled, one of its runs
    /// may still be under way when the call returns.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, SeriesEnd};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let once = pool.series(|series| drop(series.cancel())).at_fixed_rate(Duration::from_secs(60))?;
    /// assert_eq!(once.join()?, SeriesEnd::Cancelled);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CutShort`] if the calling task was cancelled.
    ///
    /// # Blocking
    /// Blocks until a run panics and so ends the series, or until the series is cancelled or its executor ends.
    ///
    /// # Cancellation
    /// A cancellation point.
    #[doc(alias = "get")]
    pub fn join(&self) -> Result<SeriesEnd, CutShort> {
        joined(self.ended.join()).map_err(cut_short)
    }

    /// Waits until the series has ended, for `timeout` at most, and returns the reason.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, WaitError};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert!(matches!(backup.join_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WaitError`] if the time is up, or the calling task was cancelled.
    ///
    /// # Blocking
    /// Blocks until the series ends, for `timeout` at most.
    ///
    /// # Cancellation
    /// A cancellation point.
    pub fn join_timeout(&self, timeout: Duration) -> Result<SeriesEnd, WaitError> {
        joined(self.ended.join_timeout(timeout))
    }
}

/// Turns the result of a join into the end of the series, or into the reason why the wait was cut short.
fn joined(end: Result<Arc<SeriesEnd>, SharedJoinError>) -> Result<SeriesEnd, WaitError> {
    match end {
        Ok(end) => Ok(told(Some(&end))),
        Err(SharedJoinError::Interrupted) => Err(WaitError::Interrupted),
        Err(SharedJoinError::TimedOut) => Err(WaitError::TimedOut),
        Err(SharedJoinError::Starved(starvation)) => Err(WaitError::Starved(starvation)),
        Err(_) => Ok(told(None)),
    }
}

/// Returns to a caller the reason why the series has ended, and marks the panic in this reason as read.
/// `None` means that the executor was dropped; in that case the series ended by a shutdown.
fn told(end: Option<&SeriesEnd>) -> SeriesEnd {
    if let Some(SeriesEnd::Panicked(panic)) = end {
        panic.mark_read();
    }
    end.cloned().unwrap_or(SeriesEnd::Shutdown)
}

/// A future that is ready when the series has ended.
impl Future for Series {
    type Output = SeriesEnd;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<SeriesEnd> {
        Pin::new(&mut self.ended).poll(context).map(|end| told(end.as_deref().ok()))
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Series");
        debug.field("id", &format_args!("{}", self.id()));
        if let Some(name) = self.name() {
            debug.field("name", &name);
        }
        debug.field("runs", &self.runs());
        match self.ended.try_join() {
            Some(Ok(end)) => debug.field("ended", &format_args!("{end}")),
            _ => debug.field("paused", &self.is_paused()),
        };
        debug.finish_non_exhaustive()
    }
}
