//! Tasks that run later, and tasks that run again and again.
//!
//! A pool runs a task as soon as it can. Much of a program's work has a time instead: a retry in a second, a
//! report at noon, a clean-up every minute. One thread that sleeps and runs what is due (a *timer*) would do,
//! until a task takes long and all others come late, or one panics and no other ever runs. Here one thread,
//! the *sleeper*, only looks at the clock; a pool runs what is due.
//!
//! ```text
//!   schedule, schedule_at, series ──▶ schedule ──the time has come: sleeper──▶ pool ──▶ worker
//!                                        ▲                                                │
//!   execute, submit ─────────────────────┼──────────────────────────────────────▶ pool    │
//!                                        └────────────── the next run of a series ◀───────┘
//! ```
//!
//! # In this folder
//!
//! The files stand in bottom-up order.
//!
//! | file | what is in it |
//! |---|---|
//! | `rule` | when a series runs next: [`MissedTicks`], [`AfterPanic`] |
//! | `schedule` | what is planned: a state machine without threads and clocks |
//! | `series` | a series as its owner holds it: [`Series`] |
//! | `series_task` | one run of a series as a task |
//! | `slack` | how exactly the sleeper is woken |
//! | `shared` | the schedule behind its lock, the sleeper, and the way to the pool |
//! | `planning` | how a series is put together: [`SeriesBuilder`] |
//! | `builder` | how the executor is put together: [`ScheduledPoolBuilder`] |
//! | `limited` | tasks with a time limit that nobody has to wait for |
//! | this one | the executor |
//!
//! # Invariants
//!
//! 1. Nothing runs before its time. (`schedule`)
//! 2. No user code delays another deadline: the sleeper runs none, apart from the thread factory of a pool
//!    whose threads were not started when tasks were planned. (`shared`)
//! 3. Every task that is planned runs, is handed out, or is dropped, which completes its handle as cancelled;
//!    every series has one end. (`shared`, `series_task`)
//! 4. Runs of one series never overlap. (`schedule`)

mod rule;
mod schedule;
mod series;
mod series_task;
mod slack;
mod shared;
mod planning;
mod builder;
mod limited;

pub use builder::ScheduledPoolBuilder;
pub use planning::{RejectedSeries, SeriesBuilder};
pub use rule::{AfterPanic, MissedTicks};
pub use series::{Series, SeriesEnd};

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::cancel::masked;
use crate::executor::{Executor, ExecutorService, PoolState, RejectedExecution, RejectedSubmission};
use crate::handle::{FutureTask, TaskHandle};
use crate::sync::{Arc, Duration, Instant, thread};
use crate::task::Task;
use crate::thread_pool::PoolStats;
use crate::waiting::error::RejectReason;
use rule::later;
use schedule::AfterShutdown;
use shared::ScheduledShared;

/// A pool that runs tasks later, at a certain time, or again and again.
///
/// For all that has a time: retries, time limits, reports, clean-up. What is due runs on one of the pool's
/// threads, so a long task delays no other while there is a thread for it, and a panic costs no thread. Tasks
/// without a time run as on any pool.
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
/// Neither tasks nor the runs of a series hang below the token that is current where they are submitted: as
/// for [`submit`](crate::ExecutorExt::submit). A handle cancels its task, and a [`Series`] its runs.
///
/// # Priorities
/// None: what is due runs in the order in which it became due, whatever the [priority](Task::priority) of the
/// tasks.
///
/// # Time
/// A task never runs before its time. How late it runs depends on the system, some tens of microseconds on a
/// machine that has a processor free (and a few with the feature `timer-slack`, on Linux), and on the pool:
/// what is due waits for a free thread as any task does. Times are those of [`Instant`], which no clock
/// change disturbs; one that is too far away for the clock counts as never. Tasks that are due at the same
/// instant are given to the pool in the order in which they were scheduled.
///
/// # Cost
/// A task that waits costs a place in a heap and no thread; a hundred thousand are nothing unusual. A
/// cancelled one leaves at once. The thread that watches the time starts with the first task that has one,
/// and sleeps until the first is due: an idle executor uses no processor time.
///
/// # Its end
/// [`shutdown`](ExecutorService::shutdown) accepts nothing more. What has no delay, or is due, still runs.
/// Tasks that wait for their time still run when it comes, and series end, unless the
/// [builder](ScheduledPoolBuilder) was told otherwise for either. So the executor may live on for as long as
/// the longest delay. [`close`](ExecutorService::close) waits for that. **Dropping it does not**: what is not
/// due yet is cancelled, what is due or runs is waited for. Dropped by one of its own tasks, or while the
/// thread unwinds, it does not wait. [`shutdown_now`](ExecutorService::shutdown_now) hands out the tasks that
/// were due and not begun, then those that were not due yet in the order of their times, ends the series and
/// cancels what runs.
///
/// # Blocking
/// Nothing here blocks for longer than it takes to hand a few tasks to the pool. A task that joins one that
/// is not due yet keeps its thread until that has run; on a pool of one thread that is never. This is not
/// reported as [starvation](crate::Starvation).
#[doc(alias = "ScheduledExecutorService")]
#[doc(alias = "Timer")]
pub struct ScheduledThreadPoolExecutor {
    shared: Arc<ScheduledShared>,
    after: AfterShutdown,
}

