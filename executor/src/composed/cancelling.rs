//! Cancellable tasks: each of these tasks tells the library how to end its blocking call when the task is
//! cancelled.
//!
//! A task that is computing checks its token now and then. A task that waits in this crate is woken by its
//! cancellation. But the library cannot wake a task that is blocked in a read from a socket, because the
//! library does not know the socket. Only the task knows that the read returns when the socket is shut down.
//! A task that is a [`CancellableTask`] tells the library how to end its blocking call. For example, if a
//! caller cancels the task's handle or stops the task's pool, the socket is shut down. The caller need not
//! know what kind of task it cancels.
//!
//! # Who calls what
//!
//! ```text
//!   task begins ──▶ canceller() is asked for ──▶ run() ───────────────▶ run() returns ──▶ canceller is dropped
//!                                                  │                         ▲
//!                              cancel(), shutdown_now() ──▶ canceller runs ──┘  (on the thread that cancels)
//! ```
//!
//! If a task is cancelled before it has begun, the task and all that it owns are dropped, and its canceller
//! is never made. `cancel_keep_running` must not disturb a running body, so it does not call the canceller.
//! When the task has ended, its canceller is not running, and will not run later.
//!
//! # Only a wrapper
//!
//! The canceller is a callback, which is registered with the task's token while the body runs.
//! [`CancellableTask::into_future_task`] adds the callback to a task, so *any* executor can run the task. A
//! [`CancellingExecutor`] calls `into_future_task` for each `CancellableTask` that is submitted to the
//! executor. In Java, a pool needs a subclass that overrides `newTaskFor`, because the `submit` of the pool
//! makes the future.

use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::executor::{Executor, ExecutorExt, RejectedSubmission, forward_service};
use crate::handle::{FutureTask, TaskHandle};

/// A task with its own code to end a blocking call, for instance a read from a socket.
///
/// Submit the task with [`CancellingExecutor::submit_task`], or turn it into a [`FutureTask`], which any
/// executor accepts. This task reads from a socket:
///
/// ```
/// use std::io::Read;
/// use std::net::{Shutdown, TcpStream};
/// use executor::{CancelToken, CancellableTask, Cancelled};
///
/// struct ReadAll(TcpStream);
///
/// impl CancellableTask for ReadAll {
///     type Output = std::io::Result<Vec<u8>>;
///
///     fn run(mut self, token: &CancelToken) -> Result<Self::Output, Cancelled> {
///         let mut bytes = Vec::new();
///         let read = self.0.read_to_end(&mut bytes);
///         token.check()?; // was this the end of the stream, or a cancel?
///         Ok(read.map(|_| bytes))
///     }
///
///     fn canceller(&self) -> impl FnOnce() + Send + 'static {
///         let stream = self.0.try_clone();
///         move || {
///             if let Ok(stream) = stream {
///                 let _ = stream.shutdown(Shutdown::Both); // fails only if the stream has ended already
///             }
///         }
///     }
/// }
/// ```
pub trait CancellableTask: Send + Sized + 'static {
    /// The type of the task's result.
    type Output: Send + 'static;

    /// Does the work. If this method returns `Err(Cancelled)`, the task ends as cancelled. If a blocking
    /// operation returns unexpectedly, `token.check()?` tells whether the canceller has ended the operation.
    ///
    /// ```
    /// # use executor::{CancelToken, CancellableTask, Cancelled, DirectExecutor, prelude::*};
    /// /// Adds numbers, and gives up between two numbers when it is cancelled.
    /// struct Sum(Vec<u64>);
    ///
    /// impl CancellableTask for Sum {
    ///     type Output = u64;
    ///
    ///     fn run(self, token: &CancelToken) -> Result<u64, Cancelled> {
    ///         self.0.iter().try_fold(0, |sum, n| token.check().map(|()| sum + n))
    ///     }
    ///
    ///     fn canceller(&self) -> impl FnOnce() + Send + 'static {
    ///         || () // the token is enough
    ///     }
    /// }
    ///
    /// assert_eq!(DirectExecutor.submit(Sum(vec![1, 2, 3]).into_future_task())?.join()?, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the task gave up because it was asked to stop.
    ///
    /// # Blocking
    /// This method may block in a call that the [canceller](Self::canceller) can end.
    fn run(self, token: &CancelToken) -> Result<Self::Output, Cancelled>;

    /// Returns a closure that makes [`run`](Self::run) return soon. The library asks for the closure before
    /// `run` begins. While `run` is running, the library calls the closure at most once, on the thread that
    /// cancels the task. If the task has already been asked to stop when `run` is about to begin, the library
    /// calls the closure at once.
    ///
    /// The closure should not block: the thread that cancels the task waits for it. The library catches
    /// panics of the closure.
    ///
    /// ```
    /// # use executor::{CancelToken, CancellableTask, Cancelled, JoinError, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::mpsc::{Receiver, Sender, channel};
    /// /// Waits for a message. The sender is for the canceller.
    /// struct NextMessage(Receiver<Option<u64>>, Sender<Option<u64>>);
    ///
    /// impl CancellableTask for NextMessage {
    ///     type Output = u64;
    ///
    ///     fn run(self, _token: &CancelToken) -> Result<u64, Cancelled> {
    ///         self.0.recv().ok().flatten().ok_or(Cancelled)
    ///     }
    ///
    ///     fn canceller(&self) -> impl FnOnce() + Send + 'static {
    ///         let sender = self.1.clone();
    ///         move || drop(sender.send(None))
    ///     }
    /// }
    ///
    /// let (sender, receiver) = channel();
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let message = pool.submit(NextMessage(receiver, sender).into_future_task())?;
    /// message.cancel();
    /// assert!(matches!(message.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn canceller(&self) -> impl FnOnce() + Send + 'static;

    /// Turns this value into a [`FutureTask`], which the [`submit`](ExecutorExt::submit) of any executor
    /// accepts.
    ///
    /// ```
    /// # use executor::{CancelToken, CancellableTask, Cancelled, ThreadPoolExecutor, prelude::*};
    /// # struct Answer;
    /// # impl CancellableTask for Answer {
    /// #     type Output = u64;
    /// #     fn run(self, _: &CancelToken) -> Result<u64, Cancelled> {
    /// #         Ok(42)
    /// #     }
    /// #     fn canceller(&self) -> impl FnOnce() + Send + 'static {
    /// #         || ()
    /// #     }
    /// # }
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let answer = pool.submit(Answer.into_future_task())?; // `Answer` is a cancellable task
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn into_future_task(self) -> FutureTask<Self::Output> {
        FutureTask::cancellable(move |token| {
            let _registration = token.on_cancel(self.canceller());
            self.run(token)
        })
    }
}

