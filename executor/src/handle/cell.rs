//! The state that a task and its handle share, and all changes of this state.
//!
//! A submitted task needs only one allocation, a [`TaskCell`]. The cell contains the state, behind a lock.
//! The state contains the body until the body begins. Each user of the cell sees it through a trait, which
//! has only the methods and the types that this user needs:
//!
//! | user of the cell | its trait | does not know |
//! |---|---|---|
//! | the frame of the thread that runs the body | [`RunningTask`] | result, body |
//! | executor, queue, [`Canceller`](super::Canceller) | [`HandleCell`] | result, body |
//! | [`TaskHandle`](super::TaskHandle), [`Promise`](super::Promise), [`CompletionQueue`](super::CompletionQueue) | [`ResultCell`] | body |
//!
//! The states and the invariants are described in [`handle`](super).

use std::task::Waker;

use super::error::TaskError;
use super::listener::{
    Broadcast, CallbackDue, CancelBegun, Collector, Listener, Name, Notification, ResultCallback, ResultCell,
    TaskResult, mark_read,
};
use super::queue_membership::QueueMembership;
use crate::cancel::callbacks;
use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, RunningTask, enter_task};
use crate::ids::{QueueId, TaskId};
use crate::panics::{contain, discard};
use crate::sync::{Arc, Mutex};
use crate::task::outcome::Outcome;
use crate::task::{HandleCell, Task, TaskState};
use crate::wait_graph::watch_waits;

/// The one allocation that a task and its handle share.
pub(super) struct TaskCell<T: Send + 'static, F: Send + 'static> {
    id: TaskId,
    membership: QueueMembership,
    state: Mutex<CellState<T, F>>,
}

struct CellState<T, F> {
    phase: CellPhase<T, F>,
    listener: Listener<T>,
    /// True if a call of `cancel` has asked the body to stop. If the token is made later, it must be
    /// cancelled, too.
    stop_body: bool,
    /// True if the executor was shut down and has handed the task out. If the task is dropped after the
    /// hand-out, the reason of its cancellation is the shutdown.
    is_left_out: bool,
    /// True if a timer will cancel the task.
    is_limited: bool,
}

enum CellPhase<T, F> {
    /// The body has not begun. The thread that changes this state removes the body from the cell.
    Pending(F),
    /// The body is running. The token is made when the body, or a wait in the body, asks for it.
    Running(Option<CancelToken>),
    Finished(TaskResult<T>),
    /// The result was moved out. The fields of this state tell how the task ended, and why it was cancelled.
    Taken(TaskState, Option<CancelReason>),
}

impl<T: Send + 'static, F: Send + 'static> TaskCell<T, F> {
    pub(super) fn new(id: TaskId, body: F) -> Self {
        Self::in_phase(id, CellPhase::Pending(body))
    }

    fn in_phase(id: TaskId, phase: CellPhase<T, F>) -> Self {
        let state = CellState {
            phase,
            listener: Listener::None,
            stop_body: false,
            is_left_out: false,
            is_limited: false,
        };
        Self { id, membership: QueueMembership::elsewhere(), state: Mutex::new(state) }
    }
}

// A promise has no body, so a function type is used as the type of the body.
impl<T: Send + 'static> TaskCell<T, fn() -> Result<T, Cancelled>> {
    /// Makes a cell without a body: [`ResultCell::settle`] will decide the outcome.
    pub(super) fn begun(id: TaskId) -> Self {
        Self::in_phase(id, CellPhase::Running(None))
    }
}

impl<T, F> CellPhase<T, F> {
    fn state(&self) -> TaskState {
        match self {
            Self::Pending(_) => TaskState::Pending,
            Self::Running(_) => TaskState::Running,
            Self::Finished(Ok(_)) => TaskState::Completed,
            Self::Finished(Err(TaskError::Panicked(_))) => TaskState::Panicked,
            Self::Finished(Err(TaskError::Cancelled(_))) => TaskState::Cancelled,
            Self::Taken(state, _) => *state,
        }
    }

    fn is_finished(&self) -> bool {
        matches!(self, Self::Finished(_) | Self::Taken(..))
    }

    /// Returns why the task was cancelled, if it was cancelled for a reason.
    fn reason(&self) -> Option<&CancelReason> {
        match self {
            Self::Finished(Err(TaskError::Cancelled(cancelled))) => cancelled.reason(),
            Self::Taken(_, reason) => reason.as_ref(),
            _ => None,
        }
    }