impl ScheduledThreadPoolExecutor {
    /// Makes a scheduled pool of `threads` threads, with a queue without a bound for what is due. No thread
    /// exists before the first task.
    ///
    /// # Panics
    /// If `threads` is zero.
    #[doc(alias = "newScheduledThreadPool")]
    #[doc(alias = "newSingleThreadScheduledExecutor")]
    pub fn new(threads: usize) -> Self {
        assert!(threads > 0, "a pool of zero threads would accept tasks and never run them");
        Self::builder().threads(threads).build().expect("one size, at least one")
    }

    /// Starts to put a scheduled pool together.
    pub fn builder() -> ScheduledPoolBuilder {
        ScheduledPoolBuilder::new()
    }

    /// Has a closure (or a [`FutureTask`]) run when `delay` has passed, and returns the handle of its result.
    ///
    /// [Cancelling](TaskHandle::cancel) it takes it out of the schedule at once, and
    /// [`remove`](TaskHandle::remove) gives the task back. The handle may be dropped; the task runs all the
    /// same.
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor was shut down, or the thread that watches the time could not be
    /// started.
    pub fn schedule<T: Send + 'static>(
        &self,
        delay: Duration,
        task: impl Into<FutureTask<T>>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        self.schedule_at(later(Instant::now(), delay), task)
    }

    /// The same at a certain time; at once, if that has passed.
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
    /// As [`schedule`](Self::schedule).
    pub fn schedule_at<T: Send + 'static>(
        &self,
        at: Instant,
        task: impl Into<FutureTask<T>>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        let FutureTask { task, handle } = task.into();
        match self.shared.plan_task(at, task) {
            Ok(()) => Ok(handle),
            Err(RejectedExecution { reason, task }) => Err(RejectedSubmission { reason, task, handle }),
        }
    }

    /// Has a closure run again and again, for the first time after `initial`, with a tick each `period` from
    /// there. Its runs never overlap. [`series`](Self::series) has more to choose: what becomes of missed
    /// ticks and after a panic, and a name.
    ///
    /// # Errors
    /// As [`SeriesBuilder::at_fixed_rate`].
    ///
    /// # Panics
    /// If `period` is zero.
    #[doc(alias = "scheduleAtFixedRate")]
    pub fn schedule_at_fixed_rate(
        &self,
        initial: Duration,
        period: Duration,
        body: impl FnMut(&Series) + Send + 'static,
    ) -> Result<Series, RejectedSeries> {
        self.series(body).first_after(initial).at_fixed_rate(period)
    }

    /// Has a closure run again and again, for the first time after `initial`, and then each time when `delay`
    /// has passed since the end of the run before.
    ///
    /// # Errors
    /// As [`SeriesBuilder::with_fixed_delay`].
    #[doc(alias = "scheduleWithFixedDelay")]
    pub fn schedule_with_fixed_delay(
        &self,
        initial: Duration,
        delay: Duration,
        body: impl FnMut(&Series) + Send + 'static,
    ) -> Result<Series, RejectedSeries> {
        self.series(body).first_after(initial).with_fixed_delay(delay)
    }

    /// Starts to put a series together, of which `body` is what is run.
    pub fn series(&self, body: impl FnMut(&Series) + Send + 'static) -> SeriesBuilder<'_> {
        SeriesBuilder::new(&self.shared, Box::new(body))
    }

    /// What it is doing, in numbers.
    pub fn stats(&self) -> ScheduledStats {
        let (delayed, series) = self.shared.counts();
        let mut pool = self.shared.pool.stats();
        if pool.state == PoolState::Running && self.is_shutdown() {
            pool.state = PoolState::ShuttingDown; // the pool below is, when nothing can become due any more
        }
        ScheduledStats { delayed, series, pool }
    }
}

/// A look at a scheduled pool. The numbers of the schedule are of one moment, and those of the pool of a
/// moment after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ScheduledStats {
    /// Tasks that wait for their time. A cancelled one is not among them.
    pub delayed: usize,
    /// Series that have not ended, whether they wait, run or are paused.
    pub series: usize,
    /// The pool that runs what is due. Each run of a series counts there as a task.
    pub pool: PoolStats,
}

impl fmt::Display for ScheduledStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} delayed, {} series", self.pool, self.delayed, self.series)
    }
}

/// Tasks without a delay.
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

// What users have given is called behind borders at which panics stop: see `ThreadPoolExecutor`.
impl UnwindSafe for ScheduledThreadPoolExecutor {}
impl RefUnwindSafe for ScheduledThreadPoolExecutor {}

impl fmt::Debug for ScheduledThreadPoolExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stats(), f)
    }
}
