//! Task execution on threads: an executor framework in the manner of `java.util.concurrent`, in idiomatic Rust, with
//! what that one lacks – cancellation that reaches every blocking call, no lost failures, handles that can be awaited.
//!
//! ```
//! use executor::{ThreadPoolExecutor, prelude::*};
//!
//! let pool = ThreadPoolExecutor::fixed(4);
//!
//! let answer = pool.submit(|| 6 * 7)?; // runs on one of the pool's threads
//! assert_eq!(answer.join()?, 42); // waits for it
//!
//! pool.close(); // finishes what was accepted, ends the threads
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How to read it
//!
//! The modules below are in the order of the course, and each refers only to those above it. Every module begins with a
//! page that says what problem it solves, which states there are and what moves them, and what always holds.
//!
//! | module | in it | what it is about |
//! |---|---|---|
//! | `sync` | | the one door to locks, threads and time, so that a model checker can stand behind it |
//! | `error` | [`Cancelled`], [`WaitError`], [`Panic`], [`RejectReason`] | ways of failing; where panics stop |
//! | `panics` | [`panics::PanicHandler`], [`panics::PanicReport`] | the handlers of panics that no handle tells of |
//! | `callbacks` | | how deep callbacks nest |
//! | `cancel` | [`CancelToken`], [`Registration`], [`masked`] | asking a task to stop |
//! | `wait` | [`Latch`], [`Semaphore`] | the one wait under every blocking call |
//! | `task` | [`Task`], [`Outcome`] | a closure to be run once |
//! | `handle` | [`FutureTask`], [`TaskHandle`], [`SharedHandle`], [`Canceller`], [`Promise`] | the result of a task, and how it is called off |
//! | `arrivals` | | handles in the order in which their tasks end |
//! | `executor` | [`Executor`], [`ExecutorExt`], [`ExecutorService`], [`InvokeAllError`], [`InvokeAnyError`] | who runs tasks, and what all of them promise; many tasks at once |
//! | `simple` | [`DirectExecutor`], [`ThreadPerTaskExecutor`], [`MinimalPool`] | three policies on a page |
//! | `queue` | [`WorkQueue`], [`FifoQueue`], [`HandOffQueue`], [`PriorityQueue`], [`LifoQueue`] | where tasks wait |
//! | `thread_pool` | [`ThreadPoolExecutor`], [`ThreadPoolBuilder`], [`RejectionHandler`], [`Hooks`], [`ThreadFactory`], [`PoolStats`] | worker threads, a queue and a life cycle |
//! | `completion` | [`ExecutorCompletionService`] | results in the order in which they come |
//! | `cancelling` | [`CancellableTask`], [`CancellingExecutor`] | tasks that bring their own way to be cancelled |
//! | `timing` | [`Timing`] | what hooks can do |
//! | `sizing` | [`pool_size`], [`WaitCompute`] | how many threads |
//!
//! # For Java programmers
//!
//! | `java.util.concurrent` | here | chapter of the book |
//! |---|---|---|
//! | `Executor`, `ExecutorService` | [`Executor`] with [`ExecutorExt`], [`ExecutorService`] | Tasks and executors; Lifecycle and graceful stop |
//! | `Runnable`, `Callable` | a closure, or a [`Task`] | Tasks and executors |
//! | `Future`, `FutureTask` | [`TaskHandle`], [`FutureTask`] | The handle; The life of a task |
//! | `CompletableFuture.complete`, `completeExceptionally` | [`Promise::complete`], [`Promise::fail`] | Results by hand, and for many |
//! | `Future.cancel(true)`, `cancel(false)` | [`TaskHandle::cancel`], [`TaskHandle::cancel_keep_running`] | The handle |
//! | `ExecutionException`, `CancellationException`, `TimeoutException`, `InterruptedException` | the variants of [`JoinTimeoutError`] | The handle |
//! | `RejectedExecutionException` | [`RejectedExecution`], [`RejectedSubmit`], which hand the task back | When there is no room |
//! | `Thread.interrupt`, `Thread.interrupted` | [`CancelToken::cancel`], [`CancelToken::check`] | The handle |
//! | `invokeAll`, `invokeAny` | [`ExecutorExt::invoke_all`], [`invoke_all_timeout`](ExecutorExt::invoke_all_timeout), [`invoke_any`](ExecutorExt::invoke_any), [`invoke_any_timeout`](ExecutorExt::invoke_any_timeout) | Time limits |
//! | `ExecutorCompletionService` | [`ExecutorCompletionService`] | Results as they come |
//! | overriding `AbstractExecutorService.newTaskFor` | [`CancellableTask`], [`CancellingExecutor`] | Time limits |
//! | `ThreadPoolExecutor`'s constructors | [`ThreadPoolExecutor::builder`] | Threads and queue |
//! | `Executors.newFixedThreadPool`, `newCachedThreadPool`, `newSingleThreadExecutor` | [`ThreadPoolExecutor::fixed`], [`ThreadPoolExecutor::cached`], [`ThreadPoolExecutor::single`] | Threads and queue |
//! | `LinkedBlockingQueue`, `ArrayBlockingQueue`, `SynchronousQueue`, `PriorityBlockingQueue` | [`FifoQueue`], [`HandOffQueue`], [`PriorityQueue`] | Threads and queue |
//! | `AbortPolicy`, `CallerRunsPolicy`, `DiscardPolicy`, `DiscardOldestPolicy` | [`Abort`], [`CallerRuns`], [`Discard`], [`DiscardOldest`], and [`Block`] | When there is no room |
//! | `ThreadFactory`, `UncaughtExceptionHandler` | [`ThreadFactory`], [`panics::PanicHandler`] | Threads, factories and hooks |
//! | `beforeExecute`, `afterExecute`, `terminated` | [`Hooks`] | Threads, factories and hooks |
//! | `Executors.unconfigurableExecutorService` | [`UnconfigurablePool`] | |
//! | `CountDownLatch`, `Semaphore` | [`Latch`], [`Semaphore`] | |
//!
//! # Features
//!
//! None of them is on unless it is asked for.
//!
//! * `serde`: [`PoolStats`] and [`PoolSnapshot`] can be serialised.
//! * `tracing`: [`NamedThreads`] says when its threads begin and when they end.
//!
//! # Limits
//!
//! Cancellation is co-operative: a task that neither looks at its token nor blocks in this crate runs to its end. Panics
//! are caught by unwinding, so `panic = "abort"` is not supported.
#![warn(missing_docs)]
// The stand-ins of `thread_local!` under a model checker have no const form.
#![allow(clippy::missing_const_for_thread_local)]

