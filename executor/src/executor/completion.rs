//! A completion service: gives out the handles of tasks in the order in which the tasks end.
//!
//! For example, a program fetches the ten images of a page. If a thread joins the ten handles in order, it
//! waits for a slow first image even if the other nine images have already arrived.
//! [`ExecutorCompletionService`] keeps the handles and gives out each handle when its task has ended. So the
//! thread that uses the results never waits while a result is available.
//!
//! ```
//! use executor::{ExecutorCompletionService, ThreadPoolExecutor, prelude::*};
//!
//! let pool = ThreadPoolExecutor::fixed(4);
//! let squares = ExecutorCompletionService::new(&pool);
//! for n in 1..=10 {
//!     squares.submit(move || n * n)?;
//! }
//! let mut sum = 0;
//! while let Some(handle) = squares.take()? {
//!     sum += handle.join()?; // does not block: the task has ended
//! }
//! assert_eq!(sum, 385);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is accounted for
//!
//! A task is *outstanding* from its `submit` until the task has ended and `take` has returned the task's
//! handle. If [`submit`](ExecutorCompletionService::submit) has accepted a task, the service gives out the
//! task's handle exactly once, after the task has returned a value, has panicked or was cancelled. A task is
//! cancelled if its [`Canceller`] cancels it, if the pool is stopped, or if the task is dropped without
//! having been run. A refused task is returned by `submit` and is not outstanding. So the service knows when
//! it has no more handles to give out, and [`take`] then returns `None`. A plain queue does not know whether
//! another element will be added, so its `take` blocks for ever after the last element.
//!
//! If [`shutdown_now`](crate::ExecutorService::shutdown_now) returns a task to its caller, the task stays
//! outstanding as long as that caller keeps the task, because the caller can still run it.
//!
//! [`take`]: ExecutorCompletionService::take

use std::fmt;

use super::{Executor, RejectedSubmission, submit_to};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{CancelToken, check_current};
use crate::handle::{Canceller, CompletionQueue, FutureTask, IntoFutureTask, PendingCompletion, TaskHandle};
use crate::sync::Duration;
use crate::waiting::error::{CutShort, WaitError};
use crate::waiting::wait::{Deadline, cut_short};

/// Submits tasks to an executor, and gives out the handles in the order in which the tasks end.
///
/// ```
/// use executor::{ExecutorCompletionService, JoinError, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(4);
/// let ports = ExecutorCompletionService::new(&pool);
/// for text in ["80", "http", "8080"] {
///     ports.submit(move || text.parse::<u16>())?;
/// }
/// let mut sum = 0;
/// while let Some(handle) = ports.take()? {
///     match handle.join() {
///         Ok(Ok(port)) => sum += port,
///         Ok(Err(not_a_number)) => eprintln!("{not_a_number}"),
///         Err(JoinError::Panicked(panic)) => eprintln!("{panic}"),
///         Err(other) => return Err(other.into()),
///     }
/// }
/// assert_eq!(sum, 8160);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The service has no threads of its own; its executor runs the tasks. Several services can share one
/// executor: give each service `&pool` or a clone of an `Arc`. Make one service for each group of tasks that
/// belong together. Several threads can submit tasks and take handles at the same time.
///
/// If the service is dropped, the handles in the service are dropped, too, but the tasks still run. To be
/// able to stop the tasks, keep their cancellers.
#[doc(alias = "CompletionService")]
pub struct ExecutorCompletionService<E, T> {
    executor: E,
    completions: CompletionQueue<T>,
}

