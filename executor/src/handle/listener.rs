//! Who hears of an outcome, and in which order.
//!
//! A handle has room for one [`Listener`]. When the outcome is decided, what there is to tell it becomes an
//! [`Announcement`], which is carried out when the lock of the state is free, in two steps: those who wait are let go
//! ([`Announcement::release_waiters`]), and then the user's code runs ([`UserCode::run`]), which may take long.

use std::task::Waker;

use super::error::TaskError;
use crate::cancel::{call_outside, outside_any_task};
use crate::panics::{contain, discard};
use crate::sync::Arc;

pub(super) type TaskResult<T> = Result<T, TaskError>;

/// A panic that is given to somebody need not be reported to the panic handler.
pub(super) fn mark_read<T>(result: &TaskResult<T>) {
    if let Err(TaskError::Panicked(panic)) = result {
        panic.mark_read();
    }
}

/// Who is to hear of an outcome: one party at most.
pub(super) enum Listener<T> {
    None,
    /// The handle was dropped: nobody will ever take the result.
    Gone,
    Waker(Waker),
    Callback(Callback<T>),
    Relay(Arc<dyn Relay<T>>),
}

pub(super) type Callback<T> = Box<dyn FnOnce(TaskResult<T>) + Send>;

/// A listener that passes the news on to many, in two steps as everywhere: first to those who wait.
pub(super) trait Relay<T>: Send + Sync {
    /// Puts the result where all of them find it, and lets those who wait go.
    fn publish(&self, result: TaskResult<T>);

    /// Calls the callbacks.
    fn call_back(&self);
}

/// The news of a decided outcome on its way to the listener.
#[must_use]
pub(super) enum Announcement<T> {
    Nobody,
    Drop(TaskResult<T>),
    Wake(Waker),
    Relay(Arc<dyn Relay<T>>, TaskResult<T>),
    Call(Callback<T>, TaskResult<T>),
}

/// What is left to do when those who wait have been let go: the user's code, which may take long.
#[must_use]
pub(super) enum UserCode<T> {
    None,
    Drop(TaskResult<T>),
    Relay(Arc<dyn Relay<T>>),
    Call(Callback<T>, TaskResult<T>),
}

impl<T> Announcement<T> {
    /// Lets those who wait go, threads and asynchronous tasks.
    pub(super) fn release_waiters(self) -> UserCode<T> {
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
    pub(super) fn run_here(self) {
        discard(contain(|| match self {
            Self::None => {}
            Self::Drop(result) => drop(result),
            Self::Relay(relay) => relay.call_back(),
            Self::Call(callback, result) => callback(result),
        }));
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl<T: 'static> UserCode<T> {
    pub(super) fn run(self) {
        if !self.is_none() {
            call_outside(|| self.run_here());
        }
    }
}
