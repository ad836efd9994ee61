//! A series of runs as its owner holds it: ask for the next run, change, pause and end it, wait for its end.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, call_outside, interrupted};
use crate::handle::{Promise, SharedHandle, SharedJoinError};
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Duration, Instant, Mutex, Weak};
use crate::waiting::error::{CutShort, WaitError};

/// What a series runs, again and again. It is given the series, so that it can change or end it.
pub(super) type SeriesBody = Box<dyn FnMut(&Series) + Send>;

/// Why a series has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeriesEnd {
    /// It was [cancelled](Series::cancel).
    Cancelled,
    /// Its executor was shut down.
    Shutdown,
    /// A run has panicked, and [`AfterPanic::Stop`](crate::AfterPanic::Stop) was agreed.
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

/// What a series asks of the executor that has it.
pub(super) trait Planner: Send + Sync {
    /// A run is about to begin. False if it is not to.
    fn begin(&self, series: TaskId, run: u64) -> bool;

    /// A run has ended, or will not begin.
    fn ended(&self, series: &Arc<SeriesShared>, run: u64, panic: Option<&Panic>);

    /// Has it no longer run. False if it had ended.
    fn remove(&self, series: TaskId) -> bool;

    fn pause(&self, series: TaskId) -> bool;

    fn resume(&self, series: TaskId);

    fn set_period(&self, series: TaskId, period: Duration);

    fn next_run(&self, series: TaskId) -> Option<Instant>;

    fn is_paused(&self, series: TaskId) -> bool;
}

/// What a series and its runs share.
pub(super) struct SeriesShared {
    pub(super) id: TaskId,
    pub(super) name: Option<Cow<'static, str>>,
    /// Beside the tokens of its runs. Cancelled with the series.
    pub(super) token: CancelToken,
    /// Not here while a run has it.
    pub(super) body: Mutex<Option<SeriesBody>>,
    /// Runs that have ended.
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

    /// The series has left the schedule: says why, and drops what it ran. A run that is under way drops that
    /// itself.
    pub(super) fn finish(&self, end: SeriesEnd) {
        let _ = self.end.complete(end); // refused only if it has ended before
        self.drop_body();
    }

    /// The same, and asks a run that is under way to stop.
    pub(super) fn call_off(&self, end: SeriesEnd) {
        let kind = if end == SeriesEnd::Shutdown { CancelKind::Shutdown } else { CancelKind::Requested };
        let callbacks = self.token.begin_cancel(&CancelReason::of(kind));
        let _ = self.end.complete(end);
        if let Some(callbacks) = callbacks {
            callbacks.run();
        }
        self.drop_body();
    }

    /// The user's `Drop` belongs to no task.
    pub(super) fn drop_body(&self) {
        let body = self.body.lock().take();
        if let Some(body) = body {
            call_outside(|| drop(body)); // it may have captured the last of another series
        }
    }
}

impl Drop for SeriesShared {
    fn drop(&mut self) {
        self.drop_body(); // of a series that was never accepted, or whose executor is gone
    }
}

