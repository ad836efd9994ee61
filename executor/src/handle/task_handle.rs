//! The handle that gives out a task's result, and the errors of its waits.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::error::TaskError;
use super::listener::{CancelBegun, Name, ResultCell, TaskResult, mark_read};
use super::{Canceller, debug_handle};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::why_interrupted;
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::{Arc, Duration};
use crate::task::{HandleCell, Task, TaskState};
use crate::waiting::awaited::Awaited;
use crate::waiting::error::{WaitError, into_io_error};
use crate::waiting::starvation::Starvation;
use crate::waiting::wait::{Deadline, Look, wait_for};

/// The handle of a submitted task: a client uses the handle to wait for the task, to take the task's result,
/// or to cancel the task.
///
/// ```
/// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let length = pool.submit(|| "a page".len())?;
/// match length.join() {
///     Ok(length) => assert_eq!(length, 6),
///     Err(JoinError::Panicked(panic)) => eprintln!("it has a bug: {}", panic.message()),
///     Err(JoinError::Cancelled(cancelled)) => eprintln!("{cancelled}"), // and why
///     Err(other) => return Err(other.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A thread can wait for a handle ([`join`](Self::join)), and an asynchronous task can await it: a handle is
/// a [`Future`]. If the handle is dropped, the task continues. When the task has ended, its result is
/// dropped, or its panic goes to the [panic handler](crate::panics).
///
/// A result is moved several times: from the task's stack into the handle, and out of the handle. So return a
/// large result in a [`Box`] (or a `Vec`). If a task returns an array of hundreds of kilobytes by value, the
/// worker's stack overflows, and this overflow ends the process.
#[doc(alias = "Future")]
#[doc(alias = "CompletionStage")]
#[must_use = "dropping the handle loses the result; bind it to `_handle` if that is meant"]
pub struct TaskHandle<T> {
    pub(super) cell: Arc<dyn ResultCell<T>>,
    /// The task's name. The name is stored in the handle and not in the cell, because few tasks have a name.
    pub(super) name: Option<Name>,
    /// True if the drop of this handle need not be reported to the cell, because the result was taken or
    /// another listener has replaced the handle.
    pub(super) released: bool,
}

impl<T> TaskHandle<T> {
    pub(super) fn new(cell: Arc<dyn ResultCell<T>>, name: Option<Name>) -> Self {
        Self { cell, name, released: false }
    }

    /// Returns whether this handle is the only owner of the cell. In that case the task has ended, and the
    /// handle needs no lock.
    fn is_alone(&self) -> bool {
        Arc::strong_count(&self.cell) == 1
    }

    /// Takes the result, if there is a result.
    fn take(&mut self) -> Option<TaskResult<T>> {
        let taken = match Arc::get_mut(&mut self.cell) {
            Some(cell) => cell.take_alone(),
            None => self.cell.take(),
        };
        self.released |= taken.is_some();
        taken
    }

    /// Takes the result. If there is no result yet, leaves the waker with the task.
    fn take_or_listen(&mut self, waker: &Waker) -> Option<TaskResult<T>> {
        if self.is_alone() {
            return self.take();
        }
        let taken = self.cell.take_or_listen(waker);
        self.released |= taken.is_some();
        taken
    }
}

