//! The builder of a series.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use super::rule::{AfterPanic, MissedTicks, Pace, Rule, later};
use super::series::{Series, SeriesBody, SeriesShared};
use super::shared::ScheduledShared;
use crate::sync::{Duration, Instant, Mutex};
use crate::waiting::error::{RejectReason, into_io_error};

/// Builds a [`Series`]: see
/// [`ScheduledThreadPoolExecutor::series`](crate::ScheduledThreadPoolExecutor::series).
///
/// ```
/// use executor::{AfterPanic, MissedTicks, ScheduledThreadPoolExecutor};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let poll = pool
///     .series(|_| println!("anything new?"))
///     .named("poll")
///     .first_after(Duration::from_secs(5))
///     .missed_ticks(MissedTicks::Skip)
///     .after_panic(AfterPanic::BackOff { first: Duration::from_secs(1), most: Duration::from_secs(60) })
///     .at_fixed_rate(Duration::from_secs(10))?;
/// assert!(poll.next_run().is_some());
/// # Ok::<(), executor::RejectedSeries>(())
/// ```
#[must_use = "a series begins with `at_fixed_rate` or `with_fixed_delay`"]
pub struct SeriesBuilder<'a> {
    shared: &'a ScheduledShared,
    body: SeriesBody,
    name: Option<Cow<'static, str>>,
    first: Instant,
    missed: MissedTicks,
    after_panic: AfterPanic,
}

impl<'a> SeriesBuilder<'a> {
    pub(super) fn new(shared: &'a ScheduledShared, body: SeriesBody) -> Self {
        let (missed, after_panic) = (MissedTicks::default(), AfterPanic::default());
        Self { shared, body, name: None, first: Instant::now(), missed, after_panic }
    }

    /// Sets the name of the series and of all its runs. Default: no name.
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
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the delay from this call to the first run. Default: no delay. If the end of the delay is beyond
    /// the clock's range, the series never runs.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let hour = Duration::from_secs(3600);
    /// let backup = pool.series(|_| ()).first_after(hour).at_fixed_rate(hour)?;
    /// assert_eq!(backup.runs(), 0); // for an hour
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_after(self, delay: Duration) -> Self {
        self.first_at(later(Instant::now(), delay))
    }