    /// Moves the state from pending to running, and returns the body. Returns `None` if the state is not
    /// pending.
    fn begin(&mut self) -> Option<F> {
        match self {
            Self::Pending(_) => {
                let Self::Pending(body) = std::mem::replace(self, Self::Running(None)) else {
                    unreachable!()
                };
                Some(body)
            }
            _ => None,
        }
    }

    /// Moves the result out, if there is a result.
    fn take(&mut self) -> Option<TaskResult<T>> {
        match self {
            Self::Finished(_) => {
                let taken = Self::Taken(self.state(), self.reason().cloned());
                let Self::Finished(result) = std::mem::replace(self, taken) else { unreachable!() };
                Some(result)
            }
            _ => None,
        }
    }
}

impl<T, F> CellState<T, F> {
    /// Panics if the result was already taken. This happens only if the handle is used again after a poll has
    /// returned the result.
    fn assert_not_taken(&self) {
        assert!(
            !matches!(self.phase, CellPhase::Taken(..)),
            "a handle was used after it had given its result"
        );
    }

    /// Sets the listener, and returns the previous listener. The caller must drop the previous listener after
    /// it has released the lock.
    fn listen(&mut self, listener: Listener<T>) -> Listener<T> {
        std::mem::replace(&mut self.listener, listener)
    }

    /// Decides the outcome. The caller must announce the outcome after it has released the lock:
    /// [`Notification::release_waiters`].
    fn decide(&mut self, result: TaskResult<T>) -> Notification<T> {
        self.phase = CellPhase::Finished(result);
        match self.listen(Listener::None) {
            Listener::None => Notification::Nobody,
            Listener::Waker(waker) => Notification::Wake(waker),
            Listener::Collector(collector, name) => Notification::Collect(collector, name),
            Listener::Gone => Notification::Drop(self.decided()),
            Listener::Broadcast(relay) => Notification::Broadcast(relay, self.decided()),
            Listener::ResultCallback(callback) => Notification::Call(callback, self.decided()),
        }
    }

    /// Returns the reason for the token of a body that was asked to stop.
    fn reason_to_stop(&self) -> CancelReason {
        self.phase.reason().cloned().unwrap_or(CancelReason::of(CancelKind::Requested))
    }

    fn decided(&mut self) -> TaskResult<T> {
        self.phase.take().expect("it was decided just now")
    }
}

impl<T: Send + 'static, F: Send + 'static> Drop for TaskCell<T, F> {
    fn drop(&mut self) {
        // A result that was not taken, and a callback that was not called, are users' values. Their `Drop`
        // can panic. Each of these values can be the last owner of another cell, which is then dropped, too.
        let state = self.state.get_mut();
        let phase = std::mem::replace(&mut state.phase, CellPhase::Taken(TaskState::Cancelled, None));
        if matches!(phase, CellPhase::Pending(_) | CellPhase::Finished(_)) {
            callbacks::drop_value(phase);
        }
        drop_listener(state.listen(Listener::None));
    }
}

fn drop_listener<T: Send + 'static>(listener: Listener<T>) {
    if !matches!(listener, Listener::None | Listener::Gone) {
        callbacks::drop_value(listener);
    }
}

