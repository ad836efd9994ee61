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

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::cancel::{CancelToken, RunningTask, enter_task};
use crate::error::{Cancelled, Panic, WaitError, contain, discard};
use crate::sync::{Arc, Duration, Mutex};
use crate::task::{HandleCell, Outcome, QueueWatcher, Task, TaskId};
use crate::wait::{Deadline, wait, wait_untimed};

// ----- how a task can end, as its handle sees it -----

/// Why a task has no result.
///
/// The task's own failures are not here: a task that can fail returns a `Result`, which is then its result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TaskError {
    /// The body panicked.
    Panicked(Panic),
    /// The task was cancelled, or dropped without having been run.
    Cancelled,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl Error for TaskError {}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Not begun.
    Pending,
    /// The body is running.
    Running,
    /// The body has returned.
    Completed,
    /// The body has panicked.
    Panicked,
    /// Cancelled, before or while it ran.
    Cancelled,
}

// ANCHOR: join_error
/// Why [`TaskHandle::join`] gave no result.
#[non_exhaustive]
pub enum JoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on, and here is its handle.
    Interrupted(TaskHandle<T>),
}
// ANCHOR_END: join_error

/// Why [`TaskHandle::join_timeout`] gave no result.
#[non_exhaustive]
pub enum JoinTimeoutError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on, and here is its handle.
    Interrupted(TaskHandle<T>),
    /// The time was up; the task waited for goes on, and here is its handle.
    TimedOut(TaskHandle<T>),
}

/// Why [`TaskHandle::try_join`] gave no result.
#[non_exhaustive]
pub enum TryJoinError<T> {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The task is not finished; here is its handle.
    NotFinished(TaskHandle<T>),
}

/// Why [`SharedHandle::join`] gave no result.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SharedJoinError {
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled.
    Cancelled,
    /// The *waiting* task was cancelled; the task waited for goes on.
    Interrupted,
    /// The time was up; the task waited for goes on.
    TimedOut,
}

/// The parts that the join errors have in common. By hand, because deriving would ask `T: Debug`.
macro_rules! join_error {
    ($name:ident<T> $(, $variant:ident => $text:literal)*) => {
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => f.debug_tuple("Panicked").field(&panic.message()).finish(),
                    Self::Cancelled => f.write_str("Cancelled"),
                    $(Self::$variant(handle) => f.debug_tuple(stringify!($variant)).field(handle).finish(),)*
                }
            }
        }

        impl<T> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Panicked(panic) => panic.fmt(f),
                    Self::Cancelled => Cancelled.fmt(f),
                    $(Self::$variant(_) => f.write_str($text),)*
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

join_error!(JoinError<T>, Interrupted => "the waiting task was cancelled");
join_error!(JoinTimeoutError<T>,
    Interrupted => "the waiting task was cancelled",
    TimedOut => "the task did not finish in time");
join_error!(TryJoinError<T>, NotFinished => "the task is not finished");

impl<T> From<JoinError<T>> for JoinTimeoutError<T> {
    fn from(error: JoinError<T>) -> Self {
        match error {
            JoinError::Panicked(panic) => Self::Panicked(panic),
            JoinError::Cancelled => Self::Cancelled,
            JoinError::Interrupted(handle) => Self::Interrupted(handle),
        }
    }
}

impl fmt::Display for SharedJoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled => Cancelled.fmt(f),
            Self::Interrupted => f.write_str("the waiting task was cancelled"),
            Self::TimedOut => f.write_str("the task did not finish in time"),
        }
    }
}

impl Error for SharedJoinError {}

// ----- the state that a task and its handle share -----

type TaskResult<T> = Result<T, TaskError>;

/// A panic that is given to somebody need not be reported to the panic handler.
fn mark_read<T>(result: &TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = result {
        panic.mark_read();
    }
}

/// The one allocation: what is shared, and the body in its slot.
struct Cell<T, F> {
    core: Core<T>,
    body: Mutex<Option<F>>,
}