mod sync;

mod error;
pub use error::{Cancelled, Panic, RejectReason, WaitError};

pub mod panics;

mod callbacks;

mod cancel;
pub use cancel::{CancelToken, Registration, masked};

mod wait;
pub use wait::{Latch, Permit, Semaphore};

mod task;
pub use task::{Outcome, Task, TaskId};

mod handle;
pub use handle::{
    Canceller, FutureTask, JoinError, JoinTimeoutError, Promise, SharedHandle, SharedJoinError, TaskError,
    TaskHandle, TaskState, TryJoinError,
};

mod arrivals;

mod executor;
pub use executor::{
    Executor, ExecutorExt, ExecutorService, InvokeAllError, InvokeAllFailure, InvokeAnyError,
    InvokeAnyFailure, RejectedExecution, RejectedSubmit, TaskFailure,
};

mod simple;
pub use simple::{DirectExecutor, MinimalPool, ThreadPerTaskExecutor};

mod queue;
pub use queue::{FifoQueue, HandOffQueue, LifoQueue, PriorityQueue, WorkQueue};

mod thread_pool;
pub use thread_pool::{
    Abort, Block, CallerRuns, ConfigError, Discard, DiscardOldest, DropPolicy, Hooks, NamedThreads,
    PoolSnapshot, PoolState, PoolStats, RefusingPool, RejectionHandler, TaskInfo, ThreadFactory,
    ThreadPoolBuilder, ThreadPoolExecutor, UnconfigurablePool, Worker,
};

mod completion;
pub use completion::ExecutorCompletionService;

mod cancelling;
pub use cancelling::{CancellableTask, CancellingExecutor};

mod timing;
pub use timing::Timing;

// Real time on real cores; under a model there is neither.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod sizing;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use sizing::{WaitCompute, pool_size};

/// The traits whose methods are called on executors: `use executor::prelude::*`.
pub mod prelude {
    pub use crate::{Executor as _, ExecutorExt as _, ExecutorService as _};
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
