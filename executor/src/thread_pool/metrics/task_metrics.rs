//! Hooks that measure how long the tasks of a pool wait and run.

use std::fmt;

use super::histogram::{Histogram, TimeHistogram};
use crate::task::outcome::Outcome;
use crate::thread_pool::{Hooks, TaskInfo};

/// Hooks that measure how long the tasks of a pool wait, and how long the tasks run.
///
/// Give the hooks to the builder of the pool in an `Arc`, and keep a copy of the `Arc` to read the
/// histograms. [`PrometheusText`](crate::PrometheusText) writes the histograms for a monitoring system.
///
/// Each task that a thread has taken is measured, whatever the outcome of the task is. The hooks do not
/// measure a task that is refused, or cancelled in the queue. For each task, the pool reads the clock three
/// times; recording takes no lock.
///
/// A pool has one [`Hooks`]. If you have hooks of your own, their [`after_execute`](Hooks::after_execute)
/// must call the `after_execute` of a `TaskMetrics`, and their [`wants_times`](Hooks::wants_times) must
/// return true.
///
/// ```
/// use executor::{PrometheusText, TaskMetrics, ThreadPoolExecutor, prelude::*};
/// use std::sync::Arc;
///
/// let metrics = Arc::new(TaskMetrics::new());
/// let pool = ThreadPoolExecutor::builder().name("orders").hooks(Arc::clone(&metrics)).build()?;
/// pool.submit(|| 6 * 7)?.join()?;
///
/// let mut text = PrometheusText::new(); // for each request of the monitoring system
/// text.add_pool("orders", &pool.stats());
/// text.add_times("orders", &metrics);
/// assert!(text.to_string().contains("executor_run_seconds_count{name=\"orders\"} 1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TaskMetrics {
    waited: Histogram,
    ran: Histogram,
}

impl TaskMetrics {
    /// Makes hooks that have measured no task yet.
    ///
    /// ```
    /// let metrics = executor::TaskMetrics::new();
    /// assert_eq!(metrics.waited().count(), 0);
    /// ```
    pub fn new() -> Self {
        Self { waited: Histogram::new(), ran: Histogram::new() }
    }

    /// Returns how long tasks have waited: see [`TaskInfo::waited`].
    ///
    /// ```
    /// use executor::{TaskMetrics, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let metrics = Arc::new(TaskMetrics::new());
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&metrics)).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(metrics.waited().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn waited(&self) -> TimeHistogram {
        self.waited.read()
    }

    /// Returns how long tasks have run: see [`TaskInfo::ran`].
    ///
    /// ```
    /// use executor::{TaskMetrics, ThreadPoolExecutor, prelude::*};
    /// use std::{sync::Arc, thread, time::Duration};
    ///
    /// let metrics = Arc::new(TaskMetrics::new());
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&metrics)).build()?;
    /// pool.submit(|| thread::sleep(Duration::from_millis(2)))?.join()?;
    /// assert!(metrics.ran().sum() >= Duration::from_millis(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ran(&self) -> TimeHistogram {
        self.ran.read()
    }
}

impl Hooks for TaskMetrics {
    fn wants_times(&self) -> bool {
        true
    }

    fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
        if let Some(waited) = task.waited() {
            self.waited.record(waited);
        }
        if let Some(ran) = task.ran() {
            self.ran.record(ran);
        }
    }
}

impl Default for TaskMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TaskMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskMetrics").field("waited", &self.waited()).field("ran", &self.ran()).finish()
    }
}
