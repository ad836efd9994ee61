//! Executors: a program submits its tasks to an executor, which decides how, where and when the tasks run.
//!
//! Code that has work to do should not decide about threads. Instead, this code gives a [`Task`] to an
//! [`Executor`]. The executor's *execution policy* says which thread runs a task, in which order tasks run,
//! how many tasks run at once, and what happens when there are too many tasks. A program chooses and changes
//! the policy in one place.
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
//! * [`Executor`] has the one method that each executor must implement. The trait is object-safe: a program
//!   that keeps an `Arc<dyn ExecutorService>` works with any service.
//! * [`ExecutorExt`] has methods that work in the same way on each executor: they take closures instead of
//!   tasks, and return results. Every executor has these methods, including wrappers and trait objects.
//! * [`ExecutorService`] adds methods that end an executor, because an executor with its own threads must be
//!   shut down.
//!
//! # What every executor promises
//!
//! 1. An accepted task is run once, or dropped, or returned by
//!    [`shutdown_now`](ExecutorService::shutdown_now). A refused task is returned in the error.
//! 2. A task sees everything that the submitting thread did before the submission.
//! 3. A panic in a task reaches only the code that holds the task's handle. The panic reaches neither the
//!    submitting code nor another task.

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
pub(crate) use scope::wait_for_lent_jobs;
pub use scope::{Scope, ScopeError};

use std::error::Error;
use std::fmt;

use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::handle::{FutureTask, IntoFutureTask, TaskHandle};
use crate::sync::{Arc, Duration};
use crate::task::{IntoTask, Task};
use crate::waiting::error::{RejectReason, into_io_error};
use crate::waiting::wait::Deadline;

/// Runs tasks.
///
/// ```
/// use executor::{DirectExecutor, Executor, Task};
/// use std::sync::mpsc;
///
/// fn greet(executor: &dyn Executor) -> mpsc::Receiver<&'static str> {
///     let (sender, receiver) = mpsc::channel();
///     executor.execute_task(Task::new(move || sender.send("hello").unwrap())).expect("it accepts tasks");
///     receiver
/// }
///
/// assert_eq!(greet(&DirectExecutor).recv(), Ok("hello"));
/// ```
// ANCHOR: executor
pub trait Executor: Send + Sync {
    /// Accepts a task, or refuses it. The executor runs an accepted task now or later, on this or another
    /// thread.
    ///
    /// Authors of executors implement this method. Callers usually want the methods of [`ExecutorExt`].
    ///
    /// # Errors
    /// [`RejectedExecution`], which gives the reason and holds the task. The executor has not run the task.
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution>;
}
// ANCHOR_END: executor

/// Methods of every [`Executor`].
///
/// ```
/// use executor::{DirectExecutor, ThreadPoolExecutor, prelude::*};
///
/// let on_a_pool = ThreadPoolExecutor::fixed(1).submit(|| 6 * 7)?;
/// let on_this_thread = DirectExecutor.submit(|| 6 * 7)?; // the same call on each executor
/// assert_eq!(on_a_pool.join()?, on_this_thread.join()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "AbstractExecutorService")]
pub trait ExecutorExt: Executor {
    /// Gives a closure (or a [`Task`]) to the executor, which runs it. The caller does not get the closure's
    /// result.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    /// use std::sync::mpsc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let (sender, receiver) = mpsc::channel();
    /// pool.execute(move || sender.send("hello").unwrap())?;
    /// assert_eq!(receiver.recv()?, "hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedExecution`] if the executor refuses the task.
    ///
    /// # Blocking
    /// The executor decides whether the call blocks. For example, a pool with the [`Block`](crate::Block)
    /// policy makes the caller wait for room, and a [`DirectExecutor`] runs the task
    /// before the call returns.
    ///
    /// # Cancellation
    /// The rules of [`submit`](Self::submit) apply.
    fn execute(&self, task: impl IntoTask) -> Result<(), RejectedExecution> {
        self.execute_task(task.into())
    }

