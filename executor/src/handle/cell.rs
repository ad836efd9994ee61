//! The state that a task and its handle share, and every way in which it changes.

use std::task::Waker;

use super::error::{TaskError, TaskState};
use crate::cancel::{Callbacks, CancelToken, RunningTask, call_outside, enter_task, outside_any_task};
use crate::error::{Cancelled, contain, discard};
use crate::sync::{Arc, Mutex, Weak};
use crate::task::{HandleCell, Outcome, QueueWatcher, Task, TaskId};

pub(super) type TaskResult<T> = Result<T, TaskError>;

/// A panic that is given to a reader need not be reported to the panic handler.
pub(super) fn mark_read<T>(result: &TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = result {
        panic.mark_read();
    }
}

/// The one allocation: what is shared, and the body in its slot.
pub(super) struct Cell<T, F> {
    core: Core<T>,
    body: Mutex<Option<F>>,
}

impl<T, F> Cell<T, F> {
    pub(super) fn new(id: TaskId, body: F) -> Self {
        Self { core: Core::new(id, Phase::Pending), body: Mutex::new(Some(body)) }
    }
}

impl<T> Cell<T, ()> {
    /// Without a body: the outcome will come from elsewhere, by [`Core::settle`].
    pub(super) fn begun(id: TaskId) -> Self {
        Self { core: Core::new(id, Phase::Running(None)), body: Mutex::new(None) }
    }
}

/// The part that does not depend on the body's type.
pub(super) struct Core<T> {
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
    // Weak: the queue holds the task, and its pool the queue.
    InQueue(Weak<dyn QueueWatcher>),
    CancelledInQueue(Weak<dyn QueueWatcher>),
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
    /// The handle was dropped: the result will never be taken.
    Gone,
    Waker(Waker),
    Callback(Callback<T>),
    Relay(Arc<dyn Relay<T>>),
}

type Callback<T> = Box<dyn FnOnce(TaskResult<T>) + Send>;

/// A listener that passes the news on to many, in two steps as everywhere: first to the waiters.
pub(super) trait Relay<T>: Send + Sync {
    /// Puts the result where all of them find it, and lets the waiters go.
    fn publish(&self, result: TaskResult<T>);

