//! The state that a task and its handle share, and every way in which it changes.
//!
//! A submitted task is one allocation, a [`TaskCell`]: the state behind its lock, and the body. Each party sees it through a
//! trait that shows what is its business, and no more of the types than it needs:
//!
//! | party | sees | does not know |
//! |---|---|---|
//! | the frame of the thread that runs the body | [`RunningTask`] | result, body |
//! | executor, queue, [`Canceller`](super::Canceller) | [`HandleCell`] | result, body |
//! | [`TaskHandle`](super::TaskHandle), [`Promise`](super::Promise) | [`ResultCell`] | body |
//!
//! The states and the invariants are on the [page of the folder](super).

use std::task::Waker;

use super::error::TaskError;
use super::listener::{Announcement, Callback, Listener, Relay, TaskResult, UserCode, mark_read};
use crate::cancel::{Callbacks, CancelToken, RunningTask, call_outside, enter_task};
use crate::error::Cancelled;
use crate::panics::{contain, discard};
use crate::sync::{Arc, Mutex, Weak};
use crate::task::{HandleCell, Outcome, QueueWatcher, Task, TaskId, TaskState};

/// The one allocation: what is shared, and the body in its slot.
pub(super) struct TaskCell<T, F> {
    core: Core<T>,
    body: Mutex<Option<F>>,
}

impl<T, F> TaskCell<T, F> {
    pub(super) fn new(id: TaskId, body: F) -> Self {
        Self { core: Core::new(id, Phase::Pending), body: Mutex::new(Some(body)) }
    }
}

/// The body of a promise, of which there is none.
pub(super) type NoBody<T> = fn() -> Result<T, Cancelled>;

impl<T> TaskCell<T, NoBody<T>> {
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
    /// Cancelled in the way that asks the body to stop, so that a token made later has to be cancelled, too.
    stop_body: bool,
    whereabouts: Whereabouts,
}

/// Whether the task is in a queue that keeps count of those that were cancelled in it.
enum Whereabouts {
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

impl<T> Core<T> {
    fn new(id: TaskId, phase: Phase<T>) -> Self {
        let state = CoreState {
            phase,
            listener: Listener::None,
            stop_body: false,
            whereabouts: Whereabouts::Elsewhere,
        };
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
        if state.stop_body {
            token.cancel(); // nobody else has it yet, so this runs no callbacks
        }
        token
    }

    /// Decides for cancelled if nothing is decided yet. `None` if something was.
    fn cancel(&self, stop_body: bool) -> Option<Decided<T>> {
        let mut state = self.state.lock();
        let (was_pending, token) = match &mut state.phase {
            Phase::Pending => (true, None),
            Phase::Running(token) => (false, token.take()),
            Phase::Finished(_) | Phase::Taken(_) => return None,
        };
        state.stop_body = stop_body;
        let watcher = match std::mem::replace(&mut state.whereabouts, Whereabouts::Elsewhere) {
            Whereabouts::InQueue(watcher) => {
                state.whereabouts = Whereabouts::CancelledInQueue(Weak::clone(&watcher));
                watcher.upgrade()
            }
            _ => None,
        };
        let announcement = state.decide(Err(TaskError::Cancelled));
        Some(Decided { was_pending, token: token.filter(|_| stop_body), watcher, announcement })
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
        let watcher = match &self.state.lock().whereabouts {
            Whereabouts::InQueue(watcher) => watcher.upgrade()?,
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

/// A cancel whose waiters have been let go, and the users' code that it is still to run.
#[must_use]
pub(crate) struct CancelBegun<T> {
    was_pending: bool,
    of_the_token: Callbacks,
    of_the_listener: UserCode<T>,
}

/// What a task and its handle share, with the type of the result but without that of the body: for the handle.
pub(super) trait ResultCell<T>: HandleCell {
    fn core(&self) -> &Core<T>;

    /// Decides for cancelled and lets everybody go who waits in this crate: for the outcome, or, in the body, under the
    /// task's token. Runs none of the users' callbacks. `None` if something was decided before.
    fn begin_cancel(&self, stop_body: bool) -> Option<CancelBegun<T>>;

    /// Runs the users' code that is left: the token's callbacks, the `Drop` of what the body captured, the listener.
    fn end_cancel(&self, begun: CancelBegun<T>);
}

impl<T, F> ResultCell<T> for TaskCell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    fn core(&self) -> &Core<T> {
        &self.core
    }

    // ANCHOR: cancel
    fn begin_cancel(&self, stop_body: bool) -> Option<CancelBegun<T>> {
        let Decided { was_pending, token, watcher, announcement } = self.core.cancel(stop_body)?;
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

impl<T: Send + 'static, F: Send + 'static> RunningTask for TaskCell<T, F> {
    fn token_made(&self, made: &CancelToken) {
        let mut state = self.core.state.lock();
        if let Phase::Running(token) = &mut state.phase {
            *token = Some(made.clone());
        } else if state.stop_body {
            drop(state);
            made.cancel();
        }
    }

    fn was_cancelled(&self) -> bool {
        self.core.state.lock().stop_body
    }
}

impl<T, F> HandleCell for TaskCell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    fn id(&self) -> TaskId {
        self.core.id
    }

    fn state(&self) -> TaskState {
        self.core.state.lock().phase.state()
    }

    fn is_finished(&self) -> bool {
        self.core.state.lock().phase.is_finished()
    }

    fn cancel(&self, stop_body: bool) -> bool {
        self.begin_cancel(stop_body).map(|begun| self.end_cancel(begun)).is_some()
    }

    fn panic_message(&self) -> Option<String> {
        match &self.core.state.lock().phase {
            Phase::Finished(Err(TaskError::Panicked(panic))) => Some(panic.message().to_owned()),
            _ => None,
        }
    }

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
        let before = std::mem::replace(&mut self.core.state.lock().whereabouts, Whereabouts::Elsewhere);
        if let Whereabouts::CancelledInQueue(watcher) = before
            && let Some(watcher) = watcher.upgrade()
        {
            watcher.tombstone_dropped();
        }
        self.cancel(true);
    }

    fn enter_queue(&self, watcher: Weak<dyn QueueWatcher>) -> bool {
        let mut state = self.core.state.lock();
        let decided = state.phase.is_finished();
        state.whereabouts =
            if decided { Whereabouts::CancelledInQueue(watcher) } else { Whereabouts::InQueue(watcher) };
        !decided
    }

    fn leave_queue(&self) -> bool {
        let before = std::mem::replace(&mut self.core.state.lock().whereabouts, Whereabouts::Elsewhere);
        matches!(before, Whereabouts::CancelledInQueue(_))
    }
}