    /// Gives a closure (or a [`FutureTask`]) to the executor, and returns the handle of its result.
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
    /// [`RejectedSubmission`] if the executor refuses the task.
    ///
    /// # Blocking
    /// The rules of [`execute`](Self::execute) apply.
    ///
    /// # Cancellation
    /// The new task is independent of the calling task. The new task's token is no child of the caller's
    /// [current](CancelToken::current) token. So the new task continues if the calling task is cancelled or
    /// if its deadline passes. There are three ways to cancel the new task together with the caller. Cancel
    /// the new task's handle; spawn the new task in a [`scope`](Self::scope); or capture the caller's token
    /// in the closure and [attach](CancelToken::attach) it there. There is one exception: some executors run
    /// the task on the submitting thread, for example [`DirectExecutor`], or a pool
    /// with [`CallerRuns`](crate::CallerRuns). In this case, the token of the task is a child of the caller's
    /// current token.
    #[doc(alias = "runAsync")]
    #[doc(alias = "supplyAsync")]
    #[doc(alias = "Callable")]
    fn submit<T: Send + 'static>(
        &self,
        task: impl IntoFutureTask<T>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        submit_by(task.into(), |task| self.execute_task(task))
    }

    /// Submits a closure that ends early when it is cancelled: see [`FutureTask::cancellable`]. If the
    /// closure can also fail with its own error, use [`submit_fallible`](Self::submit_fallible).
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let nap = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// nap.cancel();
    /// assert!(matches!(nap.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses the task.
    ///
    /// # Blocking
    /// The rules of [`execute`](Self::execute) apply.
    ///
    /// # Cancellation
    /// The rules of [`submit`](Self::submit) apply.
    fn submit_cancellable<T: Send + 'static>(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        self.submit(FutureTask::cancellable(f))
    }

    /// Submits a closure that ends early when it is cancelled, and that has its own error type: see
    /// [`FutureTask::fallible`].
    ///
    /// ```
    /// use std::{fs, io, time::Duration};
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// fn size_of(path: &'static str) -> io::Result<usize> {
    ///     let pool = ThreadPoolExecutor::single();
    ///     let size = pool.submit_fallible(move |token| {
    ///         let text = fs::read(path)?; // fails with an `io::Error`
    ///         token.sleep(Duration::from_millis(1))?; // fails with `Cancelled`
    ///         Ok::<_, io::Error>(text.len())
    ///     })?;
    ///     size.join()?
    /// }
    ///
    /// assert_eq!(size_of("no such file").unwrap_err().kind(), io::ErrorKind::NotFound);
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses the task.
    ///
    /// # Cancellation
    /// The rules of [`submit`](Self::submit) apply.
    #[expect(clippy::type_complexity, reason = "the result of `submit`, for a task that can fail")]
    fn submit_fallible<T: Send + 'static, E: Send + 'static>(
        &self,
        f: impl FnOnce(&CancelToken) -> Result<T, E> + Send + 'static,
    ) -> Result<TaskHandle<Result<T, E>>, RejectedSubmission<Result<T, E>>>
    where
        Cancelled: TryFrom<E, Error = E>,
    {
        self.submit(FutureTask::fallible(f))
    }

    /// Submits all tasks and waits until all of them have ended. Returns the handles in the order of the
    /// tasks. All handles are finished, so their `join` does not block.
    ///
    /// If a task fails, the call still succeeds: the task's handle holds the failure.
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
    /// To put closures of different types into one list, box each closure or turn it into a [`FutureTask`].
    ///
    /// # Errors
    /// [`InvokeAllError`]. [`Rejected`](InvokeFailure::Rejected): the executor has refused a task. The call
    /// has still waited until the tasks before the refused task ended. The error holds the refused task and
    /// the tasks after it. [`Interrupted`](InvokeFailure::Interrupted): the calling task was cancelled.
    /// [`Starved`](InvokeFailure::Starved): every thread that could run the other tasks is itself waiting. In
    /// the last two cases, the call has cancelled all tasks of the batch that had not ended.
    ///
    /// # Panics
    /// If the iterator panics: no task has been submitted. If the executor panics: the submitted tasks are
    /// cancelled.
    ///
    /// # Blocking
    /// Blocks until each task has ended, was cancelled or was dropped. A caller that is itself a task of the
    /// pool blocks one of the threads that could run the batch; see [`TaskHandle::join`].
    ///
    /// # Cancellation
    /// A cancellation point. If the caller is already cancelled, the call submits no task. If all tasks have
    /// ended before the calling task is cancelled, the call returns their handles.
    #[doc(alias = "allOf")]
    #[doc(alias = "invokeAll")]
    fn invoke_all<T: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: IntoFutureTask<T>>,
    ) -> Result<Vec<TaskHandle<T>>, InvokeAllError<T>> {
        invoke::all(self, tasks.into_iter().map(Into::into).collect(), Deadline::NEVER)
    }

    /// Submits all tasks, waits for `timeout` at most, and then cancels all unfinished tasks: running tasks,
    /// waiting tasks, and tasks that were not submitted yet. So all handles are finished, as with
    /// [`invoke_all`](Self::invoke_all). The `join` of a task that was too late returns
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
    /// assert!(matches!(naps.next().unwrap().join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A cancelled task that ignores its token continues to run after the call, and keeps its thread.
    ///
    /// # Errors
    /// The errors of [`invoke_all`](Self::invoke_all). A time-out is not an error.
    ///
    /// # Panics
    /// The rules of [`invoke_all`](Self::invoke_all) apply.
    ///
    /// # Blocking
    /// Waits for `timeout` at most, provided that the submissions do not block. For example, if an executor
    /// runs its tasks inline, a submission returns only when its task has ended. When the time is up, the
    /// call cancels all unfinished tasks at once. Then the call runs the users' code that the cancellation
    /// causes, on this thread: the callbacks of [`on_cancel`](crate::CancelToken::on_cancel), and the `Drop`
    /// of the values that are captured by tasks that have not begun. The call returns after the last
    /// callback, so keep callbacks short.
    ///
    /// # Cancellation
    /// The rules of [`invoke_all`](Self::invoke_all) apply.
    #[doc(alias = "invokeAll")]
    fn invoke_all_timeout<T: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: IntoFutureTask<T>>,
        timeout: Duration,
    ) -> Result<Vec<TaskHandle<T>>, InvokeAllError<T>> {
        let deadline = Deadline::after(timeout);
        invoke::all(self, tasks.into_iter().map(Into::into).collect(), deadline)
    }

    /// Submits tasks, waits until a task has succeeded, and returns its value. A task succeeds if it returns
    /// `Ok`; if one task returns `Err` or panics, the other tasks can still succeed. After the first success,
    /// the running tasks are cancelled and the waiting tasks never begin.
    ///
    /// Use this call when several tasks look for the same answer. For example, each task asks a different
    /// mirror of a server, or tries a different algorithm.
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
    /// Between two submissions the call checks whether a task has already succeeded. So an executor that runs
    /// its tasks inline runs no task after the first success.
    ///
    /// If one task succeeds, the panics of the other tasks go to the [panic handler](crate::panics), because
    /// the caller does not get them.
    ///
    /// # Errors
    /// [`InvokeAnyError`] with one of these reasons. [`Empty`](InvokeFailure::Empty): there were no tasks.
    /// [`AllFailed`](InvokeFailure::AllFailed): all tasks have failed. [`Rejected`](InvokeFailure::Rejected):
    /// a task was refused, and all tasks before it have failed. [`Interrupted`](InvokeFailure::Interrupted):
    /// the calling task was cancelled. [`Starved`](InvokeFailure::Starved): every thread that could run the
    /// other tasks is itself waiting. In the last two cases, the call has cancelled the tasks that had not
    /// ended.
    ///
    /// # Panics
    /// The rules of [`invoke_all`](Self::invoke_all) apply.
    ///
    /// # Blocking
    /// Blocks until a task has succeeded or all tasks have failed. The call does not wait for the bodies of
    /// the tasks that it cancels: a body that ignores its token continues to run after the call. But the call
    /// runs the callbacks of the cancelled tasks on this thread. A caller that is itself a task of the pool
    /// blocks one of the threads that could run the tasks; see [`TaskHandle::join`].
    ///
    /// # Cancellation
    /// A cancellation point. If the calling task is cancelled, the call cancels the tasks that it waits for.
    #[doc(alias = "anyOf")]
    #[doc(alias = "invokeAny")]
    fn invoke_any<T: Send + 'static, E: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: IntoFutureTask<Result<T, E>>>,
    ) -> Result<T, InvokeAnyError<T, E>> {
        invoke::any(self, tasks.into_iter().map(Into::into).collect(), Deadline::NEVER)
    }

    /// Submits tasks and returns the value of the first success. If no task has succeeded after `timeout`,
    /// cancels all tasks.
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
    /// The errors of [`invoke_any`](Self::invoke_any), and [`TimedOut`](InvokeFailure::TimedOut). If all
    /// tasks fail before the deadline, the call returns at once. After a time-out, a body that ignores its
    /// token continues to run.
    ///
    /// # Panics
    /// The rules of [`invoke_all`](Self::invoke_all) apply.
    ///
    /// # Blocking
    /// The rules of [`invoke_all_timeout`](Self::invoke_all_timeout) apply.
    ///
    /// # Cancellation
    /// The rules of [`invoke_any`](Self::invoke_any) apply.
    #[doc(alias = "invokeAny")]
    fn invoke_any_timeout<T: Send + 'static, E: Send + 'static>(
        &self,
        tasks: impl IntoIterator<Item: IntoFutureTask<Result<T, E>>>,
        timeout: Duration,
    ) -> Result<T, InvokeAnyError<T, E>> {
        let deadline = Deadline::after(timeout);
        invoke::any(self, tasks.into_iter().map(Into::into).collect(), deadline)
    }

    /// Runs `f`, which can spawn tasks that *borrow*, and returns when all these tasks have ended.
    ///
    /// A submitted task can outlive the function that submits it, so the task must own its data. A task of a
    /// scope cannot outlive the scope, so it can borrow: the parts of a slice, a read-only index, a variable
    /// for the result.
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
    /// When the call returns, each task has run or was dropped. For example, the executor may have discarded
    /// a task. [`shutdown_now`](ExecutorService::shutdown_now) drops the tasks of a scope and does not return
    /// them.
    ///
    /// # Errors
    /// [`ScopeError`] if tasks were dropped.
    ///
    /// # Panics
    /// If `f` panics: the tasks of the scope that have not begun are dropped. If a task panics: the call
    /// panics with the payload of the first panic, and later panics go to the [panic handler](crate::panics).
    ///
    /// # Blocking
    /// Blocks until the last task has ended. If the calling thread is a worker or runs a task, the call
    /// itself runs the tasks that have not begun. So the call needs no other thread, and does not starve on a
    /// pool with one thread.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, the tasks of the scope are cancelled, too: the tasks that have not
    /// begun are dropped, and the tokens of the running tasks are cancelled. The call still returns only when
    /// the running tasks have ended. In a [`masked`](crate::masked) step the scope runs all its tasks.
    #[doc(alias = "StructuredTaskScope")]
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
/// A service goes from *running* to *shutting down* to *terminated*, and never goes back:
///
/// ```text
///   running ──shutdown──▶ shutting down ──last task done, last thread gone──▶ terminated
///      │                      │ shutdown_now                                      ▲
///      └──shutdown_now────────┴──▶ stopping ──────last thread gone────────────────┘
/// ```
///
/// A caller usually ends a service with [`close`](Self::close), or with a deadline:
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
    /// Shuts the executor down: it accepts no more tasks, but still runs the accepted tasks. The call does
    /// not wait. A second call does nothing.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let accepted = pool.submit(|| 6 * 7)?;
    /// pool.shutdown();
    /// assert!(pool.submit(|| "too late").is_err());
    /// assert_eq!(accepted.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn shutdown(&self);

    /// Stops the executor: it accepts no more tasks, cancels the tokens of the running tasks, and returns the
    /// tasks that have not begun. The returned tasks are in the order in which they were due to begin. The
    /// call does not wait until the running tasks end: a task that never looks at its token runs to its end.
    ///
    /// As long as the caller keeps the returned tasks, their handles are unfinished. The caller can run the
    /// tasks, give them to another executor, or drop them; the drop of a task cancels its handle.
    ///
    /// The calling thread runs the callbacks that are registered with the tasks' tokens.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let answer = executor.submit(|| 6 * 7)?;
    /// for unbegun in executor.shutdown_now() {
    ///     unbegun.run(); // here, on this thread
    /// }
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "shutdownNow")]
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    fn shutdown_now(&self) -> Vec<Task>;

    /// Returns whether the executor has been shut down, by [`shutdown`](Self::shutdown) or in another way.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// assert!(!pool.is_shutdown());
    /// pool.shutdown();
    /// assert!(pool.is_shutdown());
    /// ```
    #[doc(alias = "isShutdown")]
    fn is_shutdown(&self) -> bool;

    /// Returns whether the executor has been shut down and has no tasks and no threads any more.
    ///
    /// If a task is cancelled before it has begun, it leaves the executor at once. The thread that cancels
    /// the task drops the task's closure; if a time limit cancels the task, the timer thread drops the
    /// closure. So when this method returns true, the drop of a closure may still be running for a moment.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// executor.execute(|| println!("the last one"))?;
    /// executor.shutdown();
    /// assert!(!executor.is_terminated()); // a task is left
    /// executor.run_next();
    /// assert!(executor.is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "isTerminated")]
    fn is_terminated(&self) -> bool;

    /// Waits until the executor is terminated, for `timeout` at most, and returns whether it is terminated.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// assert!(!pool.await_termination(Duration::from_millis(1))); // it still accepts tasks
    /// pool.shutdown();
    /// assert!(pool.await_termination(Duration::from_secs(30)));
    /// ```
    ///
    /// # Blocking
    /// If a task of this executor calls this method, the wait times out: the executor cannot terminate before
    /// this task ends.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, returns early and tells whether the executor is terminated at that
    /// moment.
    #[doc(alias = "awaitTermination")]
    fn await_termination(&self, timeout: Duration) -> bool;

    /// Shuts the executor down, and waits until all accepted tasks have been run.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let answer = pool.submit(|| 6 * 7)?;
    /// pool.close();
    /// assert!(answer.is_finished() && pool.is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// Blocks until the executor is terminated. A task of this executor cannot wait for its own end. If a
    /// task of this executor calls this method, the method only shuts the executor down and returns.
    ///
    /// A wrapper, such as a [`TrackingExecutor`](crate::TrackingExecutor) over a pool, waits for its own
    /// tasks. If another task of the pool closes the wrapper, that task blocks a thread of the pool. If the
    /// awaited tasks need the blocked thread, as on a pool with one thread, the call never returns, and the
    /// library does not report a [starvation](crate::Starvation). So a task of the pool must only call
    /// [`shutdown`](Self::shutdown), and another thread must call `close`.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, the call continues like [`shutdown_now`](Self::shutdown_now): it
    /// drops the tasks that have not begun, cancels the running tasks, and still waits until the running
    /// tasks have ended.
    fn close(&self);
}

