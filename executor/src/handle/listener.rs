//! This file has three parts: the listeners of an outcome, the order in which they learn of the outcome, and
//! the methods of the cell that a task and its handle share.
//!
//! A handle has room for one [`Listener`]. The thread that decides the outcome turns the listener into a
//! [`Notification`]. After this thread has released the lock of the state, it wakes the waiters
//! ([`Notification::release_waiters`]). Then it runs the user code ([`CallbackDue::run`]), which can take
//! long.

use std::task::Waker;

use super::error::TaskError;
use crate::cancel::reason::CancelReason;
use crate::cancel::{Callbacks, CancelToken, call_outside};
use crate::panics::{UserCode, contain, discard};
use crate::sync::Arc;
use crate::task::{HandleCell, Task};
use crate::waiting::parker::wakes_a_thread;

/// The name of a task. Few tasks have a name, so a handle has only a pointer of one word to the name.
pub(super) type Name = Arc<String>;

pub(super) type TaskResult<T> = Result<T, TaskError>;

/// Marks a panic as read, because the panic handler must not report a panic that a caller gets.
pub(super) fn mark_read<T>(result: &TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = result {
        panic.mark_read();
    }
}

/// The cell that a task and its handle share, with the type of the result but without the type of the body.
/// The handle, or a listener that replaces the handle, sees the cell through this trait.
pub(super) trait ResultCell<T>: HandleCell {
    /// Takes the result out of the cell, if there is a result.
    fn take(&self) -> Option<TaskResult<T>>;

    /// Takes the result without a lock, for the only owner of the cell.
    fn take_alone(&mut self) -> Option<TaskResult<T>>;

    /// Takes the result. If there is no result yet, leaves the waker with the task.
    fn take_or_listen(&self, waker: &Waker) -> Option<TaskResult<T>>;

    /// Returns whether the outcome is decided. If the outcome is not decided, leaves the waker with the task.
    /// Never takes the result.
    fn finished_or_listen(&self, waker: &Waker) -> bool;

    /// Tells the cell that the handle was dropped. The caller must drop the returned values. A canceller can
    /// keep the cell for a long time, so the result must not stay in the cell.
    fn nobody_listens(&self) -> (Option<TaskResult<T>>, Listener<T>);

    /// Calls [`nobody_listens`](Self::nobody_listens), and drops the returned values.
    fn lose_handle(&self);

    /// Calls `callback` when the outcome is decided. If the outcome is already decided, calls `callback` at
    /// once.
    fn call_when_done(&self, callback: ResultCallback<T>);

    /// Gives the result to `relay` when the outcome is decided. If the outcome is already decided, gives the
    /// result at once.
    fn relay_when_done(&self, relay: Arc<dyn Broadcast<T>>);

    /// Gives the cell to a collector when the outcome is decided. If the outcome is already decided, returns
    /// false, and the caller must give the cell to the collector.
    fn collect_when_done(&self, collector: Arc<dyn Collector<T>>, name: Option<Name>) -> bool;

    /// Undoes [`collect_when_done`](Self::collect_when_done). Returns false if the collector already has the
    /// cell, or is about to get it.
    fn collect_no_more(&self) -> bool;

    /// Takes the task out of its queue.
    fn take_out_of_queue(&self) -> Option<Task>;

    /// Returns the token of the running body of the task. If the body has no token yet, makes the token.
    fn token(&self) -> CancelToken;

    /// Decides that `result` is the outcome. If an outcome was decided before, returns `result` to the
    /// caller.
    fn settle(self: Arc<Self>, result: TaskResult<T>) -> Result<(), TaskResult<T>>;

    /// Decides that the outcome is *cancelled*, and wakes the waiters in this crate, including a body whose
    /// wait obeys the task's token. Runs no user's callback. Returns `None` if an outcome was decided before.
    fn begin_cancel(self: Arc<Self>, stop_body: bool, reason: CancelReason) -> Option<CancelBegun<T>>;
}

/// The second half of a cancellation: users' code that must run after the waiters have been woken.
#[must_use]
pub(crate) struct CancelBegun<T, F = Box<dyn Send>> {
    pub(super) of_the_token: Callbacks,
    /// The body of the cancelled task, if the body had not begun.
    pub(super) body: Option<F>,
    pub(super) of_the_listener: CallbackDue<T>,
    pub(super) of_the_queue: Option<UserCode>,
}

impl<T, F: Send + 'static> CancelBegun<T, F> {
    /// Boxes the body, so that the type of the result does not depend on the type of the body.
    pub(super) fn boxed(self) -> CancelBegun<T> {
        let Self { of_the_token, body, of_the_listener, of_the_queue } = self;
        let body = body.map(|body| Box::new(body) as Box<dyn Send>);
        CancelBegun { of_the_token, body, of_the_listener, of_the_queue }
    }
}

