//! Tasks that run later, and tasks that run again and again.
//!
//! A pool runs a task as soon as it can. But many tasks of a program must run at a certain time: a retry in a
//! second, a report at noon, a clean-up every minute. A *timer* is one thread that sleeps and runs the tasks
//! that are due. A timer is enough until one task takes long and delays all others, or one task panics and
//! ends the thread. In this module one thread, the *sleeper*, only watches the time, and a pool runs the
//! tasks that are due.
//!
//! ```text
//!   schedule, schedule_at, series ──▶ schedule ──the time has come: sleeper──▶ pool ──▶ worker
//!                                        ▲                                                │
//!   execute, submit ─────────────────────┼──────────────────────────────────────▶ pool    │
//!                                        └────────────── the next run of a series ◀───────┘
//! ```
//!
//! # Invariants
//!
//! 1. No task and no run of a series begins before its time. (`schedule`)
//! 2. No user code delays another deadline: the sleeper runs no user code. There is one exception: if the
//!    pool's threads were not started when tasks were planned, the sleeper calls the thread factory.
//!    (`shared`)
//! 3. Every planned task either runs, or is given back to a caller, or is dropped. If a planned task is
//!    dropped, its handle is completed as cancelled. Every series ends exactly once. (`shared`,
//!    `series_task`)
//! 4. Runs of one series never overlap. (`schedule`)

mod rule; // when a series runs next
mod schedule; // the tasks and series that are planned: a state machine without threads and clocks
mod series; // the handle of a series
mod series_task; // one run of a series as a task
mod slack; // the precision with which the system wakes the sleeper
mod shared; // the schedule with its lock, the sleeper, and how the pool gets the tasks that are due
mod planning; // the builder of a series
mod builder; // the builder of the executor
mod delayed; // tasks that go to another executor when they are due
mod limited; // tasks with a time limit that holds even if no caller waits

pub use builder::ScheduledPoolBuilder;
pub use delayed::DelayedExecutor;
pub use planning::{RejectedSeries, SeriesBuilder};
pub use rule::{AfterPanic, MissedTicks};
pub use series::{Series, SeriesEnd};

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::cancel::masked;
use crate::executor::{
    Executor, ExecutorService, PoolState, RejectedExecution, RejectedSubmission, submit_by,
};
use crate::handle::{IntoFutureTask, TaskHandle};
use crate::sync::{Arc, Duration, Instant, thread};
use crate::task::Task;
use crate::thread_pool::PoolStats;
use crate::waiting::error::RejectReason;
use rule::later;
use schedule::AfterShutdown;
use shared::ScheduledShared;

/// A pool that runs tasks later, at a certain time, or again and again.
///
/// Use a scheduled pool for all work that must run at a certain time: retries, time limits, reports,
/// clean-up. A task that is due runs on one of the pool's threads. So a long task delays no other task while
/// the pool has a free thread, and a panic ends no thread. Tasks without a time run as on any other pool.
///
/// ```
/// use executor::{ScheduledThreadPoolExecutor, prelude::*};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(2);
/// let later = pool.schedule(Duration::from_millis(5), || 6 * 7)?;
/// let ticks = pool.schedule_at_fixed_rate(Duration::ZERO, Duration::from_secs(10), |_| println!("tick"))?;
/// let at_once = pool.submit(|| "as on any pool")?;
///
/// assert_eq!(at_once.join()?, "as on any pool");
/// assert_eq!(later.join()?, 42);
/// ticks.cancel();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancellation
/// As with [`submit`](crate::ExecutorExt::submit), the token of a task or of a run is not a child of the
/// submitter's current token. Cancelling a handle cancels the task, and cancelling a [`Series`] cancels the
/// runs.
///
/// # Priorities
/// Tasks run in the order in which they become due. The [priority](Task::priority) of a task has no effect.
///
/// # Time
/// A task never runs before its time. How late a task runs depends on the system and on the pool.
/// On a machine with a free processor, the system wakes a thread some tens of microseconds late. With the
/// feature `timer-slack`, on Linux, the system wakes the thread a few microseconds late. In the pool, a task
/// that is due waits for a free thread, as all tasks do. Times are [`Instant`]s, so they do not change when
/// the system's clock is set. A task with a time beyond the range of the clock never runs. Tasks that are due
/// at the same instant are given to the pool in the order in which they were scheduled.
///
/// # Cost
/// A waiting task uses an entry in a heap, but no thread. A hundred thousand waiting tasks are no problem. A
/// cancelled task leaves the heap at once. One thread watches the time for all tasks. The thread starts with
/// the first task that has a time, and sleeps until the next task is due. So an idle executor uses no
/// processor time.
///
/// # Its end
/// After [`shutdown`](ExecutorService::shutdown) the executor accepts no more tasks, and its series end. All
/// accepted tasks still run, even the tasks that are not due yet. The [builder](ScheduledPoolBuilder) can
/// change the rules for series and for tasks that are not due. So the executor may live on until its last
/// task is due, and [`close`](ExecutorService::close) waits until the executor has ended. **The drop of the
/// executor does not wait so long**: it cancels the tasks that are not due yet, and waits for the tasks that
/// are due or run. The drop does not wait at all if one of the executor's own tasks drops the executor, or if
/// the dropping thread unwinds.
///
/// [`shutdown_now`](ExecutorService::shutdown_now) first hands out the tasks that were due and have not
/// begun. Then `shutdown_now` hands out the tasks that were not due yet, in the order of their times. Finally
/// `shutdown_now` ends the series and cancels the running tasks.
///
/// # Blocking
/// A call that waits for the end of the executor blocks until that end. Any other call blocks only while it
/// hands a few tasks to the pool. A task that joins another task keeps its thread until the other task has
/// run, even if the other task is not due yet. On a pool of one thread, a task must not join a delayed task:
/// in this case the delayed task never runs. A wait for a task that is due later is never reported as
/// [starvation](crate::Starvation).
#[doc(alias = "DelayQueue")]
#[doc(alias = "ScheduledExecutorService")]
#[doc(alias = "Timer")]
pub struct ScheduledThreadPoolExecutor {
    shared: Arc<ScheduledShared>,
    after: AfterShutdown,
}