impl<T: Send + 'static> TaskHandle<T> {
    /// Waits for the task and returns its result.
    ///
    /// ```
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// # let pool = ThreadPoolExecutor::fixed(2);
    /// let answer = pool.submit(|| 6 * 7)?;
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`JoinError::Panicked`] and [`JoinError::Cancelled`] tell how the task ended without a result.
    /// [`JoinError::Interrupted`] means that the *caller's* task was cancelled while it waited. If there is
    /// already a result, it is returned even if the caller's task was cancelled. [`JoinError::Starved`] means
    /// that the task could never begin or end, because every thread that could run it is itself waiting: see
    /// [`Starvation`].
    ///
    /// # Blocking
    /// Blocks until the task ends. If a task waits for another task of its own pool, and the pool has no
    /// thread left for this other task, the wait fails with [`JoinError::Starved`]. A pool can be
    /// [built](crate::ThreadPoolBuilder::on_starvation) to help in this case: the waiting thread runs the
    /// other task, or the pool starts another thread for the other task.
    ///
    /// # Panics
    /// Panics if the handle was polled as a [`Future`] and has already given its result.
    #[doc(alias = "get")]
    pub fn join(self) -> Result<T, JoinError<T>> {
        self.join_until(Deadline::NEVER)
    }

    /// Waits until the task has ended, for `timeout` at most, and returns its result. A time-out does not
    /// cancel the task: to cancel it, call [`cancel`](Self::cancel) on the handle in the error.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{FutureTask, JoinError};
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 1);
    /// match handle.join_timeout(Duration::from_millis(1)) {
    ///     Err(JoinError::TimedOut(handle)) => assert!(handle.cancel()),
    ///     other => panic!("it has not run: {other:?}"),
    /// }
    /// # drop(task);
    /// ```
    ///
    /// # Errors
    /// [`JoinError::TimedOut`] if the task is not finished in time; the other errors are those of
    /// [`join`](Self::join). If there is already a result, it is returned even if `timeout` is zero.
    ///
    /// # Blocking
    /// Blocks until the task ends, for `timeout` at most. If a timeout ends beyond the clock's range, like
    /// [`Duration::MAX`], there is no time limit. This rule holds for every timed call of this crate.
    ///
    /// # Panics
    /// Panics as [`join`](Self::join) does.
    #[doc(alias = "get")]
    pub fn join_timeout(self, timeout: Duration) -> Result<T, JoinError<T>> {
        self.join_until(Deadline::after(timeout))
    }

    fn join_until(mut self, deadline: Deadline) -> Result<T, JoinError<T>> {
        if self.is_alone()
            && let Some(result) = self.take()
        {
            return Ok(result?); // nothing is made ready to wait
        }
        match wait_for(deadline, &mut self) {
            Ok(result) => result.map_err(JoinError::from),
            Err(WaitError::Interrupted) => Err(JoinError::Interrupted(self)),
            Err(WaitError::TimedOut) => Err(JoinError::TimedOut(self)),
            Err(WaitError::Starved(starvation)) => Err(JoinError::Starved(self, starvation)),
        }
    }

    /// Waits until the task has ended, for `timeout` at most, and cancels the task if the wait ends first.
    /// The wait ends first if the time is up, or if the caller's own task is cancelled. Use `join_or_cancel`
    /// if a late result is of no use.
    ///
    /// If the task ends just when the time is up, no result is lost: either the task is cancelled, or the
    /// result is returned.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let advert = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)).map(|()| "buy!"))?;
    /// let shown = match advert.join_or_cancel(Duration::from_millis(10)) {
    ///     Ok(advert) => advert,
    ///     Err(JoinError::TimedOut(_)) => "this space to let",
    ///     Err(other) => return Err(other.into()),
    /// };
    /// assert_eq!(shown, "this space to let");
    /// pool.close(); // does not take an hour
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`join_timeout`](Self::join_timeout). After [`TimedOut`](JoinError::TimedOut) and
    /// [`Interrupted`](JoinError::Interrupted), the task is cancelled.
    ///
    /// # Blocking
    /// Blocks as [`join_timeout`](Self::join_timeout) does. If this call cancels the task, the call also
    /// blocks as [`cancel`](Self::cancel) does.
    ///
    /// # Panics
    /// Panics as [`join`](Self::join) does.
    #[doc(alias = "orTimeout")]
    pub fn join_or_cancel(self, timeout: Duration) -> Result<T, JoinError<T>> {
        let (handle, ended_by, why): (_, fn(Self) -> JoinError<T>, _) = match self.join_timeout(timeout) {
            Err(JoinError::TimedOut(handle)) => {
                (handle, JoinError::TimedOut, CancelReason::of(CancelKind::Deadline))
            }
            Err(JoinError::Interrupted(handle)) => (handle, JoinError::Interrupted, why_interrupted()),
            decided => return decided,
        };
        if handle.cancel_because(why) {
            Err(ended_by(handle))
        } else {
            handle.join_timeout(Duration::ZERO) // the outcome was decided meanwhile, so this returns at once
        }
    }

    /// Takes the result if the task is finished. Never blocks.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::TryJoinError;
    ///
    /// let Err(TryJoinError::NotFinished(handle)) = handle.try_join() else { unreachable!() };
    /// task.run();
    /// assert_eq!(handle.try_join()?, 42);
    /// # Ok::<(), TryJoinError<i32>>(())
    /// ```
    ///
    /// # Errors
    /// [`TryJoinError::NotFinished`] gives the handle back. The other errors tell how the task ended without
    /// a result.
    ///
    /// # Panics
    /// Panics as [`join`](Self::join) does.
    #[doc(alias = "resultNow")]
    #[doc(alias = "exceptionNow")]
    #[doc(alias = "getNow")]
    pub fn try_join(mut self) -> Result<T, TryJoinError<T>> {
        match self.take() {
            Some(result) => result.map_err(TryJoinError::from),
            None => Err(TryJoinError::NotFinished(self)),
        }
    }

    /// Cancels the task. Returns true if this call has decided the outcome.
    ///
    /// If the task has not begun, it will never run. If the task is running, its outcome is *cancelled* from
    /// now on, and its [`CancelToken`](crate::CancelToken) is cancelled. The body continues to run until it
    /// looks at the token; a value that the body returns is dropped. If the task is already finished or
    /// cancelled, the call does nothing and returns false.
    ///
    /// First the call wakes the waiters for the outcome; if the body waits in this crate, the call wakes the
    /// body, too. So a woken thread can continue before users' code has run. Then, before it returns, the
    /// call runs users' code on the calling thread. First, the call runs the callbacks that are
    /// [registered](crate::CancelToken::on_cancel) with the token. Next, if the task has not begun, its
    /// captured values are dropped. Last, the call runs the callback of [`on_done`](Self::on_done).
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::JoinError;
    ///
    /// assert!(handle.cancel());
    /// assert!(!handle.cancel()); // it is cancelled already
    /// task.run(); // does nothing
    /// assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
    /// ```
    ///
    /// # Blocking
    /// Blocks until the users' code that this call runs has ended. The call does not wait for a running body.
    #[doc(alias = "cancel(true)")]
    #[expect(clippy::must_use_candidate, reason = "most callers need not know whether they were in time")]
    pub fn cancel(&self) -> bool {
        self.cancel_because(CancelReason::of(CancelKind::Requested))
    }

    /// Cancels the task as [`cancel`](Self::cancel) does, and gives a reason. The outcome of the task
    /// contains the reason, and the error of the task's cancellation points contains it, too. Only the reason
    /// of the first request counts.
    ///
    /// ```
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let query = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// query.cancel_because("the client hung up");
    /// match query.join() {
    ///     Err(JoinError::Cancelled(why)) => {
    ///         assert_eq!(why.reason().and_then(|reason| reason.message()), Some("the client hung up"));
    ///     }
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`cancel`](Self::cancel) does.
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        Arc::clone(&self.cell).cancel(true, reason.into())
    }

    /// Cancels the task as [`cancel`](Self::cancel) does, but does not disturb a running body: the task's
    /// token is not cancelled.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert!(answer.cancel_keep_running());
    /// assert!(!promise.token().is_cancelled()); // the work behind the promise goes on
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`cancel`](Self::cancel) does.
    #[doc(alias = "cancel(false)")]
    #[expect(clippy::must_use_candidate, reason = "as for `cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        Arc::clone(&self.cell).cancel(false, CancelReason::of(CancelKind::Requested))
    }

    /// Returns whether the outcome is decided. If the outcome is decided, [`join`](Self::join) does not
    /// block.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// assert!(!handle.is_finished());
    /// task.run();
    /// assert!(handle.is_finished());
    /// ```
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Returns the state of the task.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::TaskState;
    ///
    /// assert_eq!(handle.state(), TaskState::Pending);
    /// task.run();
    /// assert_eq!(handle.state(), TaskState::Completed);
    /// ```
    #[doc(alias = "isCancelled")]
    #[doc(alias = "isCompletedExceptionally")]
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// Returns the task's id.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// assert_eq!(handle.id(), task.id());
    /// ```
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }

    /// Returns the task's name, if the task was named with [`FutureTask::named`](crate::FutureTask::named).
    ///
    /// ```
    /// let index = executor::FutureTask::new(|| 10).named("index");
    /// assert_eq!(index.handle.name(), Some("index"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().map(String::as_str)
    }

    /// Takes the task out of its queue and returns it. Returns `None` if the task is in no queue, because it
    /// has begun, has ended, was cancelled, or waits outside any queue.
    ///
    /// Unlike [`cancel`](Self::cancel), this call does not decide the outcome. The task stays pending until
    /// the caller or another executor runs it, or until it is dropped. The call searches the queue, so it
    /// takes longer if there are more tasks in the queue.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let busy = Arc::new(Latch::new(1));
    /// let until = Arc::clone(&busy);
    /// pool.execute(move || until.wait().unwrap())?;
    ///
    /// let answer = pool.submit(|| 42)?;
    /// let task = answer.remove().expect("the only thread is busy");
    /// task.run(); // on this thread
    /// assert_eq!(answer.join()?, 42);
    /// # busy.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "tryUnfork")]
    pub fn remove(&self) -> Option<Task> {
        self.cell.take_out_of_queue()
    }

    /// Registers a callback for the result. The thread that finishes (or cancels) the task calls the
    /// callback. If the task is already finished, the calling thread calls the callback at once. A panic in
    /// the callback goes only to the [panic handler](crate::panics).
    ///
    /// While a worker runs the callback, it runs no task, so keep the callback short. If you need several
    /// callbacks, or want to keep a handle, make the handle [shared](Self::shared) first.
    ///
    /// The callback belongs to no task, even if it runs on the thread of a task: see
    /// [`CancelToken::current`](crate::CancelToken::current). The callback can complete a
    /// [`Promise`](crate::Promise) or cancel a task; this can cause the next callback, and so on. These
    /// callbacks nest to a depth of 32. At a greater depth, a callback is deferred: it runs on the same
    /// thread when the callback that caused it returns or blocks in this crate. So a chain of callbacks can
    /// have any length. If 32 nested deferred callbacks block, the next callback runs on a new thread. So a
    /// callback can wait for the effect of a later callback of the chain. The `Drop` of captured values and
    /// of results counts as a callback, too.
    ///
    /// ```
    /// use executor::FutureTask;
    /// use std::sync::mpsc;
    ///
    /// let (tell, told) = mpsc::channel();
    /// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
    /// handle.on_done(move |result| tell.send(result.unwrap()).unwrap());
    /// task.run();
    /// assert_eq!(told.recv()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics as [`join`](Self::join) does.
    #[doc(alias = "done")]
    #[doc(alias = "whenComplete")]
    #[doc(alias = "thenAccept")]
    #[doc(alias = "thenApply")]
    #[doc(alias = "thenCompose")]
    #[doc(alias = "exceptionally")]
    pub fn on_done(mut self, callback: impl FnOnce(Result<T, TaskError>) + Send + 'static) {
        self.released = true;
        self.cell.call_when_done(Box::new(|result| {
            mark_read(&result);
            callback(result);
        }));
    }

    /// Does the first half of [`cancel`](Self::cancel): decides the outcome and wakes the waiters, but runs
    /// no callback. The second half is [`CancelBegun::end`].
    pub(crate) fn begin_cancel(&self, reason: CancelReason) -> Option<CancelBegun<T>> {
        Arc::clone(&self.cell).begin_cancel(true, reason)
    }

    /// Waits until the outcome is decided, and leaves the result in the cell.
    pub(crate) fn wait_for_end(&self, deadline: Deadline) -> Result<(), WaitError> {
        let look = |waker: &Waker| self.cell.finished_or_listen(waker).then_some(());
        wait_for(deadline, (look, || Some(self.awaited())))
    }

    fn awaited(&self) -> Awaited {
        Awaited::Task(Arc::clone(&self.cell) as Arc<dyn HandleCell>, self.name.clone())
    }

    /// Returns another handle of the task, which can only cancel the task and can be cloned. The type
    /// [`Canceller`] does not depend on the type of the result, so one list can hold the cancellers of
    /// different tasks.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let canceller = handle.canceller();
    /// assert!(canceller.cancel());
    /// assert!(handle.is_finished());
    /// # drop(task);
    /// ```
    pub fn canceller(&self) -> Canceller {
        Canceller { cell: Arc::clone(&self.cell) as Arc<dyn HandleCell>, name: self.name.clone() }
    }
}