    /// Sets the time of the first run. If `at` has passed, the first run is due at once.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::{Duration, Instant};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let hour = Duration::from_secs(3600);
    /// let first = Instant::now() + hour;
    /// let backup = pool.series(|_| ()).first_at(first).at_fixed_rate(hour)?;
    /// assert_eq!(backup.next_run(), Some(first));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_at(mut self, at: Instant) -> Self {
        self.first = at;
        self
    }

    /// Sets how a series at a fixed rate treats missed ticks. Default:
    /// [`MissedTicks::CatchUp`].
    ///
    /// ```
    /// use executor::{MissedTicks, ScheduledThreadPoolExecutor};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let show = pool.series(|_| println!("the newest price"));
    /// let show = show.missed_ticks(MissedTicks::Skip).at_fixed_rate(Duration::from_secs(1))?;
    /// assert!(show.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missed_ticks(mut self, what: MissedTicks) -> Self {
        self.missed = what;
        self
    }

    /// Sets how the series goes on after a run that has panicked. Default:
    /// [`AfterPanic::Stop`].
    ///
    /// ```
    /// use executor::{AfterPanic, Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let two = Arc::new(Latch::new(2));
    /// let run = Arc::clone(&two);
    /// let poll = pool.series(move |_| {
    ///     run.count_down();
    ///     panic!("the server does not answer");
    /// });
    /// let poll = poll.after_panic(AfterPanic::Continue).at_fixed_rate(Duration::from_millis(1))?;
    /// two.wait()?; // runs again
    /// assert!(poll.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after_panic(mut self, what: AfterPanic) -> Self {
        self.after_panic = what;
        self
    }

    /// Begins the series at a fixed rate, with one tick in each `period`: the first tick is the time of the
    /// first run. The runs never overlap. The series does not drift: each tick is a whole number of periods
    /// after the first tick.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three = Arc::new(Latch::new(3));
    /// let tick = Arc::clone(&three);
    /// let beat = pool.series(move |_| tick.count_down()).at_fixed_rate(Duration::from_millis(1))?;
    /// three.wait()?;
    /// assert!(beat.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSeries`] if the executor was shut down, or the thread that watches the time cannot start.
    ///
    /// # Panics
    /// Panics if `period` is zero.
    pub fn at_fixed_rate(self, period: Duration) -> Result<Series, RejectedSeries> {
        assert!(!period.is_zero(), "a fixed rate needs a period");
        self.begin(Pace::FixedRate, period)
    }

    /// Begins the series, with `delay` between the end of a run and the start of the next run.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three = Arc::new(Latch::new(3));
    /// let looked = Arc::clone(&three);
    /// // A look that takes long is not followed by several at once.
    /// let look = move |_: &_| looked.count_down();
    /// let series = pool.series(look).first_after(Duration::from_millis(1)).with_fixed_delay(Duration::from_millis(2))?;
    /// three.wait()?;
    /// series.cancel();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`at_fixed_rate`](Self::at_fixed_rate).
    pub fn with_fixed_delay(self, delay: Duration) -> Result<Series, RejectedSeries> {
        self.begin(Pace::FixedDelay, delay)
    }

    fn begin(self, pace: Pace, period: Duration) -> Result<Series, RejectedSeries> {
        let rule = Rule { pace, period, missed: self.missed, after_panic: self.after_panic, panics: 0 };
        let may_be_zero = pace == Pace::FixedDelay;
        let inner = SeriesShared::new(self.name, self.body, self.shared.planner(), may_be_zero);
        match self.shared.plan_series(self.first, rule, &inner) {
            Ok(()) => Ok(Series::of(&inner)),
            Err(reason) => {
                let body = inner.body.lock().take().expect("no run has begun");
                Err(RejectedSeries { reason, body: Box::new(Mutex::new(Some(body))) })
            }
        }
    }
}

impl fmt::Debug for SeriesBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesBuilder")
            .field("name", &self.name)
            .field("first", &self.first)
            .field("missed_ticks", &self.missed)
            .field("after_panic", &self.after_panic)
            .finish_non_exhaustive()
    }
}

/// The error of a series that the executor has refused. The error gives the closure back.
///
/// ```
/// use executor::{RejectReason, ScheduledThreadPoolExecutor, prelude::*};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// pool.shutdown();
/// let refused = pool.series(|_| ()).at_fixed_rate(Duration::from_secs(60)).unwrap_err();
/// assert!(matches!(refused.reason, RejectReason::Shutdown));
/// ```
#[must_use = "dropping it drops the closure of the series"]
pub struct RejectedSeries {
    /// The reason why the executor has refused the series.
    pub reason: RejectReason,
    body: Box<Mutex<Option<SeriesBody>>>, // never contended: the lock makes the error `Sync`
}

impl RejectedSeries {
    /// Returns the closure of the series, so that the caller can give it to another executor.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let (old, new) = (ScheduledThreadPoolExecutor::new(1), ScheduledThreadPoolExecutor::new(1));
    /// old.shutdown();
    /// let refused = old.series(|_| ()).at_fixed_rate(Duration::from_secs(60)).unwrap_err();
    /// let backup = new.series(refused.into_body()).at_fixed_rate(Duration::from_secs(60))?;
    /// assert!(backup.ended().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_body(self) -> Box<dyn FnMut(&Series) + Send> {
        self.body.lock().take().expect("it is taken once, by value")
    }
}

impl fmt::Debug for RejectedSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RejectedSeries").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl fmt::Display for RejectedSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the series was rejected: {}", self.reason)
    }
}

impl Error for RejectedSeries {}

into_io_error!(RejectedSeries => RejectReason in reason);