/// A series of runs: asks for, changes and ends it. Clones are handles of the same series.
///
/// Dropping it changes nothing: the series goes on. It is a [`Future`] of its end.
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
/// A run may call all of this on its own series, but for [`join`](Self::join), which would wait for itself
/// for ever: a series ends no sooner than it is told to. What it changes holds for the runs after it.
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

    /// The id that all its runs have as tasks.
    pub fn id(&self) -> TaskId {
        self.inner.id
    }

    /// Its name, which its runs have, too.
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// How many runs have ended, by returning or by a panic.
    pub fn runs(&self) -> u64 {
        // Acquire: pairs with the Release in `run_body`, so that whoever counts a run sees what it did.
        self.inner.runs.load(Ordering::Acquire)
    }

    /// For when the next run is planned. `None` if it cannot be said: a run is under way or waits for a
    /// thread, the series is paused, or it has ended.
    #[doc(alias = "getDelay")]
    pub fn next_run(&self) -> Option<Instant> {
        self.inner.planner.upgrade()?.next_run(self.inner.id)
    }

    /// Changes the period (or the delay, of a series with a fixed delay).
    ///
    /// It counts from the last run: from the time for which that was planned, or from its end if the delay is
    /// fixed. If the time that follows from that has passed, the next run is due at once. The first run stays
    /// where it was planned.
    ///
    /// # Panics
    /// If it is zero and the series has a fixed rate.
    pub fn set_period(&self, period: Duration) {
        assert!(self.inner.may_be_zero || !period.is_zero(), "a fixed rate needs a period");
        if let Some(planner) = self.inner.planner.upgrade() {
            planner.set_period(self.inner.id, period);
        }
    }

    /// Keeps the series from having further runs until it is [resumed](Self::resume). A run that is under way
    /// is not disturbed. Pausing it twice is like once, and so is resuming it.
    ///
    /// A paused series has not ended: an executor whose series go on after a shutdown waits for it.
    ///
    /// Returns false if the series has ended.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn pause(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.pause(self.inner.id))
    }

    /// Lets a paused series go on. At a fixed rate, its next run is at the first tick from now: those during
    /// the pause were not missed, but not wanted. With a fixed delay, a run that would have been due during
    /// the pause is due now.
    pub fn resume(&self) {
        if let Some(planner) = self.inner.planner.upgrade() {
            planner.resume(self.inner.id);
        }
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.is_paused(self.inner.id))
    }

    /// Ends the series. It leaves the executor at once, and the [token](crate::CancelToken::current) of a run
    /// that is under way is cancelled. Returns false if it had ended before.
    ///
    /// Callbacks that the run has registered with its token are run by the calling thread.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.inner.planner.upgrade().is_some_and(|planner| planner.remove(self.inner.id))
    }

    /// Why it has ended. `None` while it has not.
    pub fn ended(&self) -> Option<SeriesEnd> {
        Some(told(self.ended.try_join()?.as_deref().ok()))
    }

    /// Waits for the end, and says why it has come. A run may still be under way then, if the series was
    /// cancelled.
    ///
    /// # Errors
    /// [`CutShort`] if the calling task was cancelled.
    ///
    /// # Blocking
    /// Blocks until the series ends, by a panic, by [`cancel`](Self::cancel) or with its executor.
    ///
    /// # Cancellation
    /// A cancellation point.
    #[doc(alias = "get")]
    pub fn join(&self) -> Result<SeriesEnd, CutShort> {
        match self.ended.join() {
            Ok(end) => Ok(told(Some(&end))),
            Err(SharedJoinError::Interrupted) => Err(CutShort::Interrupted(interrupted())),
            Err(SharedJoinError::Starved(starvation)) => Err(CutShort::Starved(starvation)),
            Err(_) => Ok(told(None)),
        }
    }

    /// The same, for `timeout` at most.
    ///
    /// # Errors
    /// [`WaitError`] if the time is up, or the calling task was cancelled.
    ///
    /// # Blocking
    /// For `timeout` at most.
    ///
    /// # Cancellation
    /// A cancellation point.
    pub fn join_timeout(&self, timeout: Duration) -> Result<SeriesEnd, WaitError> {
        match self.ended.join_timeout(timeout) {
            Ok(end) => Ok(told(Some(&end))),
            Err(SharedJoinError::Interrupted) => Err(WaitError::Interrupted),
            Err(SharedJoinError::TimedOut) => Err(WaitError::TimedOut),
            Err(SharedJoinError::Starved(starvation)) => Err(WaitError::Starved(starvation)),
            Err(_) => Ok(told(None)),
        }
    }
}

/// An end for somebody who looks at it. Without one the executor is gone.
fn told(end: Option<&SeriesEnd>) -> SeriesEnd {
    if let Some(SeriesEnd::Panicked(panic)) = end {
        panic.mark_read();
    }
    end.cloned().unwrap_or(SeriesEnd::Shutdown)
}

/// Ready when the series has ended.
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
