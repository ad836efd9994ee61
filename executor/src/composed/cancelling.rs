//! Tasks that bring their own way to be cancelled.
//!
//! A task that computes looks at its token now and then, and one that waits in this crate is woken. But a
//! thread that is blocked in a read from a socket does neither: nothing here knows of the socket. Only the
//! task does, and it knows that shutting the socket down makes the read return. [`CancellableTask`] is where
//! it says so. Cancelling its handle, or stopping its pool, then does what cancelling *this* task takes, and
//! the caller need not know which kind it is.
//!
//! # Who calls what
//!
//! ```text
//!   task begins ──▶ canceller() is asked for ──▶ run() ───────────────▶ run() returns ──▶ canceller is dropped
//!                                                  │                         ▲
//!                              cancel(), shutdown_now() ──▶ canceller runs ──┘  (on the thread that cancels)
//! ```
//!
//! A task that is cancelled before it has begun is dropped, and with it what it holds: its canceller is never
//! made. `cancel_keep_running` leaves a running body alone, so it does not call the canceller either. When
//! `run` has returned, the canceller is not running and never will be.
//!
//! # Only a wrapper
//!
//! All this is a registration with the task's token around its body. [`CancellableTask::into_future_task`]
//! puts it there, so *any* executor can run such a task; [`CancellingExecutor`] is one that always does. In
//! Java the executor has to be a subclass of the pool that overrides `newTaskFor`, because `submit` makes the
//! future itself.

use crate::cancel::CancelToken;
use crate::cancel::cancelled::Cancelled;
use crate::executor::{Executor, ExecutorExt, RejectedSubmission, forward_service};
use crate::handle::{FutureTask, TaskHandle};

/// A task that knows how to be got out of where it is blocked, in a read from a socket for instance.
///
/// It is handed to [`CancellingExecutor::submit_task`] or, made into a [`FutureTask`], to any executor. From
/// a socket:
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
///         token.check()?; // was this the end of the stream, or of our patience?
///         Ok(read.map(|_| bytes))
///     }
///
///     fn canceller(&self) -> impl FnOnce() + Send + 'static {
///         let stream = self.0.try_clone();
///         move || {
///             if let Ok(stream) = stream {
///                 let _ = stream.shutdown(Shutdown::Both); // fails only if it is over anyway
///             }
///         }
///     }
/// }
/// ```
pub trait CancellableTask: Send + Sized + 'static {
    /// What it computes.
    type Output: Send + 'static;

    /// Does the work. `Err(Cancelled)` is not a result but the outcome *cancelled*; when a blocking operation
    /// comes back unexpectedly, `token.check()?` tells whether the canceller was the reason.
    ///
    /// # Errors
    /// [`struct@Cancelled`] if it gave up because it was asked to.
    fn run(self, token: &CancelToken) -> Result<Self::Output, Cancelled>;

    /// What to do to have [`run`](Self::run) return soon. It is asked for before `run` begins and called once
    /// at most, on the thread that cancels, while `run` is running (or, if the request was there already,
    /// just before it begins).
    ///
    /// It should not block: the thread that cancels waits for it. A panic in it is contained.
    fn canceller(&self) -> impl FnOnce() + Send + 'static;

    /// The task and its handle, for any executor's [`submit`](ExecutorExt::submit).
    fn into_future_task(self) -> FutureTask<Self::Output> {
        FutureTask::cancellable(move |token| {
            let _registration = token.on_cancel(self.canceller());
            self.run(token)
        })
    }
}

/// An executor for tasks that bring their own way to be cancelled, in front of any other executor.
///
/// It runs nothing itself. Plain closures pass through it, so it can stand wherever the other one does.
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
/// assert!(matches!(message.join(), Err(JoinError::Cancelled)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CancellingExecutor<E> {
    executor: E,
}

impl<E: Executor> CancellingExecutor<E> {
    /// Puts itself in front of `executor`.
    pub fn new(executor: E) -> Self {
        Self { executor }
    }

    /// Has the task run, and its canceller called if it is cancelled while it runs.
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor refuses it.
    #[doc(alias = "newTaskFor")]
    pub fn submit_task<C: CancellableTask>(
        &self,
        task: C,
    ) -> Result<TaskHandle<C::Output>, RejectedSubmission<C::Output>> {
        self.executor.submit(task.into_future_task())
    }

    /// The executor behind it.
    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Gives the executor behind it back.
    pub fn into_inner(self) -> E {
        self.executor
    }
}

forward_service!(<E> CancellingExecutor<E> => self.executor);