/// Passes tasks on to any other executor, and also accepts [`CancellableTask`]s.
///
/// A cancelling executor has no threads. The cancelling executor passes plain closures on unchanged, so it
/// can be used in place of its underlying executor.
///
/// ```
/// use executor::{CancelToken, CancellableTask, Cancelled, CancellingExecutor, JoinError, ThreadPoolExecutor};
/// use std::sync::mpsc::{Receiver, Sender, channel};
///
/// /// Waits for a message on a channel that is not ours.
/// struct NextMessage(Receiver<Option<String>>, Sender<Option<String>>);
///
/// impl CancellableTask for NextMessage {
///     type Output = String;
///
///     fn run(self, _token: &CancelToken) -> Result<String, Cancelled> {
///         self.0.recv().ok().flatten().ok_or(Cancelled)
///     }
///
///     fn canceller(&self) -> impl FnOnce() + Send + 'static {
///         let channel = self.1.clone();
///         move || drop(channel.send(None))
///     }
/// }
///
/// let executor = CancellingExecutor::new(ThreadPoolExecutor::single());
/// let (sender, receiver) = channel();
/// let message = executor.submit_task(NextMessage(receiver, sender))?;
/// message.cancel();
/// assert!(matches!(message.join(), Err(JoinError::Cancelled(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CancellingExecutor<E> {
    executor: E,
}

impl<E: Executor> CancellingExecutor<E> {
    /// Makes a cancelling executor that passes its tasks on to `executor`.
    ///
    /// ```
    /// use executor::{CancellingExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(2));
    /// assert_eq!(executor.submit(|| 6 * 7)?.join()?, 42); // a closure, as on the pool itself
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(executor: E) -> Self {
        Self { executor }
    }

    /// Submits the task. If the task is cancelled while it runs, its canceller is called.
    ///
    /// ```
    /// # use executor::{CancelToken, CancellableTask, Cancelled, CancellingExecutor, ThreadPoolExecutor};
    /// # struct Answer;
    /// # impl CancellableTask for Answer {
    /// #     type Output = u64;
    /// #     fn run(self, _: &CancelToken) -> Result<u64, Cancelled> {
    /// #         Ok(42)
    /// #     }
    /// #     fn canceller(&self) -> impl FnOnce() + Send + 'static {
    /// #         || ()
    /// #     }
    /// # }
    /// let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(2));
    /// assert_eq!(executor.submit_task(Answer)?.join()?, 42); // `Answer` is a cancellable task
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses the task.
    ///
    /// # Blocking
    /// Blocks if the submission to the underlying executor blocks.
    #[doc(alias = "newTaskFor")]
    pub fn submit_task<C: CancellableTask>(
        &self,
        task: C,
    ) -> Result<TaskHandle<C::Output>, RejectedSubmission<C::Output>> {
        self.executor.submit(task.into_future_task())
    }

    /// Returns the underlying executor.
    ///
    /// ```
    /// use executor::{CancellingExecutor, ThreadPoolExecutor};
    ///
    /// let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(2));
    /// assert_eq!(executor.executor().maximum_threads(), 2);
    /// ```
    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Drops the cancelling executor and returns the underlying executor.
    ///
    /// ```
    /// use executor::{CancellingExecutor, ThreadPoolExecutor};
    ///
    /// let executor = CancellingExecutor::new(ThreadPoolExecutor::fixed(2));
    /// let pool: ThreadPoolExecutor = executor.into_inner();
    /// assert_eq!(pool.maximum_threads(), 2);
    /// ```
    pub fn into_inner(self) -> E {
        self.executor
    }
}

forward_service!(<E> CancellingExecutor<E> => self.executor);
