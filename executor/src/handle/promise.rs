//! Handles without tasks: the outcome of the handle is set by a promise.
//!
//! Some results are not the return value of a closure. Examples are the answer that an event loop reads from
//! a socket, the first of several replies, and the argument that a foreign library passes to a callback. The
//! code that will know the result keeps a [`Promise`]. The client that wants the result has an ordinary
//! [`TaskHandle`], which it can join, await, share and cancel.
//!
//! A promise and its handle share the same state as a task and its handle, but this state has no body. The
//! state is *running* until the promise is [completed](Promise::complete) with a value or [with a
//! panic](Promise::panic_with), until the promise or the handle is cancelled, or until the promise is
//! dropped.

use std::any::Any;
use std::fmt;

use super::cell::TaskCell;
use super::error::TaskError;
use super::listener::ResultCell;
use super::{TaskHandle, debug_handle};
use crate::cancel::CancelToken;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::Arc;
use crate::task::TaskState;

/// Sets the outcome of a handle that has no task, on the thread that learns the result.
///
/// ```
/// use executor::Promise;
///
/// let (promise, answer) = Promise::new();
/// std::thread::spawn(move || promise.complete(42));
/// assert_eq!(answer.join()?, 42);
/// # Ok::<(), executor::JoinError<i32>>(())
/// ```
///
/// The first call decides the outcome. A later call changes nothing, and its error gives the value back. So
/// several threads can look for the same result and share a promise (in an [`Arc`]). If the
/// promise is dropped before a call has decided the outcome, its handle is cancelled. So no caller waits for
/// a result that will never arrive.
///
/// The thread that gets the result sees everything that the completing thread did before it completed the
/// promise.
///
/// # What is not found
/// Any thread that has the promise can complete it, and the library does not know which threads have it. So
/// the library never reports a wait for a promise's handle as [starvation](crate::Starvation). The library
/// assumes two things: the waiting thread can continue, and all threads that wait for *this thread* can
/// continue, too. Suppose that all threads of a pool wait for a promise, and that only a task in the queue of
/// this pool completes the promise. Then the library reports nothing, and the threads wait until the task is
/// cancelled or dropped. This also drops the promise. In contrast, the library can report a wait for the
/// handle of a task as starvation. So if possible, let a task return its value instead of using a promise.
#[doc(alias = "CompletableFuture")]
#[must_use = "dropping it cancels its handle"]
pub struct Promise<T> {
    cell: Arc<dyn ResultCell<T>>,
}

