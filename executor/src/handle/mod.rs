//! The other end of a task: wait for its result, look whether it is there, call it off.
//!
//! [`FutureTask::new`] makes a task and its [`TaskHandle`] together, as one allocation; an executor's `submit` does that
//! and keeps the task. The handle is unique, so the result can be moved out of it. For more than one reader there is
//! [`TaskHandle::shared`]; for one who may call the task off but not see its result, [`TaskHandle::canceller`].
//!
//! ```
//! use executor::{FutureTask, Outcome};
//!
//! let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
//! let worker = std::thread::spawn(move || task.run());
//! assert_eq!(handle.join().unwrap(), 42);
//! assert!(matches!(worker.join().unwrap(), Outcome::Completed));
//! ```
//!
//! # States
//!
//! ```text
//!              run()                  body ends
//!   Pending ──────────▶ Running ────────────────────▶ Finished ──join, poll, on_done──▶ Taken
//!      │                   │                             ▲
//!      │  cancel()         │  cancel()                   │
//!      └── task dropped ───┴──▶ Finished as cancelled ───┘
//! ```
//!
//! # Invariants
//!
//! 1. The outcome is decided once, by whoever first moves the state to `Finished`. A `cancel` that wins while the body
//!    runs decides at once; what the body returns later is dropped.
//! 2. The body is in its slot exactly while the state is `Pending`. Whoever moves the state on takes it out: `run` to
//!    run it, `cancel` to drop it, so a cancelled task's captured data does not linger in a queue.
//! 3. Every handle reaches `Finished`: a task dropped unrun is cancelled by its drop.
//! 4. There is one listener at most: a waker (of a thread or an asynchronous task) or a callback.
//! 5. No user code runs while the state is locked: not the body, a callback or a waker, and not the `Drop` of any.
//!
//! # A lock, not an atomic state word
//!
//! State, result and listener change together, so they are behind one lock, which is held for a few instructions and
//! hardly ever contended: only the two ends of one task meet there. A compare-exchange on a state word would save a
//! part of that and cost a proof.
//!
//! # What is visible to whom
//!
//! What a thread did before it submitted a task is visible to the task; what the task did is visible to whoever gets its
//! result. Both follow from the lock around the state.

mod cell;
mod error;
mod shared;

pub use error::{JoinError, JoinTimeoutError, SharedJoinError, TaskError, TaskState, TryJoinError};
pub use shared::SharedHandle;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::cancel::CancelToken;
use crate::error::{Cancelled, WaitError};
use crate::sync::{Arc, Duration};
use crate::task::{Task, TaskId};
use crate::wait::{Deadline, wait, wait_untimed};
use cell::{CancelCell, Cell, TaskCell, mark_read};

// ----- future task -----

/// A task and its handle: two views of one allocation.
///
/// What `submit` makes and splits. Use it directly to run a task on a thread of your own, or to hand the task to an
/// executor that someone else chooses.
#[derive(Debug)]
#[must_use = "the task does nothing until it is run, and dropping it cancels it"]
pub struct FutureTask<T> {
    /// To be run once; dropping it unrun completes the handle as cancelled.
    pub task: Task,
    /// To wait for the result, or to call the task off.
    pub handle: TaskHandle<T>,
}

impl<T: Send + 'static> FutureTask<T> {
    /// Makes a task that computes a value.
    pub fn new(f: impl FnOnce() -> T + Send + 'static) -> Self {
        Self::from_body(|| Ok(f()))
    }

    /// Makes a task that gives up when it is cancelled: `f` gets the task's token, and its `Err(Cancelled)` is not a
    /// result but the outcome *cancelled*.
    ///
    /// ```
    /// use executor::{FutureTask, TaskState};
    ///
    /// let FutureTask { task, handle } = FutureTask::cancellable(|token| {
    ///     token.check()?;
    ///     Ok(1)
    /// });
    /// handle.cancel();
    /// task.run();
    /// assert_eq!(handle.state(), TaskState::Cancelled);
    /// ```
    pub fn cancellable(f: impl FnOnce(&CancelToken) -> Result<T, Cancelled> + Send + 'static) -> Self {
        Self::from_body(|| f(&CancelToken::current()))
    }

    fn from_body(body: impl FnOnce() -> Result<T, Cancelled> + Send + 'static) -> Self {
        let id = TaskId::next();
        let cell = Arc::new(Cell::new(id, body));
        let handle = TaskHandle { cell: Arc::clone(&cell) as Arc<dyn TaskCell<T>> };
        Self { task: Task::with_handle(cell, id), handle }
    }

    /// Gives the task a name.
    pub fn named(mut self, name: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        self.task = self.task.named(name);
        self
    }

    /// Gives the task a priority, as [`Task::prioritized`] does.
    pub fn prioritized(mut self, priority: i32) -> Self {
        self.task = self.task.prioritized(priority);
        self
    }
}

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> From<F> for FutureTask<T> {
    fn from(f: F) -> Self {
        Self::new(f)
    }
}

// ----- handles -----

/// The owner's end of a submitted task: waits for it, takes its result, calls it off.
///
/// A handle can be waited for by a thread ([`join`](Self::join)) or awaited by an asynchronous task: it is a [`Future`].
/// Dropping it lets the task go on unobserved; its result is then dropped, and a panic in it goes to the [panic
/// handler](crate::panics).
#[doc(alias = "Future")]
#[must_use = "dropping the handle loses the result; bind it to `_handle` if that is meant"]
pub struct TaskHandle<T> {
    cell: Arc<dyn TaskCell<T>>,
}