/// The part that does not depend on the body's type.
struct Core<T> {
    id: TaskId,
    state: Mutex<CoreState<T>>,
}

struct CoreState<T> {
    phase: Phase<T>,
    listener: Listener<T>,
    /// Cancelled in the way that reaches into the body, so that a token made later has to be cancelled, too.
    interrupted: bool,
    place: Place,
}

/// Whether the task is in a queue that keeps count of those that were cancelled in it.
enum Place {
    Elsewhere,
    InQueue(Arc<dyn QueueWatcher>),
    CancelledInQueue,
}

enum Phase<T> {
    Pending,
    /// The token, once the body or a wait in it has asked for it.
    Running(Option<CancelToken>),
    Finished(TaskResult<T>),
    /// The result was moved out; what is left says how the task had ended.
    Taken(TaskState),
}

enum Listener<T> {
    None,
    /// The handle was dropped: nobody will ever take the result.
    Gone,
    Waker(Waker),
    Callback(Box<dyn FnOnce(TaskResult<T>) + Send>),
}

impl<T> Phase<T> {
    fn state(&self) -> TaskState {
        match self {
            Self::Pending => TaskState::Pending,
            Self::Running(_) => TaskState::Running,
            Self::Finished(Ok(_)) => TaskState::Completed,
            Self::Finished(Err(TaskError::Panicked(_))) => TaskState::Panicked,
            Self::Finished(Err(TaskError::Cancelled)) => TaskState::Cancelled,
            Self::Taken(state) => *state,
        }
    }

    fn is_finished(&self) -> bool {
        matches!(self, Self::Finished(_) | Self::Taken(_))
    }

    /// Moves the result out, if it is there.
    fn take(&mut self) -> Option<TaskResult<T>> {
        match self {
            Self::Finished(_) => {
                let taken = Self::Taken(self.state());
                let Self::Finished(result) = std::mem::replace(self, taken) else { unreachable!() };
                Some(result)
            }
            _ => None,
        }
    }
}

impl<T> CoreState<T> {
    /// A result is given once. Only a handle that was polled to its end and then used again can get here without one.
    fn assert_not_taken(&self) {
        assert!(!matches!(self.phase, Phase::Taken(_)), "a handle was used after it had given its result");
    }

    /// Decides the outcome. What has to be done about it is to be done without the lock: see [`Announcement::make`].
    fn decide(&mut self, result: TaskResult<T>) -> Announcement<T> {
        self.phase = Phase::Finished(result);
        match std::mem::replace(&mut self.listener, Listener::None) {
            Listener::None => Announcement::Nobody,
            Listener::Gone => {
                let result = self.phase.take().expect("decided above");
                Announcement::Drop(result)
            }
            Listener::Waker(waker) => Announcement::Wake(waker),
            Listener::Callback(callback) => {
                let result = self.phase.take().expect("decided above");
                Announcement::Call(callback, result)
            }
        }
    }
}

/// The news of a decided outcome on its way to the listener.
#[must_use]
enum Announcement<T> {
    Nobody,
    Drop(TaskResult<T>),
    Wake(Waker),
    Call(Box<dyn FnOnce(TaskResult<T>) + Send>, TaskResult<T>),
}

impl<T> Announcement<T> {
    fn make(self) {
        // A panic of the listener was reported by the panic hook; the task and its thread have nothing to do with it.
        discard(contain(|| match self {
            Self::Nobody => {}
            Self::Drop(result) => drop(result),
            Self::Wake(waker) => waker.wake(),
            Self::Call(callback, result) => callback(result),
        }));
    }
}

impl<T> Core<T> {
    /// Moves from pending to running; false if there is nothing to run any more.
    fn begin(&self) -> bool {
        let mut state = self.state.lock();
        let pending = matches!(state.phase, Phase::Pending);
        if pending {
            state.phase = Phase::Running(None);
        }
        pending
    }

