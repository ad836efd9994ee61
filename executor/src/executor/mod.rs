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
//! 3. A panic in a task reaches the holder of its handle, never the submitting code and never another task.

mod state;
pub use state::PoolState;

mod invoke;
mod scope;

mod simple;
pub use simple::{DirectExecutor, MinimalPool, ThreadPerTaskExecutor};

mod completion;
pub use completion::ExecutorCompletionService;

pub(crate) use invoke::submit_to;
pub use invoke::{InvokeAllError, InvokeAnyError, InvokeFailure, TaskFailure};
pub(crate) use scope::wait_for_loans;
pub use scope::{Scope, ScopeError};

use std::error::Error;
use std::fmt;

use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::handle::{FutureTask, TaskHandle};
use crate::sync::{Arc, Duration};
use crate::task::Task;
use crate::waiting::error::RejectReason;
use crate::waiting::wait::Deadline;

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
    ///
    /// # Cancellation
    /// As [`submit`](Self::submit).
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
    /// [`RejectedSubmission`] if the executor refuses it.
    ///
    /// # Cancellation
    /// The task is one of its own. It does not hang below the token that is [current](CancelToken::current) here:
    /// neither a cancel of the calling task nor its deadline reaches it. Cancel its handle, spawn it in a
    /// [`scope`](Self::scope), or take the token along and [attach](CancelToken::attach) it. The exception is an
    /// executor that runs tasks on the submitting thread, as [`DirectExecutor`](crate::DirectExecutor) and the policy
    /// [`CallerRuns`](crate::CallerRuns) do: there the task hangs below that token.
    fn submit<T: Send + 'static>(
        &self,
        task: impl Into<FutureTask<T>>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        let FutureTask { task, handle } = task.into();
        match self.execute_task(task) {
            Ok(()) => Ok(handle),
            Err(RejectedExecution { reason, task }) => Err(RejectedSubmission { reason, task, handle }),
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
    /// [`RejectedSubmission`] if the executor refuses it.
    ///
    /// # Cancellation
    /// As [`submit`](Self::submit).
    fn submit_cancellable<T: Send + 'static>(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        self.submit(FutureTask::cancellable(f))
    }

    /// Has all tasks run and waits until the last of them has ended. The handles come in the order of the tasks, and
    /// all are finished, so joining them does not block.
    ///
    /// That a task fails is no failure of the call: its handle tells.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let squares = pool.invoke_all((1..=4).map(|n| move || n * n))?;
    /// let sum: i32 = squares.into_iter().map(|square| square.join().unwrap()).sum();
    /// assert_eq!(sum, 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Closures of different types are boxed to be put into one list, or are made into [`FutureTask`]s.
    ///
    /// # Errors
    /// [`InvokeAllError`]. [`Rejected`](InvokeFailure::Rejected): the executor has refused a task. Those before it
    /// were still waited for; it and those after it come back. [`Interrupted`](InvokeFailure::Interrupted): the
    /// calling task was cancelled. [`Starved`](InvokeFailure::Starved): every thread that could run the rest waits, too.
    /// In both cases, whatever of the batch had not ended is cancelled.
    ///
    /// # Panics
    /// If the iterator does (nothing has been submitted then) or the executor (what was submitted is cancelled).
    ///
    /// # Blocking
    /// Blocks until the last task has ended, or is cancelled or dropped. Called by a task of the same pool it keeps one of
    /// the threads that could run the batch, as [`TaskHandle::join`] does.
    ///
    /// # Cancellation
    /// A cancellation point. A caller that is cancelled already submits nothing; one whose tasks have all ended when the
    /// request comes gets their handles.
    #[doc(alias = "invokeAll")]
    fn invoke_all<T: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: Into<FutureTask<T>>>,
    ) -> Result<Vec<TaskHandle<T>>, InvokeAllError<T>> {
        invoke::all(self, tasks.into_iter().map(Into::into).collect(), Deadline::NEVER)
    }

    /// The same with an end: what has not ended after `timeout` is cancelled, whether it runs or waits or was not even
    /// submitted. So all handles are finished here, too; those of the late tasks say
    /// [`Cancelled`](crate::JoinError::Cancelled).
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{FutureTask, JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let naps = [1, 3_600_000].map(|ms| FutureTask::cancellable(move |t| t.sleep(Duration::from_millis(ms))));
    /// let mut naps = pool.invoke_all_timeout(naps, Duration::from_secs(1))?.into_iter();
    /// assert!(matches!(naps.next().unwrap().join(), Ok(())));
    /// assert!(matches!(naps.next().unwrap().join(), Err(JoinError::Cancelled)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A cancelled task that pays no attention to its token goes on running, and keeps its thread, after the call.
    ///
    /// # Errors
    /// As [`invoke_all`](Self::invoke_all). That the time is up is not one.
    ///
    /// # Panics
    /// As [`invoke_all`](Self::invoke_all).
    ///
    /// # Blocking
    /// Waits for `timeout` at most, provided that submitting does not block: an executor that runs its tasks inline
    /// comes back only when the task has ended. When the time is up, it cancels what has not ended, all at once, and then
    /// runs the callbacks of the tasks that it has cancelled, one after the other, on this thread: those of
    /// [`on_cancel`](crate::CancelToken::on_cancel), and the `Drop` of what tasks that had not begun have captured. It
    /// returns when they have, so keep them short.
    ///
    /// # Cancellation
    /// As [`invoke_all`](Self::invoke_all).
    #[doc(alias = "invokeAll")]
    fn invoke_all_timeout<T: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: Into<FutureTask<T>>>,
        timeout: Duration,
    ) -> Result<Vec<TaskHandle<T>>, InvokeAllError<T>> {
        let deadline = Deadline::after(timeout);
        invoke::all(self, tasks.into_iter().map(Into::into).collect(), deadline)
    }

    /// Has tasks run until one of them has succeeded, and returns its value. Success is `Ok`: a task that returns `Err`
    /// or panics leaves it to the others. When one has won, those that run are cancelled and those that wait never
    /// begin.
    ///
    /// For one answer that can be had in several ways: mirrors of a server, two algorithms of which one is faster, it
    /// depends.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let ports = ["none", "8080", "http"].map(|text| move || text.parse::<u16>());
    /// assert_eq!(pool.invoke_any(ports)?, 8080);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Between two submissions it looks whether one has won already. So an executor that runs its tasks inline runs
    /// only those up to the first success.
    ///
    /// A loser's panic goes to the [panic handler](crate::panics), because the caller does not hear of it.
    ///
    /// # Errors
    /// [`InvokeAnyError`], whose `reason` tells why: there were no tasks, all have failed, a task was refused and those
    /// accepted before it have failed, the calling task was cancelled, or every thread that could run the rest waits, too.
    /// In the last two cases, tasks that have not ended are cancelled.
    ///
    /// # Panics
    /// As [`invoke_all`](Self::invoke_all).
    ///
    /// # Blocking
    /// Blocks until one has succeeded or all have failed. It does not wait for the bodies of those that it cancels: one
    /// that pays no attention to its token goes on running after the call. But it runs the callbacks of the losers that
    /// it cancels, on this thread. Called by a task of the same pool it keeps one of the threads that could run the
    /// others, as [`TaskHandle::join`] does.
    ///
    /// # Cancellation
    /// A cancellation point. If the calling task is cancelled, so are those that it waits for.
    #[doc(alias = "invokeAny")]
    fn invoke_any<T: Send + 'static, E: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: Into<FutureTask<Result<T, E>>>>,
    ) -> Result<T, InvokeAnyError<T, E>> {
        invoke::any(self, tasks.into_iter().map(Into::into).collect(), Deadline::NEVER)
    }

    /// The same with an end: if none has succeeded after `timeout`, all are cancelled.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{FutureTask, InvokeFailure, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let mirrors = [(); 2].map(|()| {
    ///     FutureTask::cancellable(|token| token.sleep(Duration::from_secs(3600)).map(|()| Ok::<_, String>("index")))
    /// });
    /// let error = pool.invoke_any_timeout(mirrors, Duration::from_millis(10)).unwrap_err();
    /// assert!(matches!(error.reason, InvokeFailure::TimedOut));
    /// pool.close(); // does not take an hour
    /// ```
    ///
    /// # Errors
    /// As [`invoke_any`](Self::invoke_any), and [`TimedOut`](InvokeFailure::TimedOut). If all have failed before, it
    /// says so at once. After a time-out, too, a body that pays no attention to its token goes on running.
    ///
    /// # Panics
    /// As [`invoke_all`](Self::invoke_all).
    ///
    /// # Blocking
    /// As [`invoke_all_timeout`](Self::invoke_all_timeout).
    ///
    /// # Cancellation
    /// As [`invoke_any`](Self::invoke_any).
    #[doc(alias = "invokeAny")]
    fn invoke_any_timeout<T: Send + 'static, E: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: Into<FutureTask<Result<T, E>>>>,
        timeout: Duration,
    ) -> Result<T, InvokeAnyError<T, E>> {
        let deadline = Deadline::after(timeout);
        invoke::any(self, tasks.into_iter().map(Into::into).collect(), deadline)
    }

    /// Runs `f`, in which tasks can be spawned that *borrow*, and returns when all of them have ended.
    ///
    /// A task that is submitted may outlive the function that submits it, so it has to own what it needs. A task of a scope
    /// cannot, so it may borrow: the parts of a slice, a read-only index, a variable for the result.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let mut prices = vec![100, 250, 399, 875];
    /// let (left, right) = prices.split_at_mut(2);
    /// pool.scope(|scope| {
    ///     scope.spawn(|| left.iter_mut().for_each(|price| *price += 10))?;
    ///     scope.spawn(|| right.iter_mut().for_each(|price| *price += 20))
    /// })??;
    /// assert_eq!(prices, [110, 260, 419, 895]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Each task is run, or dropped if the executor discards it; either has happened when this returns. None is ever handed
    /// out by [`shutdown_now`](ExecutorService::shutdown_now): a pool that is shut down drops it.
    ///
    /// # Errors
    /// [`ScopeError`] if tasks were dropped.
    ///
    /// # Panics
    /// If `f` does; then what has not begun is dropped. If a task does: with the payload of the first one. The panics of
    /// others go to the [panic handler](crate::panics).
    ///
    /// # Blocking
    /// Blocks until the last task has ended. On a worker, or in the middle of a task, it first runs tasks itself that have
    /// not begun. So it needs no other thread, and does not starve on a pool of one.
    ///
    /// # Cancellation
    /// A cancel of the calling task reaches those of the scope: what has not begun is dropped, the tokens of what runs are
    /// cancelled. It returns when that has ended all the same.
    fn scope<'env, T>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    ) -> Result<T, ScopeError> {
        scope::scope(&|task| self.execute_task(task), f)
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
    ///
    /// A task that is cancelled before it was begun leaves the executor at once. Its closure is dropped by the thread that
    /// cancels it, after a time limit by the thread of the process's timer. That may be under way for a moment longer.
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
    /// An executor over another one waits for its own tasks. If a task of the executor below closes it, that task keeps
    /// its thread meanwhile. When the tasks that it waits for need this very thread, as over a pool of one, the call
    /// never returns, and that is not found as [starvation](crate::Starvation): let such a task call
    /// [`shutdown`](Self::shutdown), and close from elsewhere.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, the orderly end turns into [`shutdown_now`](Self::shutdown_now): what was not
    /// begun is dropped, what runs is cancelled, and the call still waits for that to end.
    fn close(&self);
}

