//! An executor that gives its tasks to another executor after a delay.

use std::fmt;

use super::rule::later;
use super::shared::ScheduledShared;
use crate::executor::{Executor, RejectedExecution};
use crate::panics::discard;
use crate::sync::{Arc, Duration, Instant, Mutex, Weak};
use crate::task::Task;
use crate::waiting::error::RejectReason;

/// Gives each task to another executor when a delay has passed.
///
/// Use a delayed executor for tasks that must first wait for some time and then run on a certain executor,
/// such as retries in a bounded pool or reminders in the strand of an account.
/// [`ScheduledThreadPoolExecutor::delayed`](crate::ScheduledThreadPoolExecutor::delayed) makes it.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use executor::{ScheduledThreadPoolExecutor, ThreadPoolExecutor, prelude::*};
///
/// let clock = ScheduledThreadPoolExecutor::new(1);
/// let retries = Arc::new(ThreadPoolExecutor::builder().name("retries").build()?);
/// let later = clock.delayed(Arc::clone(&retries), Duration::from_millis(5));
///
/// let begin = Instant::now();
/// let ran = later.submit(|| (Instant::now(), std::thread::current().name().map(str::to_owned)))?;
/// let (when, thread) = ran.join()?;
/// assert!(when >= begin + Duration::from_millis(5));
/// assert_eq!(thread.as_deref(), Some("retries-thread-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Two executors
/// Until its time has come, a task is in the scheduled pool, and the [shutdown
/// rules](crate::ScheduledThreadPoolExecutor#its-end) of that pool decide what happens to the task. When the
/// time has come, a thread of the scheduled pool gives the task to the other executor. If the other executor
/// refuses the task, no submitter can get the error: the task is dropped, and its handle is completed as
/// cancelled.
///
/// A task keeps its id, its name and its priority. A task that is cancelled before its time never reaches the
/// other executor. But a cancelled task keeps its place in the schedule until its time has come.
///
/// # Blocking
/// A submission does not wait for the other executor. Later a thread of the scheduled pool submits the task
/// to the other executor. So the other executor may block that thread, or run the task on that thread.
pub struct DelayedExecutor<E> {
    executor: Arc<E>,
    delay: Duration,
    clock: Weak<ScheduledShared>,
}

impl<E> DelayedExecutor<E> {
    pub(super) fn new(executor: E, delay: Duration, clock: Weak<ScheduledShared>) -> Self {
        Self { executor: Arc::new(executor), delay, clock }
    }

    /// Returns the executor that runs the tasks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{ScheduledThreadPoolExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let clock = ScheduledThreadPoolExecutor::new(1);
    /// let later = clock.delayed(ThreadPoolExecutor::single(), Duration::from_millis(1));
    /// later.submit(|| ())?.join()?;
    /// later.executor().close();
    /// assert!(later.executor().is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn executor(&self) -> &E {
        &self.executor
    }
}

impl<E: Executor + 'static> Executor for DelayedExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let Some(clock) = self.clock.upgrade() else {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        };
        let (id, name, priority) = (task.id(), task.name().map(str::to_owned), task.priority());
        // If the pool refuses the closure, the caller gets the task back. So the closure must not own the task.
        let slot = Arc::new(Mutex::new(Some(task)));
        let hand_over = {
            let (slot, executor) = (Arc::clone(&slot), Arc::clone(&self.executor));
            move || {
                let task = slot.lock().take();
                if let Some(task) = task.filter(|task| !task.is_cancelled()) {
                    discard(executor.execute_task(task));
                }
            }
        };
        let mut waits = Task::of(id, hand_over).prioritized(priority);
        if let Some(name) = name {
            waits = waits.named(name);
        }
        clock.plan_task(later(Instant::now(), self.delay), waits).map_err(
            |RejectedExecution { reason, task }| {
                drop(task);
                let task = slot.lock().take().expect("the closure was not called");
                RejectedExecution { reason, task }
            },
        )
    }
}

impl<E> fmt::Debug for DelayedExecutor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelayedExecutor").field("delay", &self.delay).finish_non_exhaustive()
    }
}