    /// Publishes what came of the body, unless a `cancel` was first.
    fn finish(&self, result: TaskResult<T>) {
        let mut state = self.state.lock();
        if let Phase::Running(token) = &mut state.phase {
            let token = token.take();
            let announcement = state.decide(result);
            drop(state);
            drop(token);
            announcement.make();
        } else {
            drop(state);
            if let Err(TaskError::Panicked(panic)) = &result {
                panic.set_after_cancel();
            }
            discard(result);
        }
    }

    /// Decides for cancelled if nothing is decided yet. `None` if something was.
    fn cancel(&self, interrupt: bool) -> Option<Decided<T>> {
        let mut state = self.state.lock();
        let (was_pending, token) = match &mut state.phase {
            Phase::Pending => (true, None),
            Phase::Running(token) => (false, token.take()),
            Phase::Finished(_) | Phase::Taken(_) => return None,
        };
        state.interrupted = interrupt;
        let watcher = match std::mem::replace(&mut state.place, Place::Elsewhere) {
            Place::InQueue(watcher) => {
                state.place = Place::CancelledInQueue;
                Some(watcher)
            }
            _ => None,
        };
        let announcement = state.decide(Err(TaskError::Cancelled));
        Some(Decided { was_pending, token: token.filter(|_| interrupt), watcher, announcement })
    }

    fn take(&self) -> Option<TaskResult<T>> {
        let result = {
            let mut state = self.state.lock();
            state.assert_not_taken();
            state.phase.take()
        };
        result.inspect(mark_read)
    }

    /// Takes the result, or leaves the waker with the task.
    fn take_or_listen(&self, waker: &Waker) -> Option<TaskResult<T>> {
        if let Some(result) = self.take() {
            return Some(result);
        }
        let waker = waker.clone(); // might be user code, so it happens before the lock
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            return Some(result).inspect(mark_read);
        }
        state.assert_not_taken();
        let replaced = std::mem::replace(&mut state.listener, Listener::Waker(waker));
        drop(state);
        discard(replaced);
        None
    }

    /// The handle is gone. Without this, a canceller would keep the result alive for as long as it lives itself.
    fn nobody_listens(&self) {
        let mut state = self.state.lock();
        let result = state.phase.take();
        let listener = match &state.listener {
            Listener::Callback(_) => None, // it has taken the handle's place
            _ => Some(std::mem::replace(&mut state.listener, Listener::Gone)),
        };
        drop(state);
        discard(result);
        discard(listener);
    }

    fn call_when_done(&self, callback: Box<dyn FnOnce(TaskResult<T>) + Send>) {
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            drop(state);
            Announcement::Call(callback, result).make();
        } else {
            state.assert_not_taken();
            let replaced = std::mem::replace(&mut state.listener, Listener::Callback(callback));
            drop(state);
            discard(replaced);
        }
    }
}

impl<T> Drop for Core<T> {
    fn drop(&mut self) {
        // A result that nobody took and a callback that nobody called are the user's; their `Drop` may panic.
        let mut state = self.state.lock();
        let phase = std::mem::replace(&mut state.phase, Phase::Taken(TaskState::Cancelled));
        let listener = std::mem::replace(&mut state.listener, Listener::None);
        drop(state);
        discard(phase);
        discard(listener);
    }
}

/// A cancellation that won, and what is left to do about it without the lock.
struct Decided<T> {
    was_pending: bool,
    token: Option<CancelToken>,
    watcher: Option<Arc<dyn QueueWatcher>>,
    announcement: Announcement<T>,
}

/// What a handle can do to the cell; without the body's type.
trait TaskCell<T>: CancelCell {
    fn core(&self) -> &Core<T>;
}

/// What a canceller can do to the cell; without the result's type either.
trait CancelCell: Send + Sync {
    fn id(&self) -> TaskId;
    fn state(&self) -> TaskState;
    fn is_finished(&self) -> bool;
    fn cancel(&self, interrupt: bool) -> bool;
}

