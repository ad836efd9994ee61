//! The one handle that can give a task's result away, and what it says if it has none.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::error::TaskError;
use super::listener::{CancelBegun, Name, ResultCell, TaskResult, mark_read};
use super::{Canceller, debug_handle};
use crate::cancel::cancelled::Cancelled;
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::{Arc, Duration};
use crate::task::{HandleCell, Task, TaskState};
use crate::waiting::awaited::Awaited;
use crate::waiting::error::WaitError;
use crate::waiting::starvation::Starvation;
use crate::waiting::wait::{Deadline, Look, wait_for};

/// The owner's end of a submitted task: waits for it, takes its result, calls it off.
///
/// ```
/// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let length = pool.submit(|| "a page".len())?;
/// match length.join() {
///     Ok(length) => assert_eq!(length, 6),
///     Err(JoinError::Panicked(panic)) => eprintln!("it has a bug: {}", panic.message()),
///     Err(JoinError::Cancelled) => eprintln!("somebody did not want it any more"),
///     Err(other) => return Err(other.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A handle can be waited for by a thread ([`join`](Self::join)) or awaited by an asynchronous task: it is a
/// [`Future`]. Dropping it lets the task go on unobserved; its result is then dropped, and a panic in it goes
/// to the [panic handler](crate::panics).
///
/// A result is moved from the task's stack into the handle and out again, several times on the way. Return
/// large ones in a [`Box`] (or a `Vec`): an array of hundreds of kilobytes by value overflows a worker's
/// stack, which ends the process.
#[doc(alias = "Future")]
#[must_use = "dropping the handle loses the result; bind it to `_handle` if that is meant"]
pub struct TaskHandle<T> {
    pub(super) cell: Arc<dyn ResultCell<T>>,
    /// Here and not in the cell, because few tasks have one.
    pub(super) name: Option<Name>,
    /// The cell need not hear when this handle is dropped: its result was taken, or another listener has its
    /// place.
    pub(super) released: bool,
}

impl<T> TaskHandle<T> {
    pub(super) fn new(cell: Arc<dyn ResultCell<T>>, name: Option<Name>) -> Self {
        Self { cell, name, released: false }
    }

    /// Whether nobody else refers to the cell. Then the task has ended, and no lock is needed.
    fn is_alone(&self) -> bool {
        Arc::strong_count(&self.cell) == 1
    }

    /// Takes the result, if it is there.
    fn take(&mut self) -> Option<TaskResult<T>> {
        let taken = match Arc::get_mut(&mut self.cell) {
            Some(cell) => cell.take_alone(),
            None => self.cell.take(),
        };
        self.released |= taken.is_some();
        taken
    }

    /// Takes the result, or leaves the waker with the task.
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
    /// # Errors
    /// [`JoinError::Panicked`] and [`JoinError::Cancelled`] tell how the task ended without one.
    /// [`JoinError::Interrupted`] means that the *caller's* task was cancelled while it waited; a result that
    /// is there already is returned even then. [`JoinError::Starved`] means that the task could never have
    /// begun or ended, because every thread that could see to it waits, too: see [`Starvation`].
    ///
    /// # Blocking
    /// Blocks until the task ends. A task that waits for another on its own full pool is told so by
    /// [`JoinError::Starved`], or as its pool was [told](crate::ThreadPoolBuilder::on_starvation) runs the
    /// other one or gets it another thread.
    ///
    /// # Panics
    /// If the handle was polled as a [`Future`] before and has given its result.
    #[doc(alias = "get")]
    pub fn join(self) -> Result<T, JoinError<T>> {
        self.join_until(Deadline::NEVER)
    }