impl<E: Executor, T: Send + 'static> ExecutorCompletionService<E, T> {
    /// Makes a service that submits to `executor`.
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let pages = ExecutorCompletionService::new(&pool); // two groups of tasks on one pool
    /// let images = ExecutorCompletionService::new(&pool);
    /// pages.submit(|| "<h1>")?;
    /// images.submit(|| [0xff, 0xd8])?;
    /// assert_eq!(pages.take()?.expect("one page").join()?, "<h1>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(executor: E) -> Self {
        Self { executor, completions: CompletionQueue::new() }
    }

    /// Submits a closure (or a [`FutureTask`]). When the task has ended, [`take`](Self::take) gives out its
    /// handle. Before the task has ended, the returned [`Canceller`] can cancel the task.
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, JoinError, ManualExecutor};
    ///
    /// let results = ExecutorCompletionService::new(ManualExecutor::new());
    /// let canceller = results.submit(|| 6 * 7)?;
    /// canceller.cancel();
    /// let handle = results.take()?.expect("a cancelled task comes out, too");
    /// assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses the task. The error holds the task and its handle; the
    /// service does not give out this handle.
    ///
    /// # Blocking
    /// Blocks if the submission to the executor blocks.
    ///
    /// # Cancellation
    /// As with [`ExecutorExt::submit`](crate::ExecutorExt::submit), the task's token is not a child of the
    /// caller's current token.
    pub fn submit(&self, task: impl IntoFutureTask<T>) -> Result<Canceller, RejectedSubmission<T>> {
        submit_to(&self.completions, &self.executor, task.into(), |_| ())
            .map(PendingCompletion::into_canceller)
    }

    /// Submits a closure that ends early when it is cancelled: see [`FutureTask::cancellable`].
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, JoinError, ThreadPoolExecutor};
    /// use std::time::Duration;
    ///
    /// let naps = ExecutorCompletionService::new(ThreadPoolExecutor::fixed(1));
    /// let canceller = naps.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// canceller.cancel();
    /// assert!(matches!(naps.take()?.expect("one nap").join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The rules of [`submit`](Self::submit) apply.
    pub fn submit_cancellable(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.submit(FutureTask::cancellable(f))
    }

    /// Waits for the next task to end, and gives out the finished handle of this task. Returns `None` if no
    /// task is outstanding: the handles of all submitted tasks have been taken.
    ///
    /// If several threads call `take`, each handle goes to one thread; when no task is outstanding any more,
    /// each thread gets `None`. If other threads may still submit tasks, `None` means only that no task was
    /// outstanding at that moment.
    ///
    /// ```
    /// use executor::{DirectExecutor, ExecutorCompletionService};
    ///
    /// let results = ExecutorCompletionService::new(DirectExecutor);
    /// results.submit(|| 6 * 7)?;
    /// assert_eq!(results.take()?.expect("one task").join()?, 42);
    /// assert!(results.take()?.is_none()); // no task is outstanding
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CutShort::Interrupted`] if the calling task was cancelled before the wait or during the wait.
    /// [`CutShort::Starved`] if every thread that could run the tasks is itself waiting. No handle is lost.
    ///
    /// # Blocking
    /// Blocks while tasks are outstanding and no task has ended.
    pub fn take(&self) -> Result<Option<TaskHandle<T>>, CutShort> {
        check_current()?;
        self.completions.next(Deadline::NEVER).map_err(cut_short)
    }

    /// Gives out the handle of a task that has ended, if there is one. Never blocks.
    ///
    /// `None` can mean that no task has ended yet, or that no task is outstanding.
    /// [`outstanding`](Self::outstanding) tells which.
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, ManualExecutor};
    ///
    /// let results = ExecutorCompletionService::new(ManualExecutor::new());
    /// results.submit(|| 6 * 7)?;
    /// assert!(results.try_take().is_none()); // not yet
    /// results.executor().run_next();
    /// assert_eq!(results.try_take().expect("it has run").join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "poll")]
    pub fn try_take(&self) -> Option<TaskHandle<T>> {
        self.completions.try_next()
    }

    /// Waits for the next task to end, for `timeout` at most, and gives out its handle. Returns `None` if no
    /// task is outstanding.
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, ManualExecutor, WaitError};
    /// use std::time::Duration;
    ///
    /// let results = ExecutorCompletionService::new(ManualExecutor::new());
    /// results.submit(|| 6 * 7)?;
    /// let late = results.take_timeout(Duration::from_millis(1));
    /// assert!(matches!(late, Err(WaitError::TimedOut)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if no task has ended within `timeout`. [`WaitError::Interrupted`] if the
    /// calling task was cancelled. No handle is lost.
    ///
    /// # Blocking
    /// Blocks while tasks are outstanding and no task has ended, for `timeout` at most.
    #[doc(alias = "poll")]
    pub fn take_timeout(&self, timeout: Duration) -> Result<Option<TaskHandle<T>>, WaitError> {
        check_current()?;
        self.completions.next(Deadline::after(timeout))
    }

    /// Returns the number of submitted tasks whose handles have not been taken. Some of the outstanding tasks
    /// may have ended already.
    ///
    /// ```
    /// use executor::{DirectExecutor, ExecutorCompletionService};
    ///
    /// let results = ExecutorCompletionService::new(DirectExecutor);
    /// results.submit(|| 6 * 7)?;
    /// assert_eq!(results.outstanding(), 1); // it has ended, and was not taken
    /// results.take()?;
    /// assert_eq!(results.outstanding(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outstanding(&self) -> usize {
        self.completions.len()
    }

    /// Returns the executor to which the service submits.
    ///
    /// ```
    /// use executor::{ExecutorCompletionService, ManualExecutor};
    ///
    /// let results = ExecutorCompletionService::new(ManualExecutor::new());
    /// results.submit(|| 6 * 7)?;
    /// assert_eq!(results.executor().pending().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn executor(&self) -> &E {
        &self.executor
    }
}

impl<E: fmt::Debug, T: Send + 'static> fmt::Debug for ExecutorCompletionService<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorCompletionService")
            .field("executor", &self.executor)
            .field("outstanding", &self.completions.len())
            .finish()
    }
}