impl<T: Send, F: Send> TaskCell<T> for Cell<T, F> {
    fn core(&self) -> &Core<T> {
        &self.core
    }
}

impl<T: Send, F: Send> CancelCell for Cell<T, F> {
    fn id(&self) -> TaskId {
        self.core.id
    }

    fn state(&self) -> TaskState {
        self.core.state.lock().phase.state()
    }

    fn is_finished(&self) -> bool {
        self.core.state.lock().phase.is_finished()
    }

    fn cancel(&self, interrupt: bool) -> bool {
        let Some(Decided { was_pending, token, watcher, announcement }) = self.core.cancel(interrupt) else {
            return false;
        };
        if was_pending {
            let body = self.body.lock().take();
            discard(body);
        }
        if let Some(watcher) = watcher {
            watcher.cancelled_in_queue();
        }
        if let Some(token) = token {
            token.cancel();
        }
        announcement.make();
        true
    }
}

impl<T: Send, F: Send> RunningTask for Cell<T, F> {
    fn token_made(&self, made: &CancelToken) {
        let mut state = self.core.state.lock();
        if let Phase::Running(token) = &mut state.phase {
            *token = Some(made.clone());
        } else if state.interrupted {
            drop(state);
            made.cancel();
        }
    }

    fn was_cancelled(&self) -> bool {
        self.core.state.lock().interrupted
    }
}

impl<T, F> HandleCell for Cell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    fn run(self: Arc<Self>, before_publish: &mut dyn FnMut(&Outcome)) -> Outcome {
        if !self.core.begin() {
            before_publish(&Outcome::Cancelled);
            return Outcome::Cancelled;
        }
        let body = self.body.lock().take().expect("the body is there while the state is pending");
        let result = {
            let _frame = enter_task(Some(Arc::clone(&self) as Arc<dyn RunningTask>));
            contain(body)
        };
        let (outcome, result) = match result {
            Ok(Ok(value)) => (Outcome::Completed, Ok(value)),
            Ok(Err(Cancelled)) => (Outcome::Cancelled, Err(TaskError::Cancelled)),
            Err(panic) => (Outcome::Panicked(panic.clone()), Err(TaskError::Panicked(panic))),
        };
        before_publish(&outcome);
        self.core.finish(result);
        outcome
    }

    fn abandon(&self) {
        self.cancel(true);
    }

    fn is_cancelled(&self) -> bool {
        self.is_finished()
    }

    fn enter_queue(&self, watcher: Arc<dyn QueueWatcher>) -> bool {
        let mut state = self.core.state.lock();
        let decided = state.phase.is_finished();
        state.place = if decided { Place::CancelledInQueue } else { Place::InQueue(watcher) };
        !decided
    }

    fn leave_queue(&self) -> bool {
        let place = std::mem::replace(&mut self.core.state.lock().place, Place::Elsewhere);
        matches!(place, Place::CancelledInQueue)
    }
}

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
        let state = CoreState {
            phase: Phase::Pending,
            listener: Listener::None,
            interrupted: false,
            place: Place::Elsewhere,
        };
        let cell =
            Arc::new(Cell { core: Core { id, state: Mutex::new(state) }, body: Mutex::new(Some(body)) });
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

    /// Another handle on the task that can only call it off. It can be cloned and has no type of result, so those of
    /// different tasks can be kept together.
    pub fn canceller(&self) -> Canceller {
        Canceller { cell: Arc::clone(&self.cell) as Arc<dyn CancelCell> }
    }
}