impl<T: Send + 'static> Look for &mut TaskHandle<T> {
    type Found = TaskResult<T>;

    fn look(&mut self, waker: &Waker) -> Option<TaskResult<T>> {
        self.take_or_listen(waker)
    }

    fn what(&self) -> Option<Awaited> {
        Some(self.awaited())
    }
}

/// Awaits the result without blocking a thread, in any asynchronous runtime.
///
/// The thread that ends the task wakes the asynchronous task that awaits the handle. As for every future,
/// only the waker of the last poll is woken.
///
/// # Panics
/// Panics if a poll has returned the result, and the handle is then polled again, joined or given a callback.
impl<T: Send + 'static> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().take_or_listen(context.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for TaskHandle<T> {
    fn drop(&mut self) {
        if !self.released && !self.is_alone() {
            self.cell.lose_handle();
        }
    }
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().map(String::as_str);
        debug_handle(f, "TaskHandle", &*self.cell, name, self.cell.panic_message())
    }
}

// ANCHOR: join_error
/// The reason why [`TaskHandle::join`] or [`TaskHandle::join_timeout`] gave no result.
///
/// Like all errors that give a handle back, this type is not `PartialEq`, because handles cannot be compared.
/// Match on the error instead:
///
/// ```
/// let (_, handle) = executor::Promise::<u32>::new(); // drops the promise, which cancels the handle
/// assert!(matches!(handle.join(), Err(executor::JoinError::Cancelled(_))));
/// ```
#[doc(alias = "ExecutionException")]
#[doc(alias = "CancellationException")]
#[doc(alias = "InterruptedException")]
#[doc(alias = "TimeoutException")]
#[doc(alias = "JoinTimeoutError")]
#[non_exhaustive]
pub enum JoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled. The value tells [why](Cancelled::reason).
    Cancelled(Cancelled),
    /// The *waiting* task was cancelled. The awaited task continues; the error holds its handle.
    Interrupted(TaskHandle<T>),
    /// The time limit has passed. The awaited task continues; the error holds its handle. Only waits with a
    /// time limit return this error.
    TimedOut(TaskHandle<T>),
    /// Every thread that could run the task is itself waiting. The error holds the task's handle, and a
    /// report that shows what each thread waits for. Only a wait without a time limit, or with a limit beyond
    /// the clock's range, returns this error.
    Starved(TaskHandle<T>, Starvation),
}
// ANCHOR_END: join_error