/// Makes an executor of what holds one, or points to one: every call is passed on.
///
/// ```text
/// forward_service!(UnconfigurablePool => self.0);
/// forward_service!(<E> CancellingExecutor<E> => self.executor); // a service if `E` is one
/// forward_service!(<E: ?Sized> &E => **self);
/// ```
macro_rules! forward_service {
    (@impl [$($executor:tt)*] [$($service:tt)*] $type:ty, $this:ident, $to:expr) => {
        impl<$($executor)*> $crate::executor::Executor for $type {
            fn execute_task(
                &$this,
                task: $crate::task::Task,
            ) -> Result<(), $crate::executor::RejectedExecution> {
                $crate::executor::Executor::execute_task(&$to, task)
            }
        }

        impl<$($service)*> $crate::executor::ExecutorService for $type {
            fn shutdown(&$this) {
                $crate::executor::ExecutorService::shutdown(&$to);
            }

            fn shutdown_now(&$this) -> Vec<$crate::task::Task> {
                $crate::executor::ExecutorService::shutdown_now(&$to)
            }

            fn is_shutdown(&$this) -> bool {
                $crate::executor::ExecutorService::is_shutdown(&$to)
            }

            fn is_terminated(&$this) -> bool {
                $crate::executor::ExecutorService::is_terminated(&$to)
            }

            fn await_termination(&$this, timeout: $crate::sync::Duration) -> bool {
                $crate::executor::ExecutorService::await_termination(&$to, timeout)
            }

            fn close(&$this) {
                $crate::executor::ExecutorService::close(&$to);
            }
        }
    };
    (<$inner:ident: ?Sized> $type:ty => **$this:ident) => {
        forward_service!(@impl
            [$inner: $crate::executor::Executor + ?Sized]
            [$inner: $crate::executor::ExecutorService + ?Sized]
            $type, $this, **$this);
    };
    (<$inner:ident> $type:ty => $this:ident.$field:tt) => {
        forward_service!(@impl
            [$inner: $crate::executor::Executor]
            [$inner: $crate::executor::ExecutorService]
            $type, $this, $this.$field);
    };
    ($type:ty => $this:ident.$field:tt) => {
        forward_service!(@impl [] [] $type, $this, $this.$field);
    };
}
pub(crate) use forward_service;

