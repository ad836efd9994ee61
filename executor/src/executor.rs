//! Executors: what decouples submitting a task from how, where and when it runs.
//!
//! The code that has work to do should not have to decide on threads. It hands a [`Task`] to an [`Executor`]; which
//! thread runs it, in which order, how many at once, and what happens when there are too many, is the executor's
//! *execution policy*, chosen in one place and changed there.
//!
//! ```
//! use executor::{DirectExecutor, Executor, ThreadPerTaskExecutor, prelude::*};
//!
//! fn greet_all(names: &'static [&str], executor: &dyn Executor) {
//!     for name in names {
//!         executor.execute(move || println!("hello, {name}")).expect("the executor accepts tasks");
//!     }
//! }
//!
//! greet_all(&["Ada", "Grace"], &DirectExecutor); // one after the other, on this thread
//! greet_all(&["Ada", "Grace"], &ThreadPerTaskExecutor::new()); // at once, on two others
//! ```
//!
//! # Three traits
//!
//! * [`Executor`] has the one method that an executor must have. It is object-safe: programs keep a `&dyn Executor` or
//!   an `Arc<dyn ExecutorService>` and can be given another one.
//! * [`ExecutorExt`] has what is the same for all of them: closures instead of tasks, results. It is implemented for
//!   every executor, so wrappers and trait objects have it too.
//! * [`ExecutorService`] adds an end: an executor with threads of its own has to be shut down.
//!
//! # What every executor promises
//!
//! 1. A task that was accepted is run once, or dropped, or handed back by
//!    [`shutdown_now`](ExecutorService::shutdown_now). A task that was refused comes back in the error.
//! 2. What a thread did before it submitted a task is visible to the task.
//! 3. A panic in a task reaches whoever holds its handle, never the submitting code and never another task.

use std::error::Error;
use std::fmt;

use crate::cancel::CancelToken;
use crate::error::{Cancelled, RejectReason};
use crate::handle::{FutureTask, TaskHandle};
use crate::sync::{Arc, Duration};
use crate::task::Task;

// ANCHOR: executor
/// Runs tasks.
pub trait Executor: Send + Sync {
    /// Accepts a task, to run it now or later, here or on another thread; or refuses it.
    ///
    /// The method to implement; callers usually want [`ExecutorExt::execute`] or [`ExecutorExt::submit`].
    ///
    /// # Errors
    /// [`RejectedExecution`] says why and holds the task, which has not been run.
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution>;
}
// ANCHOR_END: executor

/// What can be done with every [`Executor`].
pub trait ExecutorExt: Executor {
    /// Has a closure (or a [`Task`]) run, with no result to come back.
    ///
    /// # Errors
    /// [`RejectedExecution`] if the executor refuses it.
    fn execute(&self, task: impl Into<Task>) -> Result<(), RejectedExecution> {
        self.execute_task(task.into())
    }

    /// Has a closure (or a [`FutureTask`]) run and returns the handle of its result.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let answer = pool.submit(|| 6 * 7)?;
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmit`] if the executor refuses it.
    fn submit<T: Send + 'static>(
        &self,
        task: impl Into<FutureTask<T>>,
    ) -> Result<TaskHandle<T>, RejectedSubmit<T>> {
        let FutureTask { task, handle } = task.into();
        match self.execute_task(task) {
            Ok(()) => Ok(handle),
            Err(RejectedExecution { reason, task }) => Err(RejectedSubmit { reason, task, handle }),
        }
    }

    /// Has a closure run that gives up when it is cancelled: see [`FutureTask::cancellable`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let nap = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// nap.cancel();
    /// assert!(matches!(nap.join(), Err(JoinError::Cancelled)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmit`] if the executor refuses it.
    fn submit_cancellable<T: Send + 'static>(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Result<TaskHandle<T>, RejectedSubmit<T>> {
        self.submit(FutureTask::cancellable(f))
    }
}

impl<E: Executor + ?Sized> ExecutorExt for E {}

