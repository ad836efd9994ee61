//! A handle whose outcome does not come from a task.
//!
//! Some results are not the return value of a closure: the answer that an event loop reads from a socket, the
//! first of several replies, what a callback of a foreign library is given. Whoever will know it keeps a
//! [`Promise`]; whoever wants it has a [`TaskHandle`] like any other, which is joined, awaited, shared and
//! cancelled as usual.
//!
//! The two share the state of a task that has begun and has no body: it is *running* until somebody
//! [completes](Promise::complete) it, with a value or [with a panic](Promise::panic_with), cancels it at
//! either end, or drops the promise.

use std::any::Any;
use std::fmt;

use super::cell::TaskCell;
use super::error::TaskError;
use super::listener::ResultCell;
use super::{TaskHandle, debug_handle};
use crate::cancel::CancelToken;
use crate::ids::TaskId;
use crate::panics::Panic;
use crate::sync::Arc;
use crate::task::TaskState;

/// The duty to complete a handle by hand, from whichever thread comes to know the result.
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
/// The outcome is decided once, by whoever comes first; everybody later is told so by an error that gives
/// their value back. So a promise may be shared (in an [`Arc`](std::sync::Arc)) by several who could know the
/// answer. Dropping it undecided completes the handle as cancelled: nobody waits for what will not come.
///
/// What a thread did before it completed the promise is visible to whoever gets the result.
///
/// # What is not found
/// Anybody who has the promise may complete it, and the library does not know who has it. A wait for its
/// handle is therefore never reported as [starvation](crate::Starvation), and a thread that waits for it
/// counts as one that may go on, also for those who wait for *that thread*. If all threads of a pool wait for
/// a promise that a task in the queue of this pool is to keep, they wait for ever, until that task is
/// cancelled or dropped, and the promise with it. A task's own handle has no such gap: have the task return
/// what the promise was for.
#[doc(alias = "CompletableFuture")]
#[must_use = "dropping it cancels its handle"]
pub struct Promise<T> {
    cell: Arc<dyn ResultCell<T>>,
}

impl<T: Send + 'static> Promise<T> {
    /// Makes a promise and the handle of what is promised. One allocation.
    pub fn new() -> (Self, TaskHandle<T>) {
        let cell: Arc<dyn ResultCell<T>> = Arc::new(TaskCell::begun(TaskId::next()));
        let handle = TaskHandle::new(Arc::clone(&cell), None);
        (Self { cell }, handle)
    }

    /// Completes the handle with a value.
    ///
    /// Wakes who waits; a callback given to [`TaskHandle::on_done`] runs on the calling thread.
    ///
    /// # Errors
    /// The value comes back if the outcome was decided before.
    #[doc(alias = "set")]
    pub fn complete(&self, value: T) -> Result<(), T> {
        Arc::clone(&self.cell)
            .settle(Ok(value))
            .map_err(|too_late| too_late.unwrap_or_else(|_| unreachable!()))
    }

    /// Completes the handle as panicked, with a payload as [`catch_unwind`](std::panic::catch_unwind) or the
    /// `join` of a thread gives it. The handle's owner gets the payload, and nobody's panic goes unheard: see
    /// [`panics`](crate::panics).
    ///
    /// It has a [backtrace](crate::Panic::backtrace) only if it was caught on this thread, just before.
    ///
    /// A failure that is foreseen is a value: promise a `Result` and [complete](Self::complete) it with an
    /// `Err`.
    ///
    /// ```
    /// use executor::{JoinError, Promise};
    ///
    /// let (promise, parsed) = Promise::<u32>::new();
    /// match std::panic::catch_unwind(|| "seven".parse().expect("a number")) {
    ///     Ok(number) => promise.complete(number).unwrap(),
    ///     Err(payload) => promise.panic_with(payload).unwrap(),
    /// }
    /// assert!(matches!(parsed.join(), Err(JoinError::Panicked(panic)) if panic.message().starts_with("a number")));
    /// ```
    ///
    /// # Errors
    /// The payload comes back if the outcome was decided before.
    #[doc(alias = "setException")]
    #[doc(alias = "completeExceptionally")]
    pub fn panic_with(&self, payload: Box<dyn Any + Send>) -> Result<(), Box<dyn Any + Send>> {
        let panic = Panic::new(payload);
        panic.set_origin(Some(self.id().to_string()), None);
        Arc::clone(&self.cell).settle(Err(TaskError::Panicked(panic))).map_err(|too_late| match too_late {
            Err(TaskError::Panicked(panic)) => {
                panic.mark_read(); // the caller has it
                panic.take_payload().expect("nobody else has seen it")
            }
            _ => unreachable!("it comes back as it went"),
        })
    }

    /// Completes the handle as cancelled, as [`TaskHandle::cancel`] does at the other end. Returns false if
    /// the outcome was decided before.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        Arc::clone(&self.cell).cancel(true)
    }

    /// The token of the work behind the promise: cancelled when the handle is, unless with
    /// [`cancel_keep_running`](TaskHandle::cancel_keep_running).
    ///
    /// Whoever works on the answer looks at it, [attaches](CancelToken::attach) it, or registers with it what
    /// to undo:
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

    /// Whether the outcome is decided.
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Where it stands: running until the outcome is decided.
    #[doc(alias = "isCancelled")]
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// The id that the handle has, too.
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        Arc::clone(&self.cell).cancel(true);
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Promise", &*self.cell, None, self.cell.panic_message())
    }
}