    /// Waits for the task for `timeout` at most. A time-out does not cancel the task; do that with the handle
    /// that comes back, if it is meant.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{FutureTask, JoinError};
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 1);
    /// match handle.join_timeout(Duration::from_millis(1)) {
    ///     Err(JoinError::TimedOut(handle)) => assert!(handle.cancel()),
    ///     other => panic!("nobody has run it: {other:?}"),
    /// }
    /// # drop(task);
    /// ```
    ///
    /// # Errors
    /// [`JoinError::TimedOut`] if the task is not finished by then, otherwise as [`join`](Self::join). A
    /// result that is there already is returned even if `timeout` is zero.
    ///
    /// # Blocking
    /// Blocks until the task ends, for `timeout` at most. A timeout so long that the clock has no name for
    /// its end, such as [`Duration::MAX`], is none; that holds for every timed call of this crate.
    ///
    /// # Panics
    /// As [`join`](Self::join).
    #[doc(alias = "get")]
    pub fn join_timeout(self, timeout: Duration) -> Result<T, JoinError<T>> {
        self.join_until(Deadline::after(timeout))
    }

    fn join_until(mut self, deadline: Deadline) -> Result<T, JoinError<T>> {
        match wait_for(deadline, TakeResult(&mut self)) {
            Ok(result) => result.map_err(JoinError::from),
            Err(WaitError::Interrupted) => Err(JoinError::Interrupted(self)),
            Err(WaitError::TimedOut) => Err(JoinError::TimedOut(self)),
            Err(WaitError::Starved(starvation)) => Err(JoinError::Starved(self, starvation)),
        }
    }

    /// Waits for the task for `timeout` at most, and calls it off if the wait ends without its outcome:
    /// because the time is up, or because the caller's own task was cancelled. For work that is of no use
    /// later.
    ///
    /// A task that ends in the very moment in which the time does is not lost: it has been cancelled, or its
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
    /// As [`join_timeout`](Self::join_timeout); the handle in a [`TimedOut`](JoinError::TimedOut) or
    /// [`Interrupted`](JoinError::Interrupted) is that of a task that this call has cancelled.
    ///
    /// # Blocking
    /// As [`join_timeout`](Self::join_timeout), and then, if the task is called off, until the users' code
    /// has run that a [`cancel`](Self::cancel) runs.
    ///
    /// # Panics
    /// As [`join`](Self::join).
    pub fn join_or_cancel(self, timeout: Duration) -> Result<T, JoinError<T>> {
        let (handle, ended_by): (_, fn(Self) -> JoinError<T>) = match self.join_timeout(timeout) {
            Err(JoinError::TimedOut(handle)) => (handle, JoinError::TimedOut),
            Err(JoinError::Interrupted(handle)) => (handle, JoinError::Interrupted),
            decided => return decided,
        };
        if handle.cancel() {
            Err(ended_by(handle))
        } else {
            handle.join_timeout(Duration::ZERO) // decided in the meantime, so this returns at once
        }
    }

    /// Takes the result if the task is finished. Never blocks.
    ///
    /// # Errors
    /// [`TryJoinError::NotFinished`] gives the handle back; the others tell how the task ended without a
    /// result.
    ///
    /// # Panics
    /// As [`join`](Self::join).
    #[doc(alias = "resultNow")]
    #[doc(alias = "exceptionNow")]
    pub fn try_join(mut self) -> Result<T, TryJoinError<T>> {
        match self.take() {
            Some(result) => result.map_err(TryJoinError::from),
            None => Err(TryJoinError::NotFinished(self)),
        }
    }

    /// Calls the task off. Returns true if that decided its outcome.
    ///
    /// A task that has not begun never will. For one that runs, the outcome is *cancelled* from now on, and
    /// the task's [`CancelToken`](crate::CancelToken) is cancelled; the body goes on until it looks at it,
    /// and what it returns is dropped. If the task is finished or cancelled already, nothing happens and the
    /// answer is false.
    ///
    /// First everybody is let go who waits for the outcome, and the body, if it waits in this crate. Then
    /// users' code runs on the calling thread, before the call returns: the callbacks
    /// [registered](crate::CancelToken::on_cancel) with the token, the `Drop` of what a task that has not
    /// begun had captured, and last a callback given to [`on_done`](Self::on_done). So a thread that was let
    /// go may be quicker than any of these.
    #[doc(alias = "cancel(true)")]
    #[expect(clippy::must_use_candidate, reason = "most callers need not know whether they were in time")]
    pub fn cancel(&self) -> bool {
        Arc::clone(&self.cell).cancel(true)
    }

    /// Decides for *cancelled* like [`cancel`](Self::cancel), but lets a body that runs already go on
    /// undisturbed: its token is left alone.
    #[doc(alias = "cancel(false)")]
    #[expect(clippy::must_use_candidate, reason = "as for `cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        Arc::clone(&self.cell).cancel(false)
    }

    /// Whether the outcome is decided. Then [`join`](Self::join) does not block.
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Where the task stands.
    #[doc(alias = "isCancelled")]
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }

    /// The name, if [`FutureTask::named`](crate::FutureTask::named) has given one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().map(String::as_str)
    }

    /// Takes the task out of the queue of the pool in which it waits, and gives it back. `None` if it is in
    /// none: it has begun, has ended, was cancelled, or is waiting elsewhere than in a pool's queue.
    ///
    /// Unlike [`cancel`](Self::cancel) this decides nothing. The handle stays pending until the task is run,
    /// here or by another executor, or dropped. The queue is searched, so this takes longer the more tasks
    /// are in it.
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
    /// task.run(); // we had the time ourselves
    /// assert_eq!(answer.join()?, 42);
    /// # busy.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "tryUnfork")]
    pub fn remove(&self) -> Option<Task> {
        self.cell.take_out_of_queue()
    }

    /// Has `callback` called with the result, by the thread that finishes (or cancels) the task; at once, on
    /// this thread, if it is finished already. A panic in the callback goes to the [panic
    /// handler](crate::panics) and no further.
    ///
    /// The worker that runs the callback does nothing else meanwhile, so keep it short. For more than one
    /// callback, or to keep a handle, make the handle [shared](Self::shared) first.
    ///
    /// The callback belongs to no task, whichever thread it runs on: see
    /// [`CancelToken::current`](crate::CancelToken::current). It may complete a [`Promise`](crate::Promise)
    /// or cancel a task, and callbacks that bring about others nest to a depth of 32. One that is due deeper
    /// down runs on the same thread when the one around it has returned or blocks in this crate; so a chain
    /// of them may be of any length. If 32 of those that ran in this way block inside each other, the next
    /// ones run on a thread that is started for them: a callback may wait for what a later one of the chain
    /// brings about. The `Drop` of what tasks have captured and returned counts as a callback in all of this.
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
    /// As [`join`](Self::join).
    #[doc(alias = "done")]
    #[doc(alias = "whenComplete")]
    pub fn on_done(mut self, callback: impl FnOnce(Result<T, TaskError>) + Send + 'static) {
        self.released = true;
        self.cell.call_when_done(Box::new(|result| {
            mark_read(&result);
            callback(result);
        }));
    }

    /// The first half of a [`cancel`](Self::cancel): everybody is let go, and no callback has run. The second
    /// is [`CancelBegun::end`].
    pub(crate) fn begin_cancel(&self) -> Option<CancelBegun<T>> {
        Arc::clone(&self.cell).begin_cancel(true)
    }

    /// Waits until the outcome is decided, and leaves it where it is.
    pub(crate) fn wait_for_end(&self, deadline: Deadline) -> Result<(), WaitError> {
        wait_for(deadline, AwaitEnd(self))
    }

    fn awaited(&self) -> Awaited {
        Awaited::Task(Arc::clone(&self.cell) as Arc<dyn HandleCell>, self.name.clone())
    }

    /// Another handle on the task that can only call it off. It can be cloned and has no type of result, so
    /// those of different tasks can be kept together.
    pub fn canceller(&self) -> Canceller {
        Canceller { cell: Arc::clone(&self.cell) as Arc<dyn HandleCell>, name: self.name.clone() }
    }
}