/// An [`Executor`] that can be shut down.
///
/// It goes from *running* to *shutting down* to *terminated*, and never back:
///
/// ```text
///   running ──shutdown──▶ shutting down ──last task done, last thread gone──▶ terminated
///      │                      │ shutdown_now                                      ▲
///      └──shutdown_now────────┴──▶ stopping ──────last thread gone────────────────┘
/// ```
///
/// The usual end is [`close`](Self::close), or, with a deadline and a plan B:
///
/// ```
/// use std::time::Duration;
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// pool.execute(|| println!("the last one"))?;
/// pool.shutdown();
/// if !pool.await_termination(Duration::from_secs(30)) {
///     let never_started = pool.shutdown_now();
///     eprintln!("{} tasks were not begun", never_started.len());
/// }
/// # Ok::<(), executor::RejectedExecution>(())
/// ```
pub trait ExecutorService: Executor {
    /// Accepts no more tasks; those accepted are still run. Does not wait. Calling it again does nothing.
    fn shutdown(&self);

    /// Accepts no more tasks, cancels the tokens of those that run, and hands back those that were not begun, in the
    /// order in which they would have been. Does not wait: a task that never looks at its token runs to its end.
    ///
    /// The handles of what is handed back stay pending while the tasks are kept: run them, give them to another
    /// executor, or drop them, which completes the handles as cancelled.
    ///
    /// Callbacks registered with the tasks' tokens run on the calling thread.
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    fn shutdown_now(&self) -> Vec<Task>;

    /// Whether it has been shut down, in whichever way.
    fn is_shutdown(&self) -> bool;

    /// Whether it has been shut down and the last task and thread are gone.
    fn is_terminated(&self) -> bool;

    /// Waits until it is terminated, for `timeout` at most, and says whether it is.
    ///
    /// # Blocking
    /// A task of this very executor that waits here waits in vain: the executor cannot end before its task has.
    ///
    /// # Cancellation
    /// Returns early, with the answer of that moment, if the calling task is cancelled.
    fn await_termination(&self, timeout: Duration) -> bool;

    /// Shuts down and waits until everything accepted has been run.
    ///
    /// # Blocking
    /// Blocks until the executor is terminated. Called by a task of this very executor it cannot wait for itself, so it
    /// only shuts down and returns.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, the orderly end turns into [`shutdown_now`](Self::shutdown_now): what was not
    /// begun is dropped, what runs is cancelled, and the call still waits for that to end.
    fn close(&self);
}

/// Makes everything that points to an executor an executor.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<E: Executor + ?Sized> Executor for $pointer {
            fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
                (**self).execute_task(task)
            }
        }

        impl<E: ExecutorService + ?Sized> ExecutorService for $pointer {
            fn shutdown(&self) {
                (**self).shutdown();
            }

            fn shutdown_now(&self) -> Vec<Task> {
                (**self).shutdown_now()
            }

            fn is_shutdown(&self) -> bool {
                (**self).is_shutdown()
            }

            fn is_terminated(&self) -> bool {
                (**self).is_terminated()
            }

            fn await_termination(&self, timeout: Duration) -> bool {
                (**self).await_termination(timeout)
            }

            fn close(&self) {
                (**self).close();
            }
        }
    )*};
}

forward!(&E, Box<E>, Arc<E>);

/// A task was refused. It comes back and has not been run.
#[derive(Debug)]
#[must_use = "dropping it drops the task"]
pub struct RejectedExecution {
    /// Why.
    pub reason: RejectReason,
    /// The task, to be run elsewhere or later.
    pub task: Task,
}

impl fmt::Display for RejectedExecution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was rejected: {}", self.reason)
    }
}

impl Error for RejectedExecution {}

/// A submitted task was refused. It comes back with its handle: running the task later completes the handle, dropping it
/// cancels it.
#[must_use = "dropping it drops the task and its handle"]
pub struct RejectedSubmit<T> {
    /// Why.
    pub reason: RejectReason,
    /// The task, to be run elsewhere or later.
    pub task: Task,
    /// The handle of the task's result.
    pub handle: TaskHandle<T>,
}

impl<T> fmt::Debug for RejectedSubmit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RejectedSubmit")
            .field("reason", &self.reason)
            .field("task", &self.task)
            .field("handle", &self.handle)
            .finish()
    }
}

impl<T> fmt::Display for RejectedSubmit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was rejected: {}", self.reason)
    }
}

impl<T> Error for RejectedSubmit<T> {}
