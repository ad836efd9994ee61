//! A handle for more than one reader.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::cell::mark_read;
use super::error::{SharedJoinError, TaskError, TaskState};
use super::{Canceller, TaskHandle, debug_handle};
use crate::error::{WaitError, contain, discard};
use crate::sync::{Arc, Duration, Mutex};
use crate::task::TaskId;
use crate::wait::{Deadline, wait};

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