impl ScheduledThreadPoolExecutor {
    /// Builds a scheduled pool of `threads` threads. Tasks that are due wait in a queue without a bound. No
    /// thread is started before the first task is scheduled.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(2);
    /// assert_eq!(pool.schedule(Duration::from_millis(1), || 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `threads` is zero.
    #[doc(alias = "newScheduledThreadPool")]
    #[doc(alias = "newSingleThreadScheduledExecutor")]
    pub fn new(threads: usize) -> Self {
        assert!(threads > 0, "a pool of zero threads would accept tasks and never run them");
        Self::builder().threads(threads).build().expect("one size, at least one")
    }

    /// Returns a builder for a scheduled pool.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    ///
    /// let pool = ScheduledThreadPoolExecutor::builder().threads(2).name("housekeeping").build()?;
    /// assert_eq!(pool.stats().delayed, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ScheduledPoolBuilder {
        ScheduledPoolBuilder::new()
    }

    /// Schedules a closure or a [`FutureTask`](crate::FutureTask) to run after `delay`, and returns its handle.
    ///
    /// [Cancelling](TaskHandle::cancel) the handle takes the task out of the schedule at once, and
    /// [`remove`](TaskHandle::remove) gives the task back. If the handle is dropped, the task still runs.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::{Duration, Instant};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let (begin, delay) = (Instant::now(), Duration::from_millis(3));
    /// let ran_at = pool.schedule(delay, Instant::now)?.join()?;
    /// assert!(ran_at >= begin + delay);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor was shut down, or the thread that watches the time cannot
    /// start.
    #[doc(alias = "delayedExecutor")]
    pub fn schedule<T: Send + 'static>(
        &self,
        delay: Duration,
        task: impl IntoFutureTask<T>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        self.schedule_at(later(Instant::now(), delay), task)
    }

    /// Schedules a closure or a [`FutureTask`](crate::FutureTask) to run at a certain time, or at once if that
    /// time has passed.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::{Duration, Instant};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let end = Instant::now() + Duration::from_millis(5);
    /// assert!(pool.schedule_at(end, Instant::now)?.join()? >= end);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`schedule`](Self::schedule).
    pub fn schedule_at<T: Send + 'static>(
        &self,
        at: Instant,
        task: impl IntoFutureTask<T>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        submit_by(task.into(), |task| self.shared.plan_task(at, task))
    }

    /// Schedules a closure to run again and again at a fixed rate: first after `initial`, and then once each
    /// `period`. The runs of the series never overlap. [`series`](Self::series) has more settings: the
    /// reaction to missed ticks, the reaction to a panic, and a name.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three = Arc::new(Latch::new(3));
    /// let tick = Arc::clone(&three);
    /// let period = Duration::from_millis(1);
    /// let beat = pool.schedule_at_fixed_rate(Duration::ZERO, period, move |_| tick.count_down())?;
    /// three.wait()?;
    /// assert!(beat.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`SeriesBuilder::at_fixed_rate`].
    ///
    /// # Panics
    /// Panics if `period` is zero.
    #[doc(alias = "scheduleAtFixedRate")]
    pub fn schedule_at_fixed_rate(
        &self,
        initial: Duration,
        period: Duration,
        body: impl FnMut(&Series) + Send + 'static,
    ) -> Result<Series, RejectedSeries> {
        self.series(body).first_after(initial).at_fixed_rate(period)
    }

    /// Schedules a closure to run again and again with a fixed delay: first after `initial`, and then `delay`
    /// after the end of each run.
    ///
    /// ```
    /// use executor::{Latch, ScheduledThreadPoolExecutor};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let three = Arc::new(Latch::new(3));
    /// let looked = Arc::clone(&three);
    /// let delay = Duration::from_millis(1);
    /// let look = pool.schedule_with_fixed_delay(Duration::ZERO, delay, move |_| looked.count_down())?;
    /// three.wait()?;
    /// assert!(look.cancel());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`SeriesBuilder::with_fixed_delay`].
    #[doc(alias = "scheduleWithFixedDelay")]
    pub fn schedule_with_fixed_delay(
        &self,
        initial: Duration,
        delay: Duration,
        body: impl FnMut(&Series) + Send + 'static,
    ) -> Result<Series, RejectedSeries> {
        self.series(body).first_after(initial).with_fixed_delay(delay)
    }

    /// Returns a builder for a series whose runs call `body`.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let backup = pool.series(|_| println!("copying")).named("backup");
    /// let backup = backup.at_fixed_rate(Duration::from_secs(3600))?;
    /// assert_eq!(backup.name(), Some("backup"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn series(&self, body: impl FnMut(&Series) + Send + 'static) -> SeriesBuilder<'_> {
        SeriesBuilder::new(&self.shared, Box::new(body))
    }

    /// Returns an executor that gives each task to `executor` when `delay` has passed.
    ///
    /// Use the new executor if a task must wait and then run elsewhere: on a pool for tasks of its kind, or
    /// in a strand. If the task may run on this pool, call [`schedule`](Self::schedule) instead. The new
    /// executor does not keep this pool running. After the end of this pool the new executor refuses all
    /// tasks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{DirectExecutor, ScheduledThreadPoolExecutor, prelude::*};
    ///
    /// let clock = ScheduledThreadPoolExecutor::new(1);
    /// let later = clock.delayed(DirectExecutor, Duration::from_millis(1));
    /// assert_eq!(later.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "delayedExecutor")]
    pub fn delayed<E: Executor + 'static>(&self, executor: E, delay: Duration) -> DelayedExecutor<E> {
        DelayedExecutor::new(executor, delay, Arc::downgrade(&self.shared))
    }

    /// Returns statistics about the executor.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let _tomorrow = pool.schedule(Duration::from_secs(86_400), || "good morning")?;
    /// assert_eq!((pool.stats().delayed, pool.stats().series), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> ScheduledStats {
        let (delayed, series) = self.shared.counts();
        let mut pool = self.shared.pool.stats();
        if pool.state == PoolState::Running && self.is_shutdown() {
            pool.state = PoolState::ShuttingDown; // the pool itself is shut down only after the last due task
        }
        ScheduledStats { delayed, series, pool }
    }
}