impl<T: Send + Sync + 'static> TaskHandle<T> {
    /// Turns the handle into one that can be cloned and joined any number of times; each join gives the same value.
    pub fn shared(self) -> SharedHandle<T> {
        let canceller = self.canceller();
        let cell =
            Arc::new(SharedCell { state: Mutex::new(SharedState { result: None, waiters: Vec::new() }) });
        // Not `on_done`: nobody has read it until one of the shared handles gives it out.
        self.cell.core().call_when_done(Box::new({
            let cell = Arc::clone(&cell);
            move |result| cell.complete(result.map(Arc::new))
        }));
        SharedHandle { cell, canceller }
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

/// A handle for any number of waiters, made by [`TaskHandle::shared`].
pub struct SharedHandle<T> {
    cell: Arc<SharedCell<T>>,
    canceller: Canceller,
}

struct SharedCell<T> {
    state: Mutex<SharedState<T>>,
}

struct SharedState<T> {
    result: Option<Result<Arc<T>, TaskError>>,
    waiters: Vec<Waker>,
}

impl<T> SharedCell<T> {
    fn complete(&self, result: Result<Arc<T>, TaskError>) {
        let waiters = {
            let mut state = self.state.lock();
            state.result = Some(result);
            std::mem::take(&mut state.waiters)
        };
        for waiter in waiters {
            discard(contain(|| waiter.wake()));
        }
    }

    /// Looks for the result, or leaves the waker.
    fn look(&self, waker: &Waker) -> Option<Result<Arc<T>, TaskError>> {
        let waker = waker.clone(); // might be user code, so it happens before the lock
        let mut state = self.state.lock();
        if state.result.is_none() && !state.waiters.iter().any(|other| other.will_wake(&waker)) {
            state.waiters.push(waker);
        }
        state.result.clone().inspect(mark_read)
    }
}

impl<T> Drop for SharedCell<T> {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        let (result, waiters) = (state.result.take(), std::mem::take(&mut state.waiters));
        drop(state);
        discard(result);
        discard(waiters);
    }
}

impl<T: Send + Sync + 'static> SharedHandle<T> {
    /// Waits for the task and returns its result, which all handles share.
    ///
    /// # Errors
    /// As [`TaskHandle::join`]; nothing is lost by [`SharedJoinError::Interrupted`], so nothing comes back with it.
    pub fn join(&self) -> Result<Arc<T>, SharedJoinError> {
        self.join_until(Deadline::NEVER)
    }

    /// Waits for the task for `timeout` at most.
    ///
    /// # Errors
    /// [`SharedJoinError::TimedOut`] if it is not finished by then, otherwise as [`join`](Self::join).
    pub fn join_timeout(&self, timeout: Duration) -> Result<Arc<T>, SharedJoinError> {
        self.join_until(Deadline::after(timeout))
    }

    fn join_until(&self, deadline: Deadline) -> Result<Arc<T>, SharedJoinError> {
        let mut left_behind = None;
        let result = wait(deadline, |waker| {
            left_behind.get_or_insert_with(|| waker.clone());
            self.cell.look(waker)
        });
        if let (Err(_), Some(waker)) = (&result, left_behind) {
            self.cell.state.lock().waiters.retain(|other| !other.will_wake(&waker));
        }
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(TaskError::Panicked(panic))) => Err(SharedJoinError::Panicked(panic)),
            Ok(Err(TaskError::Cancelled)) => Err(SharedJoinError::Cancelled),
            Err(WaitError::Cancelled) => Err(SharedJoinError::Interrupted),
            Err(WaitError::TimedOut) => Err(SharedJoinError::TimedOut),
        }
    }

    /// As [`TaskHandle::cancel`].
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.canceller.cancel()
    }

    /// As [`TaskHandle::cancel_keep_running`].
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        self.canceller.cancel_keep_running()
    }

    /// Whether the outcome is there. Then [`join`](Self::join) does not block.
    pub fn is_finished(&self) -> bool {
        self.cell.state.lock().result.is_some()
    }

    /// Where the task stands.
    pub fn state(&self) -> TaskState {
        self.canceller.state()
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.canceller.id()
    }
}

impl<T: Send + Sync + 'static> Future for SharedHandle<T> {
    type Output = Result<Arc<T>, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.cell.look(context.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Clone for SharedHandle<T> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell), canceller: self.canceller.clone() }
    }
}

impl<T> fmt::Debug for SharedHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "SharedHandle", &*self.canceller.cell)
    }
}