impl<T, F> ResultCell<T> for TaskCell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    fn take(&self) -> Option<TaskResult<T>> {
        let result = {
            let mut state = self.state.lock();
            state.assert_not_taken();
            state.phase.take()
        };
        result.inspect(mark_read)
    }

    fn take_alone(&mut self) -> Option<TaskResult<T>> {
        let state = self.state.get_mut();
        state.assert_not_taken();
        state.phase.take().inspect(mark_read)
    }

    fn take_or_listen(&self, waker: &Waker) -> Option<TaskResult<T>> {
        let waker = waker.clone(); // this may run user code, so no lock is held
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            return Some(result).inspect(mark_read);
        }
        state.assert_not_taken();
        let replaced = state.listen(Listener::Waker(waker));
        drop(state);
        discard(replaced);
        None
    }

    fn finished_or_listen(&self, waker: &Waker) -> bool {
        let waker = waker.clone(); // this may run user code, so no lock is held
        let mut state = self.state.lock();
        if state.phase.is_finished() {
            return true;
        }
        let replaced = state.listen(Listener::Waker(waker));
        drop(state);
        discard(replaced);
        false
    }

    fn nobody_listens(&self) -> (Option<TaskResult<T>>, Listener<T>) {
        let mut state = self.state.lock();
        let result = state.phase.take();
        let listener = match &state.listener {
            // A callback, a relay or a collector has replaced the handle.
            Listener::ResultCallback(_) | Listener::Broadcast(_) | Listener::Collector(..) => Listener::None,
            _ => state.listen(Listener::Gone),
        };
        (result, listener)
    }

    fn lose_handle(&self) {
        let (result, listener) = self.nobody_listens();
        if let Some(result) = result {
            callbacks::drop_value(result);
        }
        drop_listener(listener);
    }

    fn call_when_done(&self, callback: ResultCallback<T>) {
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            drop(state);
            CallbackDue::Call(callback, result).run();
        } else {
            state.assert_not_taken();
            let replaced = state.listen(Listener::ResultCallback(callback));
            drop(state);
            discard(replaced);
        }
    }

    fn relay_when_done(&self, relay: Arc<dyn Broadcast<T>>) {
        let mut state = self.state.lock();
        if let Some(result) = state.phase.take() {
            drop(state);
            relay.publish(result);
        } else {
            state.assert_not_taken();
            let replaced = state.listen(Listener::Broadcast(relay));
            drop(state);
            discard(replaced);
        }
    }

    fn collect_when_done(&self, collector: Arc<dyn Collector<T>>, name: Option<Name>) -> bool {
        let mut state = self.state.lock();
        if state.phase.is_finished() {
            return false;
        }
        let replaced = state.listen(Listener::Collector(collector, name));
        drop(state);
        discard(replaced);
        true
    }

    fn collect_no_more(&self) -> bool {
        let mut state = self.state.lock();
        let is_collected = matches!(state.listener, Listener::Collector(..));
        let replaced = if is_collected { state.listen(Listener::None) } else { Listener::None };
        drop(state);
        drop(replaced);
        is_collected
    }

    fn take_out_of_queue(&self) -> Option<Task> {
        let queue = self.membership.queue()?;
        // The lock of the cell must not be held here, because other threads take the lock of the queue before
        // the lock of the cell.
        let task = queue.owner()?.take_out(queue, self.id);
        task.map(Task::handed_out)
    }

    fn token(&self) -> CancelToken {
        let mut state = self.state.lock();
        if let CellPhase::Running(token) = &mut state.phase {
            return token.get_or_insert_default().clone();
        }
        let token = CancelToken::new();
        if state.stop_body {
            token.cancel_because(state.reason_to_stop()); // no other thread has this token: no callback runs
        }
        token
    }

    // ANCHOR: settle
    fn settle(self: Arc<Self>, result: TaskResult<T>) -> Result<(), TaskResult<T>> {
        let mut state = self.state.lock();
        let CellPhase::Running(token) = &mut state.phase else { return Err(result) };
        let token = token.take();
        let announcement = state.decide(result);
        drop(state);
        let callback = announcement.release_waiters(self);
        drop(token);
        callback.run();
        Ok(())
    }
    // ANCHOR_END: settle

    fn begin_cancel(self: Arc<Self>, stop_body: bool, reason: CancelReason) -> Option<CancelBegun<T>> {
        self.begin_a_cancel(stop_body, Some(reason)).map(CancelBegun::boxed)
    }
}

impl<T, F> TaskCell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    // ANCHOR: cancel
    fn begin_a_cancel(
        self: Arc<Self>,
        stop_body: bool,
        reason: Option<CancelReason>,
    ) -> Option<CancelBegun<T, F>> {
        let mut state = self.state.lock();
        let body = state.phase.begin();
        let CellPhase::Running(token) = &mut state.phase else { return None };
        let token = token.take().filter(|_| stop_body);
        state.stop_body = stop_body;
        // The cancellation is recorded under the lock. So every thread that finds the task finished also sees
        // the record of the cancellation.
        let queue = self.membership.cancel();
        let announcement = state.decide(Err(TaskError::Cancelled(Cancelled::because(reason.clone()))));
        drop(state);
        // The owner of the queue learns of the cancellation before a joiner wakes, so that the joiner finds
        // correct counts.
        let of_the_queue = queue.and_then(|queue| {
            let by = reason.as_ref().map_or(CancelKind::Requested, CancelReason::kind);
            queue.owner()?.cancelled_in_queue(queue, by)
        });
        let of_the_listener = announcement.release_waiters(self);
        let reason = reason.unwrap_or(CancelReason::of(CancelKind::Requested));
        let of_the_token = token.and_then(|token| token.begin_cancel(&reason)).unwrap_or_default();
        Some(CancelBegun { of_the_token, body, of_the_listener, of_the_queue })
    }
    // ANCHOR_END: cancel
}