/// Implements the traits for a type that holds an executor or points to an executor. Passes every call on to
/// that executor.
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

/// The error of [`execute`](ExecutorExt::execute): the executor refused the task. The error holds the task,
/// which has not been run.
///
/// ```
/// use executor::{RejectReason, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::single();
/// pool.shutdown();
/// let refused = pool.execute(|| println!("hello")).unwrap_err();
/// assert!(matches!(refused.reason, RejectReason::Shutdown));
/// refused.task.run(); // on this thread
/// ```
#[doc(alias = "RejectedExecutionException")]
#[derive(Debug)]
#[must_use = "dropping it drops the task"]
pub struct RejectedExecution {
    /// The reason why the executor refused the task.
    pub reason: RejectReason,
    /// The task, which the caller can still run or submit again.
    pub task: Task,
}

impl fmt::Display for RejectedExecution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task was rejected: {}", self.reason)
    }
}

impl Error for RejectedExecution {}

into_io_error!(RejectedExecution => RejectReason in reason);

/// The error of [`submit`](ExecutorExt::submit): the executor refused the task. The error holds the task and
/// its handle. If the caller runs the task, the handle gets its result; if the caller drops the task, the
/// handle is cancelled.
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
    /// The reason why the executor refused the task.
    pub reason: RejectReason,
    /// The task, which the caller can still run or submit again.
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

into_io_error!(RejectedSubmission<T> => RejectReason in reason, where T: Send + 'static);

/// Gives a task to `execute`, and returns the task's handle. If `execute` refuses the task, the error
/// contains the task and the handle.
pub(crate) fn submit_by<T>(
    FutureTask { task, handle }: FutureTask<T>,
    execute: impl FnOnce(Task) -> Result<(), RejectedExecution>,
) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
    match execute(task) {
        Ok(()) => Ok(handle),
        Err(RejectedExecution { reason, task }) => Err(RejectedSubmission { reason, task, handle }),
    }
}