impl<T: Send + 'static, F: Send + 'static> CancelBegun<T, F> {
    // ANCHOR: end_cancel
    /// Runs the users' code that the cancellation causes: the token's callbacks, the `Drop` of the values
    /// that the body has captured, the listener, and the hooks of the pool.
    pub(crate) fn end(self) {
        let Self { of_the_token, body, of_the_listener, of_the_queue } = self;
        if body.is_some() || !of_the_token.are_none() || !of_the_listener.is_none() {
            call_outside(|| {
                of_the_token.run_here();
                discard(body);
                of_the_listener.run_here();
            });
        }
        if let Some(hooks) = of_the_queue {
            call_outside(hooks);
        }
    }
    // ANCHOR_END: end_cancel
}

/// A thread or a value that must be told of the outcome. A cell has at most one listener.
pub(super) enum Listener<T> {
    None,
    /// The handle was dropped, so the result will never be taken.
    Gone,
    Waker(Waker),
    ResultCallback(ResultCallback<T>),
    Broadcast(Arc<dyn Broadcast<T>>),
    /// A collector that has replaced a handle, with the handle's name.
    Collector(Arc<dyn Collector<T>>, Option<Name>),
}

pub(super) type ResultCallback<T> = Box<dyn FnOnce(TaskResult<T>) + Send>;

/// A listener that tells many waiters and callbacks of the outcome, in two steps: first it wakes the waiters,
/// and then it calls the callbacks.
pub(super) trait Broadcast<T>: Send + Sync {
    /// Stores the result where all waiters find it, and wakes the waiters.
    fn publish(&self, result: TaskResult<T>);

    /// Calls the callbacks.
    fn call_back(&self);
}

/// A listener that gets the cell itself, with the result in it.
pub(super) trait Collector<T>: Send + Sync {
    /// Takes a cell with a decided outcome. Returns the cell as an error if no caller will ask for the result
    /// any more.
    fn collect(&self, cell: Arc<dyn ResultCell<T>>, name: Option<Name>)
    -> Result<(), Arc<dyn ResultCell<T>>>;
}

/// A decided outcome, and the listener that must be told of it.
#[must_use]
pub(super) enum Notification<T> {
    Nobody,
    Drop(TaskResult<T>),
    Wake(Waker),
    Broadcast(Arc<dyn Broadcast<T>>, TaskResult<T>),
    Call(ResultCallback<T>, TaskResult<T>),
    Collect(Arc<dyn Collector<T>>, Option<Name>),
}

/// User code that must run after the waiters have been woken, because it can take long.
#[must_use]
pub(super) enum CallbackDue<T> {
    None,
    Drop(TaskResult<T>),
    Broadcast(Arc<dyn Broadcast<T>>),
    Call(ResultCallback<T>, TaskResult<T>),
}

impl<T> Notification<T> {
    /// Wakes the waiters, which are threads and asynchronous tasks. `cell` is the cell with the decided
    /// outcome. The call drops `cell` before it wakes the waiter. If the handle is then the only owner of the
    /// cell, the handle takes the result without a lock.
    pub(super) fn release_waiters(self, cell: Arc<dyn ResultCell<T>>) -> CallbackDue<T> {
        match self {
            Self::Nobody => CallbackDue::None,
            Self::Drop(result) => CallbackDue::Drop(result),
            Self::Wake(waker) => {
                drop(cell);
                wake(waker);
                CallbackDue::None
            }
            Self::Broadcast(relay, result) => {
                relay.publish(result);
                CallbackDue::Broadcast(relay)
            }
            Self::Call(callback, result) => CallbackDue::Call(callback, result),
            Self::Collect(collector, name) => {
                let left = collector.collect(cell, name).err().and_then(|cell| cell.nobody_listens().0);
                left.map_or(CallbackDue::None, CallbackDue::Drop)
            }
        }
    }
}

/// Calls a waker. A thread that waits in this crate is woken at once. A user's waker is called like a
/// callback, because it can run any code; for instance, it can complete the next promise. A panic in the
/// waker must not reach the task or its thread.
pub(super) fn wake(waker: Waker) {
    if wakes_a_thread(&waker) {
        waker.wake();
    } else {
        call_outside(|| waker.wake());
    }
}

impl<T> CallbackDue<T> {
    /// Runs the user code on this thread. The panic hook reports a panic in this code; the panic does not
    /// reach the task or its thread.
    pub(super) fn run_here(self) {
        discard(contain(|| match self {
            Self::None => {}
            Self::Drop(result) => drop(result),
            Self::Broadcast(relay) => relay.call_back(),
            Self::Call(callback, result) => callback(result),
        }));
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl<T: Send + 'static> CallbackDue<T> {
    pub(super) fn run(self) {
        if !self.is_none() {
            call_outside(|| self.run_here());
        }
    }
}