impl<T: Send + 'static, F: Send + 'static> RunningTask for TaskCell<T, F> {
    fn id(&self) -> TaskId {
        self.id
    }

    fn collector(&self) -> usize {
        match &self.state.lock().listener {
            Listener::Collector(collector, _) => Arc::as_ptr(collector).addr(),
            _ => 0,
        }
    }

    fn token_made(&self, made: &CancelToken) {
        let mut state = self.state.lock();
        if state.is_limited {
            made.note_time_limit();
        }
        if let CellPhase::Running(token) = &mut state.phase {
            *token = Some(made.clone());
        } else if state.stop_body {
            let reason = state.reason_to_stop();
            drop(state);
            made.cancel_because(reason);
        }
    }

    fn why_to_stop(&self) -> Option<CancelReason> {
        let state = self.state.lock();
        state.stop_body.then(|| state.reason_to_stop())
    }

    fn is_limited(&self) -> bool {
        self.state.lock().is_limited
    }
}

impl<T, F> HandleCell for TaskCell<T, F>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Cancelled> + Send + 'static,
{
    fn state(&self) -> TaskState {
        self.state.lock().phase.state()
    }

    fn is_finished(&self) -> bool {
        self.state.lock().phase.is_finished()
    }

    fn cancel(self: Arc<Self>, stop_body: bool, reason: CancelReason) -> bool {
        self.begin_a_cancel(stop_body, Some(reason)).map(CancelBegun::end).is_some()
    }

    fn panic_message(&self) -> Option<String> {
        match &self.state.lock().phase {
            CellPhase::Finished(Err(TaskError::Panicked(panic))) => Some(panic.message().to_owned()),
            _ => None,
        }
    }

    // ANCHOR: run
    fn run(self: Arc<Self>, before_publish: &mut dyn FnMut(&Outcome)) -> Outcome {
        let body = self.state.lock().phase.begin();
        let Some(body) = body else {
            let outcome = Outcome::Cancelled(self.why_cancelled());
            before_publish(&outcome);
            return outcome;
        };
        let result = {
            watch_waits();
            let _frame = enter_task(Some(Arc::clone(&self) as Arc<dyn RunningTask>));
            contain(body)
        };
        let (outcome, result) = match result {
            Ok(Ok(value)) => (Outcome::Completed, Ok(value)),
            Ok(Err(gave_up)) => (Outcome::Cancelled(gave_up.clone()), Err(TaskError::Cancelled(gave_up))),
            Err(panic) => (Outcome::Panicked(panic.clone()), Err(TaskError::Panicked(panic))),
        };
        before_publish(&outcome);
        if let Err(too_late) = self.settle(result) {
            drop_late(too_late); // a `cancel` was first
        }
        outcome
    }
    // ANCHOR_END: run

    fn abandon(self: Arc<Self>) {
        // If the task is still in a queue, the queue itself is dropping the task, under the lock of the pool.
        if let Some(owner) = self.membership.leave().and_then(QueueId::owner) {
            owner.tombstone_dropped();
        }
        let state = self.state.lock();
        if state.phase.is_finished() {
            return;
        }
        let reason = state.is_left_out.then(|| CancelReason::of(CancelKind::Shutdown));
        drop(state);
        if let Some(begun) = self.begin_a_cancel(true, reason) {
            begun.end();
        }
    }

    fn left_out(&self) {
        self.state.lock().is_left_out = true;
    }

    fn why_cancelled(&self) -> Cancelled {
        Cancelled::because(self.state.lock().phase.reason().cloned())
    }

    fn enter_queue(&self, queue: QueueId) -> bool {
        self.membership.enter(queue)
    }

    fn leave_queue(&self) -> bool {
        self.membership.leave().is_some()
    }

    fn queue(&self) -> Option<QueueId> {
        self.membership.queue()
    }

    fn will_be_cancelled(&self) {
        self.state.lock().is_limited = true;
    }
}

/// Drops the result of a body that ended after its task was cancelled. If the body panicked, the handle
/// cannot report the panic.
fn drop_late<T: Send + 'static>(too_late: TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = &too_late {
        panic.set_after_cancel();
    }
    CallbackDue::Drop(too_late).run();
}
