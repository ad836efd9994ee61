//! Hooks that hand the numbers of a pool to the crate `metrics`, for which a program chooses its exporter.

use std::fmt;

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::CancelKind;
use crate::task::outcome::Outcome;
use crate::thread_pool::failures::kind_of;
use crate::thread_pool::{Hooks, PoolStats, TaskInfo};
use crate::waiting::error::RejectReason;

/// Hooks that hand the numbers of a pool to the crate [`metrics`], under the names that
/// [`PrometheusText`](crate::PrometheusText) lists.
///
/// The hooks count each task and record each duration immediately. Numbers that rise and fall are handed over
/// only in [`record`](Self::record), which the program calls from time to time.
///
/// Install the recorder before you make the hooks, because the hooks register their numbers when the hooks
/// are made.
///
/// ```
/// use executor::{MetricsFacade, ThreadPoolExecutor, prelude::*};
/// use std::sync::Arc;
///
/// let facade = Arc::new(MetricsFacade::new("orders")); // after the program has installed its exporter
/// let pool = ThreadPoolExecutor::builder().name("orders").hooks(Arc::clone(&facade)).build()?;
/// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
/// facade.record(&pool.stats()); // every few seconds
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MetricsFacade {
    completed: Counter,
    panicked: Counter,
    cancelled: Counter,
    cancelled_in_queue: Counter,
    timed_out: Counter,
    rejected: Counter,
    waited: Histogram,
    ran: Histogram,
    threads: Gauge,
    active: Gauge,
    queued: Gauge,
}

impl MetricsFacade {
    /// Makes hooks whose numbers have the label `name` with the value `pool`.
    ///
    /// ```
    /// let hooks = executor::MetricsFacade::new("orders");
    /// let pool = executor::ThreadPoolExecutor::builder().hooks(hooks).build()?;
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    pub fn new(pool: impl Into<String>) -> Self {
        let name = pool.into();
        let counter = |family: &'static str| counter!(family, "name" => name.clone());
        let gauge = |family: &'static str| gauge!(family, "name" => name.clone());
        let histogram = |family: &'static str| histogram!(family, "name" => name.clone());
        Self {
            completed: counter("executor_completed_tasks_total"),
            panicked: counter("executor_panicked_tasks_total"),
            cancelled: counter("executor_cancelled_tasks_total"),
            cancelled_in_queue: counter("executor_cancelled_in_queue_tasks_total"),
            timed_out: counter("executor_timed_out_tasks_total"),
            rejected: counter("executor_rejected_tasks_total"),
            waited: histogram("executor_queue_seconds"),
            ran: histogram("executor_run_seconds"),
            threads: gauge("executor_pool_size_threads"),
            active: gauge("executor_active_threads"),
            queued: gauge("executor_queued_tasks"),
        }
    }

    /// Hands over the numbers that rise and fall: the pool's threads, its running tasks, its waiting tasks.
    ///
    /// ```
    /// use executor::{MetricsFacade, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::fixed(4);
    /// MetricsFacade::new("orders").record(&pool.stats());
    /// ```
    #[expect(clippy::cast_precision_loss, reason = "no pool has that many threads or tasks")]
    pub fn record(&self, stats: &PoolStats) {
        self.threads.set(stats.threads as f64);
        self.active.set(stats.active as f64);
        self.queued.set(stats.queued as f64);
    }

    fn count_cancelled(&self, why: &Cancelled) {
        self.cancelled.increment(1);
        if kind_of(why) == CancelKind::Deadline {
            self.timed_out.increment(1);
        }
    }
}

impl Hooks for MetricsFacade {
    fn wants_times(&self) -> bool {
        true
    }

    fn refused(&self, _: &TaskInfo<'_>, _: &RejectReason) {
        self.rejected.increment(1);
    }

    fn cancelled_in_queue(&self, _: &TaskInfo<'_>, why: &Cancelled) {
        self.cancelled_in_queue.increment(1);
        self.count_cancelled(why);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        self.completed.increment(1);
        match outcome {
            Outcome::Completed => {}
            Outcome::Panicked(_) => self.panicked.increment(1),
            Outcome::Cancelled(why) => self.count_cancelled(why),
        }
        if let Some(waited) = task.waited() {
            self.waited.record(waited);
        }
        if let Some(ran) = task.ran() {
            self.ran.record(ran);
        }
    }
}

impl fmt::Debug for MetricsFacade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsFacade").finish_non_exhaustive()
    }
}
