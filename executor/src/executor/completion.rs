//! Results in the order in which they come.
//!
//! A page has ten images to fetch. Joining the ten handles in order means that a slow first image holds up
//! nine that are there. [`ExecutorCompletionService`] keeps the handles and gives out each when its task has
//! ended, so the thread that uses the results always has something to do while there is something done.
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
//! `submit` → *outstanding* → the task ends → `take`. Every task that
//! [`submit`](ExecutorCompletionService::submit) has accepted comes out once: with its value, as panicked, or
//! as cancelled, be it by its [`Canceller`], because the pool was stopped, or because it was dropped unrun. A
//! refused one comes back from `submit` and is not outstanding. So the service knows when nothing more will
//! come, and [`take`] says so with `None` instead of blocking for ever, as a queue would that cannot know.
//!
//! Tasks that [`shutdown_now`](crate::ExecutorService::shutdown_now) has handed back are outstanding for as
//! long as the caller keeps them: they can still be run.
//!
//! [`take`]: ExecutorCompletionService::take

use std::fmt;

use super::{Executor, RejectedSubmission, submit_to};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{CancelToken, check_current};
use crate::handle::{Canceller, CompletionQueue, FutureTask, PendingCompletion, TaskHandle};
use crate::sync::Duration;
use crate::waiting::error::{CutShort, WaitError};
use crate::waiting::wait::{Deadline, cut_short};

/// Submits tasks to an executor and gives their handles out in the order in which they end.
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
/// It has no threads of its own; the executor is one's own, and several services can share it: make them of
/// `&pool` or of clones of an `Arc`, one for each group of tasks that belong together. Any number of threads
/// may submit and take.
///
/// Dropping the service is dropping the handles it has: the tasks go on unobserved. A caller that may want
/// them stopped keeps the cancellers.
#[doc(alias = "CompletionService")]
pub struct ExecutorCompletionService<E, T> {
    executor: E,
    completions: CompletionQueue<T>,
}

impl<E: Executor, T: Send + 'static> ExecutorCompletionService<E, T> {
    /// Makes a service that submits to `executor`.
    pub fn new(executor: E) -> Self {
        Self { executor, completions: CompletionQueue::new() }
    }

    /// Submits a closure (or a [`FutureTask`]). Its handle comes out of [`take`](Self::take) when it has
    /// ended; what comes back here can call it off.
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses it. The handle is in it, and will not come out of the
    /// service.
    ///
    /// # Cancellation
    /// As [`ExecutorExt::submit`](crate::ExecutorExt::submit): the task does not hang below the token that is
    /// current here.
    pub fn submit(&self, task: impl Into<FutureTask<T>>) -> Result<Canceller, RejectedSubmission<T>> {
        submit_to(&self.completions, &self.executor, task.into(), |_| ())
            .map(PendingCompletion::into_canceller)
    }

    /// Submits a closure that gives up when it is cancelled: see [`FutureTask::cancellable`].
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub fn submit_cancellable(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Result<Canceller, RejectedSubmission<T>> {
        self.submit(FutureTask::cancellable(f))
    }

    /// Waits for the next task to end and gives out its handle, which is finished. `None` if nothing is
    /// outstanding: all that was submitted has been taken.
    ///
    /// With many takers, each handle goes to one of them, and each of them gets `None` in the end. With tasks
    /// still being submitted by others, `None` says that there was a moment without any.
    ///
    /// # Errors
    /// [`CutShort::Interrupted`] if the calling task was cancelled, before or during the wait, and
    /// [`CutShort::Starved`] if every thread that could run the tasks waits, too. No handle is lost.
    ///
    /// # Blocking
    /// Blocks while tasks are outstanding and none has ended.
    pub fn take(&self) -> Result<Option<TaskHandle<T>>, CutShort> {
        check_current()?;
        self.completions.next(Deadline::NEVER).map_err(cut_short)
    }

    /// Gives out the handle of a task that has ended, if there is one. Never blocks.
    ///
    /// `None` does not tell "not yet" from "no more"; [`outstanding`](Self::outstanding) does.
    #[doc(alias = "poll")]
    pub fn try_take(&self) -> Option<TaskHandle<T>> {
        self.completions.try_next()
    }

    /// Waits for the next task to end, for `timeout` at most, and gives out its handle. `None` if nothing is
    /// outstanding.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if no task has ended by then, [`WaitError::Interrupted`] if the calling task
    /// was cancelled. No handle is lost.
    ///
    /// # Blocking
    /// Blocks while tasks are outstanding and none has ended, for `timeout` at most.
    #[doc(alias = "poll")]
    pub fn take_timeout(&self, timeout: Duration) -> Result<Option<TaskHandle<T>>, WaitError> {
        check_current()?;
        self.completions.next(Deadline::after(timeout))
    }

    /// How many tasks were submitted and not taken, whether they have ended or not.
    pub fn outstanding(&self) -> usize {
        self.completions.len()
    }

    /// The executor it submits to.
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