impl<T: Send + 'static> TaskHandle<T> {
    /// Waits for the task and returns its result.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] and [`JoinError::Cancelled`] tell how the task ended without one.
    /// [`JoinError::Interrupted`] means that the *caller's* task was cancelled while it waited; a result that is there
    /// already is returned even then.
    ///
    /// # Blocking
    /// Blocks until the task ends. A task that waits for another on the same full pool waits for ever: the other one
    /// never gets a thread.
    #[doc(alias = "get")]
    pub fn join(self) -> Result<T, JoinError<T>> {
        match wait_untimed(|waker| self.cell.core().take_or_listen(waker)) {
            Ok(result) => result.map_err(JoinError::from),
            Err(Cancelled) => Err(JoinError::Interrupted(self)),
        }
    }

    /// Waits for the task for `timeout` at most. A time-out does not cancel the task; do that with the handle that comes
    /// back, if it is meant.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{FutureTask, JoinTimeoutError};
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 1);
    /// match handle.join_timeout(Duration::from_millis(1)) {
    ///     Err(JoinTimeoutError::TimedOut(handle)) => assert!(handle.cancel()),
    ///     other => panic!("nobody has run it: {other:?}"),
    /// }
    /// # drop(task);
    /// ```
    ///
    /// # Errors
    /// [`JoinTimeoutError::TimedOut`] if the task is not finished by then, otherwise as [`join`](Self::join). A result
    /// that is there already is returned even if `timeout` is zero.
    pub fn join_timeout(self, timeout: Duration) -> Result<T, JoinTimeoutError<T>> {
        match wait(Deadline::after(timeout), |waker| self.cell.core().take_or_listen(waker)) {
            Ok(result) => result.map_err(JoinTimeoutError::from),
            Err(WaitError::Cancelled) => Err(JoinTimeoutError::Interrupted(self)),
            Err(WaitError::TimedOut) => Err(JoinTimeoutError::TimedOut(self)),
        }
    }

    /// Takes the result if the task is finished. Never blocks.
    ///
    /// # Errors
    /// [`TryJoinError::NotFinished`] gives the handle back; the others tell how the task ended without a result.
    #[doc(alias = "resultNow")]
    pub fn try_join(self) -> Result<T, TryJoinError<T>> {
        match self.cell.core().take() {
            Some(result) => result.map_err(TryJoinError::from),
            None => Err(TryJoinError::NotFinished(self)),
        }
    }

    /// Calls the task off. Returns true if that decided its outcome.
    ///
    /// A task that has not begun never will, and what it captured is dropped now. For one that runs, the outcome is
    /// *cancelled* from now on, whoever waits is let go, and the task's [`CancelToken`] is cancelled; the body goes on
    /// until it looks at it, and what it returns is dropped. If the task is finished or cancelled already, nothing
    /// happens and the answer is false.
    ///
    /// Callbacks registered with the token, and one given to [`on_done`](Self::on_done), run on the calling thread.
    #[expect(clippy::must_use_candidate, reason = "most callers need not know whether they were in time")]
    pub fn cancel(&self) -> bool {
        self.cell.cancel(true)
    }

    /// Decides for *cancelled* like [`cancel`](Self::cancel), but lets a body that runs already go on undisturbed: its
    /// token is left alone.
    #[doc(alias = "cancel(false)")]
    #[expect(clippy::must_use_candidate, reason = "as for `cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        self.cell.cancel(false)
    }

    /// Whether the outcome is decided. Then [`join`](Self::join) does not block.
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Where the task stands.
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }

    /// Has `callback` called with the result, by the thread that finishes (or cancels) the task; at once, on this
    /// thread, if it is finished already. A panic in the callback is contained.
    #[doc(alias = "done")]
    pub fn on_done(self, callback: impl FnOnce(Result<T, TaskError>) + Send + 'static) {
        self.cell.core().call_when_done(Box::new(|result| {
            mark_read(&result);
            callback(result);
        }));
    }

    /// Whether the outcome is decided. If not, `waker` is woken when it is, unless somebody else listens then.
    pub(crate) fn finished_or_wake(&self, waker: &Waker) -> bool {
        self.cell.core().finished_or_listen(waker)
    }

    /// Another handle on the task that can only call it off. It can be cloned and has no type of result, so those of
    /// different tasks can be kept together.
    pub fn canceller(&self) -> Canceller {
        Canceller { cell: Arc::clone(&self.cell) as Arc<dyn CancelCell> }
    }
}

/// Awaiting the handle, instead of blocking a thread on it.
///
/// # Panics
/// If it is polled again, joined or given a callback after a poll has given the result out.
impl<T: Send + 'static> Future for TaskHandle<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.cell.core().take_or_listen(context.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for TaskHandle<T> {
    fn drop(&mut self) {
        self.cell.core().nobody_listens();
    }
}

impl<T> fmt::Debug for TaskHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "TaskHandle", &*self.cell)
    }
}

fn debug_handle<C: CancelCell + ?Sized>(f: &mut fmt::Formatter<'_>, name: &str, cell: &C) -> fmt::Result {
    f.debug_struct(name).field("id", &cell.id().to_string()).field("state", &cell.state()).finish()
}

/// Calls a task off without being able to see its result.
#[derive(Clone)]
pub struct Canceller {
    cell: Arc<dyn CancelCell>,
}

impl Canceller {
    /// As [`TaskHandle::cancel`].
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.cell.cancel(true)
    }

    /// As [`TaskHandle::cancel_keep_running`].
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        self.cell.cancel(false)
    }

    /// As [`TaskHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// As [`TaskHandle::state`].
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Canceller", &*self.cell)
    }
}