impl<T: Send + 'static> Promise<T> {
    /// Makes a promise and its handle, in one allocation.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert_eq!(promise.id(), answer.id());
    /// assert!(!answer.is_finished());
    /// ```
    pub fn new() -> (Self, TaskHandle<T>) {
        let cell: Arc<dyn ResultCell<T>> = Arc::new(TaskCell::begun(TaskId::next()));
        let handle = TaskHandle::new(Arc::clone(&cell), None);
        (Self { cell }, handle)
    }

    /// Completes the handle with a value.
    ///
    /// Wakes the waiters. If [`TaskHandle::on_done`] has registered a callback, the callback runs on the
    /// calling thread.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::new();
    /// assert_eq!(promise.complete(42), Ok(()));
    /// assert_eq!(promise.complete(43), Err(43)); // the outcome was decided before
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), executor::JoinError<i32>>(())
    /// ```
    ///
    /// # Errors
    /// If the outcome was decided before, the error holds the value.
    ///
    /// # Blocking
    /// Blocks until the handle's callbacks have ended.
    #[doc(alias = "set")]
    pub fn complete(&self, value: T) -> Result<(), T> {
        Arc::clone(&self.cell)
            .settle(Ok(value))
            .map_err(|too_late| too_late.unwrap_or_else(|_| unreachable!()))
    }

    /// Completes the handle as panicked, with the payload of a panic. The payload comes, for instance, from
    /// [`catch_unwind`](std::panic::catch_unwind) or from the `join` of a thread. The handle's owner gets the
    /// payload. If the handle was dropped, the panic is still reported: see [`panics`](crate::panics).
    ///
    /// The panic has a [backtrace](crate::Panic::backtrace) only if the calling thread has caught it just
    /// before the call.
    ///
    /// For an expected failure, do not use a panic: promise a `Result`, and [complete](Self::complete) the
    /// handle with an `Err`.
    ///
    /// ```
    /// use executor::{JoinError, Promise};
    ///
    /// let (promise, parsed) = Promise::<u32>::new();
    /// match std::panic::catch_unwind(|| "seven".parse().expect("a number")) {
    ///     Ok(number) => promise.complete(number).unwrap(),
    ///     Err(payload) => promise.panic_with(payload).unwrap(),
    /// }
    /// let Err(JoinError::Panicked(panic)) = parsed.join() else { unreachable!() };
    /// assert!(panic.message().starts_with("a number"));
    /// ```
    ///
    /// # Errors
    /// If the outcome was decided before, the error holds the payload.
    ///
    /// # Blocking
    /// Blocks as [`complete`](Self::complete) does.
    #[doc(alias = "setException")]
    #[doc(alias = "completeExceptionally")]
    pub fn panic_with(&self, payload: Box<dyn Any + Send>) -> Result<(), Box<dyn Any + Send>> {
        let panic = Panic::new(payload);
        panic.set_origin(Some(self.id().to_string()), None);
        Arc::clone(&self.cell).settle(Err(TaskError::Panicked(panic))).map_err(|too_late| match too_late {
            Err(TaskError::Panicked(panic)) => {
                panic.mark_read(); // the caller gets the panic
                panic.take_payload().expect("no other owner has seen it")
            }
            _ => unreachable!("it comes back as it went"),
        })
    }

    /// Cancels the handle, as [`TaskHandle::cancel`] does. Returns false if the outcome was decided before.
    ///
    /// ```
    /// use executor::{JoinError, Promise};
    ///
    /// let (promise, answer) = Promise::<u32>::new();
    /// assert!(promise.cancel());
    /// assert!(matches!(answer.join(), Err(JoinError::Cancelled(_))));
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`] does.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.cancel_because(CancelReason::of(CancelKind::Requested))
    }

    /// Cancels the handle and gives a reason, as [`TaskHandle::cancel_because`] does. Returns false if the
    /// outcome was decided before.
    ///
    /// ```
    /// use executor::{JoinError, Promise};
    ///
    /// let (promise, answer) = Promise::<u32>::new();
    /// assert!(promise.cancel_because("the connection was closed"));
    /// let Err(JoinError::Cancelled(cancelled)) = answer.join() else { unreachable!() };
    /// assert_eq!(cancelled.reason().unwrap().message(), Some("the connection was closed"));
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`] does.
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        Arc::clone(&self.cell).cancel(true, reason.into())
    }

    /// Returns the token for the work that will complete the promise. A cancellation of the handle also
    /// cancels this token, but [`cancel_keep_running`](TaskHandle::cancel_keep_running) does not cancel the
    /// token.
    ///
    /// The code that computes the result checks the token, [attaches](CancelToken::attach) it, or registers a
    /// callback with it:
    ///
    /// ```
    /// use executor::Promise;
    ///
    /// let (promise, answer) = Promise::<u32>::new();
    /// let token = promise.token();
    /// answer.cancel();
    /// assert!(token.is_cancelled());
    /// assert_eq!(promise.complete(42), Err(42));
    /// ```
    pub fn token(&self) -> CancelToken {
        self.cell.token()
    }

    /// Returns whether the outcome is decided.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert!(!promise.is_finished());
    /// answer.cancel();
    /// assert!(promise.is_finished());
    /// ```
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Returns the state, which is *running* until the outcome is decided.
    ///
    /// ```
    /// use executor::{Promise, TaskState};
    ///
    /// let (promise, _answer) = Promise::new();
    /// assert_eq!(promise.state(), TaskState::Running);
    /// promise.complete(42).unwrap();
    /// assert_eq!(promise.state(), TaskState::Completed);
    /// ```
    #[doc(alias = "isCancelled")]
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// Returns the id, which is also the id of the handle.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert_eq!(promise.id(), answer.id());
    /// ```
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        Arc::clone(&self.cell).abandon();
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Promise", &*self.cell, None, self.cell.panic_message())
    }
}