/// Statistics of a scheduled pool.
///
/// ```
/// use executor::ScheduledThreadPoolExecutor;
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::new(1);
/// let hour = Duration::from_secs(3600);
/// let backup = pool.series(|_| ()).first_after(hour).at_fixed_rate(hour)?;
/// println!("{}", pool.stats());
/// assert_eq!(pool.stats().series, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The numbers of the schedule are read at one moment, and the numbers of the pool are read at a later
/// moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ScheduledStats {
    /// The number of tasks that wait for their time. A cancelled task is not counted.
    pub delayed: usize,
    /// The number of series that have not ended: they wait, run or are paused.
    pub series: usize,
    /// The statistics of the pool that runs the tasks. Each run of a series counts as a task of the pool.
    pub pool: PoolStats,
}

impl fmt::Display for ScheduledStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} delayed, {} series", self.pool, self.delayed, self.series)
    }
}

/// Runs tasks without a delay.
impl Executor for ScheduledThreadPoolExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.shared.is_shutdown() {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        self.shared.pool.execute_task(task)
    }
}

impl ExecutorService for ScheduledThreadPoolExecutor {
    fn shutdown(&self) {
        self.shared.shutdown(self.after);
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.shared.shutdown_now()
    }

    fn is_shutdown(&self) -> bool {
        self.shared.is_shutdown()
    }

    fn is_terminated(&self) -> bool {
        self.shared.pool.is_terminated()
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.shared.pool.await_termination(timeout)
    }

    fn close(&self) {
        self.shutdown();
        let pool = &self.shared.pool;
        if !pool.waits_for_this_thread() && !pool.await_termination(Duration::MAX) {
            drop(self.shutdown_now());
            masked(|| pool.close());
        }
    }
}

impl Drop for ScheduledThreadPoolExecutor {
    fn drop(&mut self) {
        self.shared.shutdown(AfterShutdown { delayed: false, periodic: false });
        let pool = &self.shared.pool;
        if !thread::panicking() && !pool.waits_for_this_thread() {
            masked(|| pool.await_termination(Duration::MAX));
        }
    }
}

// This type catches the panics of all user code that it calls: see `ThreadPoolExecutor`.
impl UnwindSafe for ScheduledThreadPoolExecutor {}
impl RefUnwindSafe for ScheduledThreadPoolExecutor {}

impl fmt::Debug for ScheduledThreadPoolExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stats(), f)
    }
}
