//! A task and its handle, made together.

use std::borrow::Cow;
use std::fmt;

use super::TaskHandle;
use super::cell::TaskCell;
use super::listener::{Name, ResultCell};
use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::ids::TaskId;
use crate::sync::Arc;
use crate::task::Task;

/// A task and its handle, which share one allocation.
///
/// In spite of its name, a `FutureTask` is not a [`Future`] and cannot be awaited. The
/// [`handle`](Self::handle) of a `FutureTask` is a `Future`.
///
/// An executor's `submit` makes a `FutureTask`, keeps the task and returns the handle. Make a `FutureTask`
/// yourself to give a task a [name](Self::named) or a [priority](Self::prioritized), or to run the task on
/// your own thread. You can also pass a `FutureTask` to code that chooses the executor.
///
/// ```
/// use executor::{FutureTask, ThreadPoolExecutor, prelude::*};
///
/// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
/// std::thread::spawn(move || task.run()); // no executor at all
/// assert_eq!(handle.join()?, 42);
///
/// let pool = ThreadPoolExecutor::single();
/// let index = pool.submit(FutureTask::new(|| 10).named("index"))?; // instead of a closure
/// assert_eq!(index.name(), Some("index"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "Callable")]
#[must_use = "the task does nothing until it is run, and dropping it cancels it"]
pub struct FutureTask<T> {
    /// The task, which can be run once. If the task is dropped before it has run, the handle is cancelled.
    pub task: Task,
    /// The handle, which waits for the result or cancels the task.
    pub handle: TaskHandle<T>,
}

impl<T: Send + 'static> FutureTask<T> {
    /// Makes a task that computes a value.
    ///
    /// ```
    /// use executor::FutureTask;
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
    /// task.run();
    /// assert_eq!(handle.join()?, 42);
    /// # Ok::<(), executor::JoinError<i32>>(())
    /// ```
    pub fn new(f: impl FnOnce() -> T + Send + 'static) -> Self {
        Self::from_body(|| Ok(f()))
    }

    /// Makes a task that can end early when it is cancelled. `f` gets the task's token. If `f` returns
    /// `Err(Cancelled)`, the task has no result; its outcome is *cancelled*.
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
        let cell = Arc::new(TaskCell::new(id, body));
        let handle = TaskHandle::new(Arc::clone(&cell) as Arc<dyn ResultCell<T>>, None);
        Self { task: Task::with_handle(cell, id), handle }
    }

    /// Gives the task and its handle a name.
    ///
    /// ```
    /// let index = executor::FutureTask::new(|| 10).named("index");
    /// assert_eq!(index.task.name(), Some("index"));
    /// assert_eq!(index.handle.name(), Some("index"));
    /// ```
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        self.handle.name = Some(Name::new(name.clone().into_owned()));
        self.task = self.task.named(name);
        self
    }

    /// Gives the task a priority, as [`Task::prioritized`] does.
    ///
    /// ```
    /// let urgent = executor::FutureTask::new(|| 10).prioritized(5);
    /// assert_eq!(urgent.task.priority(), 5);
    /// ```
    pub fn prioritized(mut self, priority: i32) -> Self {
        self.task = self.task.prioritized(priority);
        self
    }
}

impl<T: Send + 'static, E: Send + 'static> FutureTask<Result<T, E>>
where
    Cancelled: TryFrom<E, Error = E>,
{
    /// Makes a task that can end early when it is cancelled, and that has its own error type.
    ///
    /// Use this function if some calls in the body fail with `E`, for example with
    /// [`io::Error`](std::io::Error), and other calls fail with [`struct@Cancelled`], which `?` converts into
    /// `E`. If the body returns an `E` that contains a `Cancelled`, the outcome is *cancelled*. Any other `E`
    /// is part of the result, as for every task that can fail.
    ///
    /// The closure must name its error type. [`io::Error`](std::io::Error) and `Box<dyn Error + Send + Sync>`
    /// need no other code. For your own error type, implement `From<Cancelled>`, and `TryFrom` in the other
    /// direction.
    ///
    /// ```
    /// use executor::{CancelToken, Cancelled, FutureTask, TaskState};
    ///
    /// #[derive(Debug)]
    /// enum OrderError {
    ///     SoldOut,
    ///     Stopped(Cancelled),
    /// }
    ///
    /// impl From<Cancelled> for OrderError {
    ///     fn from(cancelled: Cancelled) -> Self {
    ///         Self::Stopped(cancelled)
    ///     }
    /// }
    ///
    /// impl TryFrom<OrderError> for Cancelled {
    ///     type Error = OrderError;
    ///
    ///     fn try_from(error: OrderError) -> Result<Self, OrderError> {
    ///         match error {
    ///             OrderError::Stopped(cancelled) => Ok(cancelled),
    ///             other => Err(other),
    ///         }
    ///     }
    /// }
    ///
    /// fn order(left: u32, token: &CancelToken) -> Result<u32, OrderError> {
    ///     token.check()?;
    ///     left.checked_sub(1).ok_or(OrderError::SoldOut)
    /// }
    ///
    /// let last = FutureTask::fallible(|token| order(0, token));
    /// last.task.run();
    /// assert!(matches!(last.handle.join(), Ok(Err(OrderError::SoldOut))));
    ///
    /// let stopped = FutureTask::fallible(|token| order(1, token));
    /// let token = CancelToken::new();
    /// token.cancel();
    /// token.attach(|| stopped.task.run());
    /// assert_eq!(stopped.handle.state(), TaskState::Cancelled);
    /// ```
    pub fn fallible(f: impl FnOnce(&CancelToken) -> Result<T, E> + Send + 'static) -> Self {
        Self::from_body(|| match f(&CancelToken::current()) {
            Ok(value) => Ok(Ok(value)),
            Err(error) => Cancelled::try_from(error).map_or_else(|error| Ok(Err(error)), Err),
        })
    }
}

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> From<F> for FutureTask<T> {
    fn from(f: F) -> Self {
        Self::new(f)
    }
}

/// A value that [`submit`](crate::ExecutorExt::submit) and similar methods accept: a closure, or a
/// [`FutureTask`].
///
/// This trait has no methods. The trait exists so that the compiler's error message says what a task is. Code
/// that is generic over tasks uses this trait as a bound:
///
/// ```
/// use executor::{DirectExecutor, IntoFutureTask, prelude::*};
///
/// fn twice<T: Send + 'static>(first: impl IntoFutureTask<T>, second: impl IntoFutureTask<T>) -> [T; 2] {
///     [DirectExecutor.submit(first), DirectExecutor.submit(second)].map(|task| task.unwrap().join().unwrap())
/// }
///
/// assert_eq!(twice(|| 1, || 2), [1, 2]);
/// ```
///
/// An `async` block is not a task, and the error message says so:
///
/// ```compile_fail
/// # use executor::{DirectExecutor, prelude::*};
/// DirectExecutor.submit(async { 6 * 7 });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "an executor runs a closure without parameters that is `Send` and `'static`",
    note = "a task is a closure, or a `FutureTask` made of one",
    note = "an `async` block is not a task: give it to an async runtime, or block in a closure instead"
)]
pub trait IntoFutureTask<T>: Into<FutureTask<T>> {}

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> IntoFutureTask<T> for F {}
impl<T> IntoFutureTask<T> for FutureTask<T> {}

// `Debug` is implemented by hand, because a derived implementation would require `T: Debug`.
impl<T> fmt::Debug for FutureTask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FutureTask").field("task", &self.task).field("handle", &self.handle).finish()
    }
}