forward_service!(<E: ?Sized> &E => **self);
forward_service!(<E: ?Sized> Box<E> => **self);
forward_service!(<E: ?Sized> Arc<E> => **self);

/// A task was refused. It comes back and has not been run.
#[doc(alias = "RejectedExecutionException")]
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
///
/// ```
/// use executor::{RejectReason, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::single();
/// pool.shutdown();
/// let refused = pool.submit(|| 6 * 7).unwrap_err();
/// assert!(matches!(refused.reason, RejectReason::Shutdown));
/// refused.task.run(); // then we do it ourselves
/// assert_eq!(refused.handle.join()?, 42);
/// # Ok::<(), executor::JoinError<i32>>(())
/// ```
#[doc(alias = "RejectedExecutionException")]
#[must_use = "dropping it drops the task and its handle"]
pub struct RejectedSubmission<T> {
    /// Why.
    pub reason: RejectReason,
    /// The task, to be run elsewhere or later.
    pub task: Task,
    /// The handle of the task's result.
    pub handle: TaskHandle<T>,
}

impl<T> fmt::Debug for RejectedSubmission<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RejectedSubmission")
            .field("reason", &self.reason)
            .field("task", &self.task)
            .field("handle", &self.handle)
            .finish()
    }
}

impl<T> fmt::Display for RejectedSubmission<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was rejected: {}", self.reason)
    }
}

impl<T> Error for RejectedSubmission<T> {}