/// A look that takes the result.
struct TakeResult<'a, T>(&'a mut TaskHandle<T>);

impl<T: Send + 'static> Look for TakeResult<'_, T> {
    type Found = TaskResult<T>;

    fn look(&mut self, waker: &Waker) -> Option<TaskResult<T>> {
        self.0.take_or_listen(waker)
    }

    fn what(&self) -> Option<Awaited> {
        Some(self.0.awaited())
    }
}

/// A look that leaves the result.
struct AwaitEnd<'a, T>(&'a TaskHandle<T>);

impl<T: Send + 'static> Look for AwaitEnd<'_, T> {
    type Found = ();

    fn look(&mut self, waker: &Waker) -> Option<()> {
        self.0.cell.finished_or_listen(waker).then_some(())
    }

    fn what(&self) -> Option<Awaited> {
        Some(self.0.awaited())
    }
}

/// Awaiting the handle, instead of blocking a thread on it. Any runtime will do.
///
/// Whoever awaits is woken by the thread that ends the task. There is room for one of them, so of several
/// polls it is the last one's waker that counts, as for every future.
///
/// # Panics
/// If it is polled again, joined or given a callback after a poll has given the result out.
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
/// Why [`TaskHandle::join`] or [`TaskHandle::join_timeout`] gave no result.
///
/// It is not `PartialEq`, like all errors that give a handle back: a handle equals no other. Match on it
/// instead, as in `assert!(matches!(handle.join(), Err(JoinError::Cancelled)))`.
#[doc(alias = "ExecutionException")]
#[doc(alias = "CancellationException")]
#[doc(alias = "InterruptedException")]
#[doc(alias = "TimeoutException")]
#[doc(alias = "JoinTimeoutError")]
#[non_exhaustive]
pub enum JoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on, and here is its handle.
    Interrupted(TaskHandle<T>),
    /// The time was up; the task waited for goes on, and here is its handle. Only from waits with a time
    /// limit.
    TimedOut(TaskHandle<T>),
    /// Every thread that could run the task waits, too. Here is its handle, and who waits for whom. Only from
    /// waits without a time limit, or with one so far away that the clock has no name for it.
    Starved(TaskHandle<T>, Starvation),
}
// ANCHOR_END: join_error

/// Why [`TaskHandle::try_join`] gave no result. Not `PartialEq`, as [`JoinError`].
#[non_exhaustive]
pub enum TryJoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The task is not finished; here is its handle.
    NotFinished(TaskHandle<T>),
}

/// The parts that the join errors have in common. By hand, because deriving would ask `T: Debug`.
macro_rules! join_error {
    ($name:ident<T> $(, $variant:ident => $text:literal)* $(; $starved:ident)?) => {
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => f.debug_tuple("Panicked").field(&panic.message()).finish(),
                    Self::Cancelled => f.write_str("Cancelled"),
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
                    Self::Cancelled => Cancelled.fmt(f),
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
                    TaskError::Cancelled => Self::Cancelled,
                }
            }
        }
    };
}

join_error!(JoinError<T>,
    Interrupted => "the waiting task was cancelled",
    TimedOut => "the task did not finish in time"; Starved);
join_error!(TryJoinError<T>, NotFinished => "the task is not finished");