/// The reason why [`TaskHandle::try_join`] gave no result. Like [`JoinError`], this type is not
/// `PartialEq`.
///
/// ```
/// let (_promise, handle) = executor::Promise::<u32>::new();
/// assert!(matches!(handle.try_join(), Err(executor::TryJoinError::NotFinished(_))));
/// ```
#[non_exhaustive]
pub enum TryJoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled. The value tells [why](Cancelled::reason).
    Cancelled(Cancelled),
    /// The task is not finished; the error holds its handle.
    NotFinished(TaskHandle<T>),
}

/// Implements the traits that both join errors have. A derived implementation would require `T: Debug`.
macro_rules! join_error {
    ($name:ident<T> $(, $variant:ident => $text:literal)* $(; $starved:ident)?) => {
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => f.debug_tuple("Panicked").field(&panic.message()).finish(),
                    Self::Cancelled(cancelled) => fmt::Debug::fmt(cancelled, f),
                    $(Self::$variant(handle) => f.debug_tuple(stringify!($variant)).field(handle).finish(),)*
                    $(Self::$starved(handle, starvation) => {
                        f.debug_tuple(stringify!($starved)).field(handle).field(starvation).finish()
                    })?
                }
            }
        }

        impl<T> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => panic.fmt(f),
                    Self::Cancelled(cancelled) => fmt::Display::fmt(cancelled, f),
                    $(Self::$variant(_) => f.write_str($text),)*
                    $(Self::$starved(_, starvation) => starvation.fmt(f),)?
                }
            }
        }

        impl<T> Error for $name<T> {}

        impl<T> From<TaskError> for $name<T> {
            fn from(error: TaskError) -> Self {
                match error {
                    TaskError::Panicked(panic) => Self::Panicked(panic),
                    TaskError::Cancelled(cancelled) => Self::Cancelled(cancelled),
                }
            }
        }
    };
}

join_error!(JoinError<T>,
    Interrupted => "the waiting task was cancelled",
    TimedOut => "the task did not finish in time"; Starved);
join_error!(TryJoinError<T>, NotFinished => "the task is not finished");

into_io_error!(JoinError<T> => JoinError, where T: Send + 'static);
into_io_error!(TryJoinError<T> => kind Other, where T: Send + 'static);