    /// Calls the callbacks.
    fn call_back(&self);
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
    pub(super) fn take(&mut self) -> Option<TaskResult<T>> {
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

    /// Decides the outcome. The caller announces it when it has let go of the lock: [`Announcement::release_waiters`].
    fn decide(&mut self, result: TaskResult<T>) -> Announcement<T> {
        self.phase = Phase::Finished(result);
        match std::mem::replace(&mut self.listener, Listener::None) {
            Listener::None => Announcement::Nobody,
            Listener::Gone => {
                let result = self.phase.take().expect("decided above");
                Announcement::Drop(result)
            }
            Listener::Waker(waker) => Announcement::Wake(waker),
            Listener::Relay(relay) => {
                let result = self.phase.take().expect("decided above");
                Announcement::Relay(relay, result)
            }
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
    Relay(Arc<dyn Relay<T>>, TaskResult<T>),
    Call(Callback<T>, TaskResult<T>),
}

/// What is left to do when the waiters have been let go: the user's code, which may take long.
#[must_use]
enum UserCode<T> {
    None,
    Drop(TaskResult<T>),
    Relay(Arc<dyn Relay<T>>),
    Call(Callback<T>, TaskResult<T>),
}

impl<T> Announcement<T> {
    /// Lets the waiters go, threads and asynchronous tasks.
    fn release_waiters(self) -> UserCode<T> {
        match self {
            Self::Nobody => UserCode::None,
            Self::Drop(result) => UserCode::Drop(result),
            Self::Wake(waker) => {
                wake(waker);
                UserCode::None
            }
            Self::Relay(relay, result) => {
                relay.publish(result);
                UserCode::Relay(relay)
            }
            Self::Call(callback, result) => UserCode::Call(callback, result),
        }
    }
}

/// Wakes a listener. It may be a user's waker, whose panic is no concern of the task and its thread.
pub(super) fn wake(waker: Waker) {
    discard(contain(|| outside_any_task(|| waker.wake())));
}

impl<T> UserCode<T> {
    /// A panic of the listener was reported by the panic hook; the task and its thread have nothing to do with it.
    fn run_here(self) {
        discard(contain(|| match self {
            Self::None => {}
            Self::Drop(result) => drop(result),
            Self::Relay(relay) => relay.call_back(),
            Self::Call(callback, result) => callback(result),
        }));
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl<T: 'static> UserCode<T> {
    fn run(self) {
        if !self.is_none() {
            call_outside(|| self.run_here());
        }
    }
}

impl<T> Core<T> {
    fn new(id: TaskId, phase: Phase<T>) -> Self {
        let state =
            CoreState { phase, listener: Listener::None, interrupted: false, place: Place::Elsewhere };
        Self { id, state: Mutex::new(state) }
    }

    /// Moves from pending to running; false if there is nothing to run any more.
    fn begin(&self) -> bool {
        let mut state = self.state.lock();
        let pending = matches!(state.phase, Phase::Pending);
        if pending {
            state.phase = Phase::Running(None);
        }
        pending
    }

    /// The token of what is running, made if need be.
    pub(super) fn token(&self) -> CancelToken {
        let mut state = self.state.lock();
        if let Phase::Running(token) = &mut state.phase {
            return token.get_or_insert_default().clone();
        }
        let token = CancelToken::new();
        if state.interrupted {
            token.cancel(); // no other thread has it yet, so this runs no callbacks
        }
        token
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
                state.place = Place::CancelledInQueue(Weak::clone(&watcher));
                watcher.upgrade()
            }
            _ => None,
        };
        let announcement = state.decide(Err(TaskError::Cancelled));
        Some(Decided { was_pending, token: token.filter(|_| interrupt), watcher, announcement })
    }

    pub(super) fn take(&self) -> Option<TaskResult<T>> {
        let result = {
            let mut state = self.state.lock();
            state.assert_not_taken();
            state.phase.take()
        };
        result.inspect(mark_read)
    }

    /// Takes the result, or leaves the waker with the task.
    pub(super) fn take_or_listen(&self, waker: &Waker) -> Option<TaskResult<T>> {
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

    /// Whether there is an outcome. If not, leaves the waker with the task; in no case takes anything.
    pub(super) fn finished_or_listen(&self, waker: &Waker) -> bool {
        let waker = waker.clone(); // might be user code, so it happens before the lock
        let mut state = self.state.lock();
        if state.phase.is_finished() {
            return true;
        }
        let replaced = std::mem::replace(&mut state.listener, Listener::Waker(waker));
        drop(state);
        discard(replaced);
        false
    }

    /// The handle is gone. Without this, a canceller would keep the result alive for as long as it lives itself.
    pub(super) fn nobody_listens(&self) {
        let mut state = self.state.lock();
        let result = state.phase.take();
        let listener = match &state.listener {
            Listener::Callback(_) | Listener::Relay(_) => None, // it has taken the handle's place
            _ => Some(std::mem::replace(&mut state.listener, Listener::Gone)),
        };
        drop(state);
        discard(result);
        discard(listener);
    }

    /// Takes the task out of the queue that it waits in.
    pub(super) fn take_out_of_queue(&self) -> Option<Task> {
        let watcher = match &self.state.lock().place {
            Place::InQueue(watcher) => watcher.upgrade()?,
            _ => return None,
        };
        watcher.take_out(self.id) // without our lock: the queue's is taken before ours elsewhere
    }

    /// Has a relay told when it is done; gives it the result now if it is.
    pub(super) fn relay_when_done(&self, relay: Arc<dyn Relay<T>>) {
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            drop(state);
            relay.publish(result);
        } else {
            state.assert_not_taken();
            let replaced = std::mem::replace(&mut state.listener, Listener::Relay(relay));
            drop(state);
            discard(replaced);
        }
    }
}

impl<T: 'static> Core<T> {
    // ANCHOR: settle
    /// Decides for `result` if nothing is decided yet. Otherwise it comes back.
    pub(super) fn settle(&self, result: TaskResult<T>) -> Result<(), TaskResult<T>> {
        let mut state = self.state.lock();
        let Phase::Running(token) = &mut state.phase else { return Err(result) };
        let token = token.take();
        let announcement = state.decide(result);
        drop(state);
        let callback = announcement.release_waiters();
        drop(token);
        callback.run();
        Ok(())
    }
    // ANCHOR_END: settle

    /// Publishes what came of the body, unless a `cancel` was first.
    fn finish(&self, result: TaskResult<T>) {
        if let Err(too_late) = self.settle(result) {
            if let Err(TaskError::Panicked(panic)) = &too_late {
                panic.set_after_cancel();
            }
            UserCode::Drop(too_late).run();
        }
    }

    pub(super) fn call_when_done(&self, callback: Callback<T>) {
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            drop(state);
            UserCode::Call(callback, result).run();
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
        // A result that was not taken and a callback that was not called are the user's; their `Drop` may panic.
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

/// A cancel whose waiters have been let go, and the users' code that it is still to run.
#[must_use]
pub(crate) struct CancelBegun<T> {
    was_pending: bool,
    of_the_token: Callbacks,
    of_the_listener: UserCode<T>,
}

/// What a handle can do to the cell; without the body's type.
pub(super) trait TaskCell<T>: CancelCell {
    fn core(&self) -> &Core<T>;

    /// Decides for cancelled and lets all go that wait in this crate: for the outcome, or, in the body, under the
    /// task's token. Runs none of the users' callbacks. `None` if something was decided before.
    fn begin_cancel(&self, interrupt: bool) -> Option<CancelBegun<T>>;

    /// Runs the users' code that is left: the token's callbacks, the `Drop` of what the body captured, the listener.
    fn end_cancel(&self, begun: CancelBegun<T>);
}

/// What a canceller can do to the cell; without the result's type either.
pub(super) trait CancelCell: Send + Sync {
    fn id(&self) -> TaskId;
    fn state(&self) -> TaskState;
    fn is_finished(&self) -> bool;
    fn cancel(&self, interrupt: bool) -> bool;
    /// What the task panicked with, while the result is here.
    fn panic_message(&self) -> Option<String>;
}

impl<T: Send + 'static, F: Send + 'static> TaskCell<T> for Cell<T, F> {
    fn core(&self) -> &Core<T> {
        &self.core
    }

    // ANCHOR: cancel
    fn begin_cancel(&self, interrupt: bool) -> Option<CancelBegun<T>> {
        let Decided { was_pending, token, watcher, announcement } = self.core.cancel(interrupt)?;
        if let Some(watcher) = watcher {
            watcher.cancelled_in_queue(); // so that the pool's counts are right when a joiner asks for them
        }
        let of_the_listener = announcement.release_waiters();
        let of_the_token = token.and_then(|token| token.begin_cancel()).unwrap_or_default();
        Some(CancelBegun { was_pending, of_the_token, of_the_listener })
    }

    fn end_cancel(&self, begun: CancelBegun<T>) {
        let CancelBegun { was_pending, of_the_token, of_the_listener } = begun;
        let body = if was_pending { self.body.lock().take() } else { None };
        if body.is_some() || !of_the_token.are_none() || !of_the_listener.is_none() {
            call_outside(|| {
                of_the_token.run_here();
                discard(body);
                of_the_listener.run_here();
            });
        }
    }
    // ANCHOR_END: cancel
}

impl<T: Send + 'static, F: Send + 'static> CancelCell for Cell<T, F> {
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
        self.begin_cancel(interrupt).map(|begun| self.end_cancel(begun)).is_some()
    }

    fn panic_message(&self) -> Option<String> {
        match &self.core.state.lock().phase {
            Phase::Finished(Err(TaskError::Panicked(panic))) => Some(panic.message().to_owned()),
            _ => None,
        }
    }
}

impl<T: Send + 'static, F: Send + 'static> RunningTask for Cell<T, F> {
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
    // ANCHOR: run
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
    // ANCHOR_END: run

    fn abandon(&self) {
        // A task that is dropped while it is in a queue is dropped by that queue, under its pool's lock.
        let place = std::mem::replace(&mut self.core.state.lock().place, Place::Elsewhere);
        if let Place::CancelledInQueue(watcher) = place
            && let Some(watcher) = watcher.upgrade()
        {
            watcher.tombstone_dropped();
        }
        self.cancel(true);
    }

    fn is_cancelled(&self) -> bool {
        self.is_finished()
    }

    fn enter_queue(&self, watcher: Weak<dyn QueueWatcher>) -> bool {
        let mut state = self.core.state.lock();
        let decided = state.phase.is_finished();
        state.place = if decided { Place::CancelledInQueue(watcher) } else { Place::InQueue(watcher) };
        !decided
    }

    fn leave_queue(&self) -> bool {
        let place = std::mem::replace(&mut self.core.state.lock().place, Place::Elsewhere);
        matches!(place, Place::CancelledInQueue(_))
    }
}
