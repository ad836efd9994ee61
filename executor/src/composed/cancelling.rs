//! Tasks that bring their own code for the moment at which they are cancelled.
//!
//! A task that computes looks at its token now and then. A task that waits in this crate is woken by its
//! cancellation. But the library cannot wake a task that is blocked in a read from a socket, because the
//! library does not know the socket. Only the task knows that the read returns when the socket is shut down.
//! With [`CancellableTask`] the task tells the library how to do that. Cancelling the task's handle, or
//! stopping its pool, then shuts the socket down. The caller need not know what kind of task it cancels.
//!
//! # Who calls what
//!
//! ```text
//!   task begins ──▶ canceller() is asked for ──▶ run() ───────────────▶ run() returns ──▶ canceller is dropped
//!                                                  │                         ▲
//!                              cancel(), shutdown_now() ──▶ canceller runs ──┘  (on the thread that cancels)
//! ```
//!
//! A task that is cancelled before it has begun is dropped, with all that it owns. Its canceller is never
//! made. `cancel_keep_running` must not disturb a running body, so it does not call the canceller. When the
//! task has ended, its canceller is not running, and will not run later.
//!
//! # Only a wrapper
//!
//! All this is one callback, which is registered with the task's token while the body runs.
//! [`CancellableTask::into_future_task`] adds the callback to a task, so *any* executor can run the task. A
//! [`CancellingExecutor`] adds the callback to every such task that it is given. In Java, a subclass of the
//! pool must override `newTaskFor`, because the `submit` of the pool makes the future.

use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::executor::{Executor, ExecutorExt, RejectedSubmission, forward_service};
use crate::handle::{FutureTask, TaskHandle};

/// A task with its own code that ends a blocking call, for instance a read from a socket.
///
/// Submit it with [`CancellingExecutor::submit_task`]. Or turn it into a [`FutureTask`], which any executor
/// accepts. A task that reads from a socket:
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

    /// Does the work. If it returns `Err(Cancelled)`, the task ends as cancelled. When a blocking operation
    /// returns unexpectedly, `token.check()?` tells whether the canceller was the reason.
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the task gave up because it was asked to stop.
    fn run(self, token: &CancelToken) -> Result<Self::Output, Cancelled>;

    /// Returns a closure that makes [`run`](Self::run) return soon. The library asks for the closure before
    /// `run` begins. It calls the closure at most once, on the thread that cancels, while `run` is running.
    /// If the task was asked to stop earlier, the library calls the closure just before `run` begins.
    ///
    /// The closure should not block: the thread that cancels waits for it. The library catches panics of
    /// the closure.
    fn canceller(&self) -> impl FnOnce() + Send + 'static;

    /// Turns this into a task and its handle, which any executor's [`submit`](ExecutorExt::submit) accepts.
    fn into_future_task(self) -> FutureTask<Self::Output> {
        FutureTask::cancellable(move |token| {
            let _registration = token.on_cancel(self.canceller());
            self.run(token)
        })
    }
}

/// Passes tasks on to any other executor, and also accepts [`CancellableTask`]s.
///
/// It has no threads. It passes plain closures on unchanged, so it can take the place of the other executor.
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
    /// Makes a cancelling executor in front of `executor`.
    pub fn new(executor: E) -> Self {
        Self { executor }
    }

    /// Submits the task. If the task is cancelled while it runs, its canceller is called.
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses the task.
    #[doc(alias = "newTaskFor")]
    pub fn submit_task<C: CancellableTask>(
        &self,
        task: C,
    ) -> Result<TaskHandle<C::Output>, RejectedSubmission<C::Output>> {
        self.executor.submit(task.into_future_task())
    }

    /// Returns the executor behind this one.
    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Returns the executor behind this one, by value.
    pub fn into_inner(self) -> E {
        self.executor
    }
}

forward_service!(<E> CancellingExecutor<E> => self.executor);
