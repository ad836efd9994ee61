//! Who hears of an outcome, in which order, and what they can do with what the task and its handle share.
//!
//! A handle has room for one [`Listener`]. When the outcome is decided, what there is to tell it becomes an
//! [`Notification`], which is carried out when the lock of the state is free, in two steps: those who wait are let go
//! ([`Notification::release_waiters`]), and then the user's code runs ([`CallbackDue::run`]), which may take long.

use std::task::Waker;

use super::error::TaskError;
use crate::cancel::{Callbacks, CancelToken, call_outside};
use crate::panics::{contain, discard};
use crate::sync::Arc;
use crate::task::{HandleCell, Task};
use crate::waiting::parker::wakes_a_thread;

/// The name of a task. Few have one, so a handle has a thin reference to it.
pub(super) type Name = Arc<String>;

pub(super) type TaskResult<T> = Result<T, TaskError>;

/// A panic that is given to somebody need not be reported to the panic handler.
pub(super) fn mark_read<T>(result: &TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = result {
        panic.mark_read();
    }
}

/// What a task and its handle share, with the type of the result but without that of the body: for the handle, and for
/// whatever takes the handle's place.
pub(super) trait ResultCell<T>: HandleCell {
    /// Takes the result, if it is there.
    fn take(&self) -> Option<TaskResult<T>>;

    /// Takes the result without a lock, for the only owner of the cell.
    fn take_alone(&mut self) -> Option<TaskResult<T>>;

    /// Takes the result, or leaves the waker with the task.
    fn take_or_listen(&self, waker: &Waker) -> Option<TaskResult<T>>;

    /// Whether there is an outcome. If not, leaves the waker with the task; in no case takes anything.
    fn finished_or_listen(&self, waker: &Waker) -> bool;

    /// The handle is gone. Without this, a canceller would keep the result alive for as long as it lives itself. The caller
    /// drops what comes back.
    fn nobody_listens(&self) -> (Option<TaskResult<T>>, Listener<T>);

    /// The same, and drops it.
    fn lose_handle(&self);

    /// Calls back when it is done; now if it is.
    fn call_when_done(&self, callback: ResultCallback<T>);

    /// Has a relay told when it is done; gives it the result now if it is.
    fn relay_when_done(&self, relay: Arc<dyn Broadcast<T>>);

    /// Has the cell given to a collector when it is done. False if it is done already: then the caller does that.
    fn collect_when_done(&self, collector: Arc<dyn Collector<T>>, name: Option<Name>) -> bool;

    /// Takes that back. False if the cell was given to the collector, or is about to be.
    fn collect_no_more(&self) -> bool;

    /// Takes the task out of the queue that it waits in.
    fn take_out_of_queue(&self) -> Option<Task>;

    /// The token of what is running, made if need be.
    fn token(&self) -> CancelToken;

    /// Decides for `result` if nothing is decided yet. Otherwise it comes back.
    fn settle(self: Arc<Self>, result: TaskResult<T>) -> Result<(), TaskResult<T>>;

    /// Decides for cancelled and lets everybody go who waits in this crate: for the outcome, or, in the body, under the
    /// task's token. Runs none of the users' callbacks. `None` if something was decided before.
    fn begin_cancel(self: Arc<Self>, stop_body: bool) -> Option<CancelBegun<T>>;
}

/// A cancel whose waiters have been let go, and the users' code that it is still to run.
#[must_use]
pub(crate) struct CancelBegun<T, F = Box<dyn Send>> {
    pub(super) of_the_token: Callbacks,
    /// The body, if it had not begun.
    pub(super) body: Option<F>,
    pub(super) of_the_listener: CallbackDue<T>,
}

impl<T, F: Send + 'static> CancelBegun<T, F> {
    /// The same for one who does not know the type of the body.
    pub(super) fn boxed(self) -> CancelBegun<T> {
        let Self { of_the_token, body, of_the_listener } = self;
        let body = body.map(|body| Box::new(body) as Box<dyn Send>);
        CancelBegun { of_the_token, body, of_the_listener }
    }
}

impl<T: Send + 'static, F: Send + 'static> CancelBegun<T, F> {
    // ANCHOR: end_cancel
    /// Runs the users' code that is left: the token's callbacks, the `Drop` of what the body captured, the listener.
    pub(crate) fn end(self) {
        let Self { of_the_token, body, of_the_listener } = self;
        if body.is_some() || !of_the_token.are_none() || !of_the_listener.is_none() {
            call_outside(|| {
                of_the_token.run_here();
                discard(body);
                of_the_listener.run_here();
            });
        }
    }
    // ANCHOR_END: end_cancel
}

/// Who is to hear of an outcome: one party at most.
pub(super) enum Listener<T> {
    None,
    /// The handle was dropped: nobody will ever take the result.
    Gone,
    Waker(Waker),
    ResultCallback(ResultCallback<T>),
    Broadcast(Arc<dyn Broadcast<T>>),
    /// With the name of the handle whose place it has taken.
    Collector(Arc<dyn Collector<T>>, Option<Name>),
}

pub(super) type ResultCallback<T> = Box<dyn FnOnce(TaskResult<T>) + Send>;

/// A listener that passes the news on to many, in two steps as everywhere: first to those who wait.
pub(super) trait Broadcast<T>: Send + Sync {
    /// Puts the result where all of them find it, and lets those who wait go.
    fn publish(&self, result: TaskResult<T>);

    /// Calls the callbacks.
    fn call_back(&self);
}

/// A listener that is given the cell itself, with the result in it.
pub(super) trait Collector<T>: Send + Sync {
    /// Takes a cell in whose outcome is decided. It comes back if nobody will ask for it any more.
    fn collect(&self, cell: Arc<dyn ResultCell<T>>, name: Option<Name>)
    -> Result<(), Arc<dyn ResultCell<T>>>;
}

/// The news of a decided outcome on its way to the listener.
#[must_use]
pub(super) enum Notification<T> {
    Nobody,
    Drop(TaskResult<T>),
    Wake(Waker),
    Broadcast(Arc<dyn Broadcast<T>>, TaskResult<T>),
    Call(ResultCallback<T>, TaskResult<T>),
    Collect(Arc<dyn Collector<T>>, Option<Name>),
}

/// What is left to do when those who wait have been let go: the user's code, which may take long.
#[must_use]
pub(super) enum CallbackDue<T> {
    None,
    Drop(TaskResult<T>),
    Broadcast(Arc<dyn Broadcast<T>>),
    Call(ResultCallback<T>, TaskResult<T>),
}

impl<T> Notification<T> {
    /// Lets those who wait go, threads and asynchronous tasks. `cell` is what has been decided. It is let go before: if
    /// nobody else refers to it, the handle's owner needs no lock to take the result.
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

/// Wakes a listener. A thread that waits in this crate is let go at once. A user's waker is a callback: it may do whatever it
/// likes, such as complete the next promise, and its panic is no concern of the task and its thread.
pub(super) fn wake(waker: Waker) {
    if wakes_a_thread(&waker) {
        waker.wake();
    } else {
        call_outside(|| waker.wake());
    }
}

impl<T> CallbackDue<T> {
    /// A panic of the listener was reported by the panic hook; the task and its thread have nothing to do with it.
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
