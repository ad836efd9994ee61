//! Task execution on threads: an executor framework in the manner of `java.util.concurrent`, in idiomatic
//! Rust. It adds what the Java framework lacks: cancellation that reaches every blocking call, no lost
//! failures, and handles that can be awaited.
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
//! The modules below stand in bottom-up order: each module refers only to modules above it, and a test checks
//! that. The book of the course goes in the opposite order, from the top down. The third column names the
//! chapter of the book in which a module first appears. A ★ marks a module on the [first
//! path](#a-first-path). Every module begins with a page: the problem, the states, the code that changes
//! them, and the invariants.
//!
//! | module | in it | first met in | what it is about |
//! |---|---|---|---|
//! | `sync` | | – | the only access to locks, threads and time, so that a model checker can replace them |
//! | `panics` | [`Panic`], [`panics::PanicHandler`], [`panics::PanicReport`] | Threads, factories and hooks | where panics stop, and who is told of a panic that no caller reads |
//! | `ids` | [`TaskId`] | The life of a task | the ids of tasks, queues and threads |
//! | `time` | | Deadlines, reasons, links | a heap of due times, and the thread that acts at deadlines |
//! | `cancel` | [`CancelReason`], [`CancelKind`], [`struct@Cancelled`], [`CancelToken`], [`Registration`], [`Attached`], [`masked`] | The handle | asking a task to stop, and why; how deep callbacks nest |
//! | `task` ★ | [`Outcome`], [`Task`], [`TaskState`] | The life of a task | a closure that is run once, its outcome, and its observers |
//! | `waiting` ★ | [`Starvation`], [`OnStarvation`], [`CutShort`], [`WaitError`], [`RejectReason`], [`Latch`], [`Semaphore`], [`OwnedPermit`], [`block_on`], `SenderExt`, `ReceiverExt` (feature `channel`) | The handle | the one wait under every blocking call, and what is built on it: latches, semaphores, channels |
//! | `wait_graph` | | Tasks that wait for tasks | which threads wait for what, and whether these waits can still end |
//! | `handle` ★ | [`FutureTask`], [`TaskHandle`], [`SharedHandle`], [`Canceller`], [`CancelOnDrop`], [`Promise`] | The handle | the result of a task, and how to cancel it |
//! | `executor` ★ | [`Executor`], [`ExecutorExt`], [`ExecutorService`], [`InvokeAllError`], [`InvokeAnyError`], [`DirectExecutor`], [`ThreadPerTaskExecutor`], [`MinimalPool`], [`ExecutorCompletionService`] | Tasks and executors | what runs tasks, and what every executor promises; three policies on a page; many tasks at once |
//! | `thread_pool` ★ | [`WorkQueue`], [`FifoQueue`], [`HandOffQueue`], [`LifoQueue`], [`PriorityQueue`], [`ThreadPoolExecutor`], [`ThreadPoolBuilder`], [`RejectionHandler`], [`Hooks`], [`ThreadFactory`], [`PoolStats`], [`Stopper`], [`Timing`], [`recommended_threads`], `WaitCompute` | The pooled server | worker threads, a queue and a life cycle |
//! | `composed` | [`ManualExecutor`], [`BoundedExecutor`], [`BoundedStats`], [`TrackingExecutor`], [`CutOff`], [`SerialExecutor`], [`StripedExecutor`], [`Stripe`], [`Identity`], [`StripedStats`], [`CancellableTask`], [`CancellingExecutor`] | Bounding a pool | executors over other executors: they add bounds, order, or a record of the running tasks |
//! | `scheduled` | [`ScheduledThreadPoolExecutor`], [`Series`], [`MissedTicks`], [`AfterPanic`] | Schedules against timers | tasks that run later, or again and again |
//! | `fork_join` | [`ForkJoinPool`](fork_join::ForkJoinPool), [`join`](fork_join::join), [`fork`](fork_join::fork()) | Work stealing | tasks that split themselves into pieces, on threads that take pieces from each other |
//! | `system` | [`CancellableStream`], `CancellableListener`, `CancellableChild`, `ShutdownHooks` (feature `signals`) | Blocking that nobody can interrupt | blocking calls of the system, made cancellable; the hooks that run before a process ends |
//!
//! # A first path
//!
//! The path goes from `submit` to the result. Each stop answers a question that the previous stop raises, and
//! can be read without opening another file. Together the stops have some fourteen hundred lines, half of
//! them comments. Three subjects come later: how a pool grows and ends, cancellation, and the other queues.
//!
//! 1. `executor/mod.rs`, up to `fn submit_cancellable`: what it means to hand a task over.
//! 2. `executor/simple.rs`: three executors that fit on a page, and what is wrong with them.
//! 3. `../examples/pool_steps/step_5_own_queue.rs`: a whole pool with one lock, and a user's queue.
//! 4. `handle/mod.rs`, up to `mod error`: how the result of a task comes back.
//! 5. `task/mod.rs`, up to `struct Rare`: what a pool stores of a task.
//! 6. `thread_pool/queue.rs`, up to `struct LifoQueue`: where tasks wait.
//! 7. `thread_pool/mod.rs`, up to `mod hooks`: the library's pool on a page.
//! 8. `thread_pool/state.rs`: what changes together.
//! 9. `thread_pool/inbox.rs`, up to `use std`: the short way in, which most tasks take.
//! 10. `thread_pool/admission.rs`, up to `fn give_a_thread`: the long way in.
//! 11. `thread_pool/batch.rs`, up to `# Without a lock`: how the workers share what has come in.
//! 12. `thread_pool/worker.rs`, up to `fn find`: how a worker finds a task and runs it.
//! 13. `waiting/wait.rs`, up to `use std`: how a thread waits for the result.
//!
//! # The walk of a task
//!
//! The walk follows a task from `pool.submit(f)` to the thread that joins the task, function by function. The
//! task goes down this table. At one row the task goes back to an earlier function, and the row says so.
//!
//! | where | function | what happens |
//! |---|---|---|
//! | `executor/mod.rs` | `submit` | a closure becomes a task and a handle, in one allocation (`handle/future_task.rs`) |
//! | `thread_pool/admission.rs` | `admit` | the task goes into the inbox, or `decide` finds a thread or a place for it |
//! | `thread_pool/inbox.rs` | `try_push` | before a worker can see the task, the task notes its queue (back to `enter` in `admission.rs`) |
//! | `thread_pool/worker.rs` | `next_task` | a worker claims the next task of the batch (`Batch::claim` in `batch.rs`), or looks for one |
//! | `thread_pool/shared.rs` | `run_task` | the worker calls the hooks before and after the task |
//! | `task/mod.rs` | `run_then` | the task tells its observers; a task with a handle then calls the handle's cell |
//! | `handle/cell.rs` | `run` | the body leaves the cell and runs in a frame of its own (`cancel/current.rs`); the outcome is decided |
//! | `handle/listener.rs` | `release_waiters` | the worker calls the waker that the joiner has left |
//! | `waiting/parker.rs` | `wake` | the joiner wakes up |
//! | `waiting/wait.rs` | `wait` | the joiner looks again, finds the result, and `join` returns it |
//!
//! # Words
//!
//! The words of the pages, each with the page that explains it:
//!
//! | word | what it means | page |
//! |---|---|---|
//! | token | carries the request to stop; tokens form a tree | `cancel/mod.rs` |
//! | frame | a thread's record of one task that it is running | `cancel/mod.rs` |
//! | level | a number for each thread, one higher while the thread runs users' code that belongs to no task | `cancel/outside.rs` |
//! | observer | is told where a task is, and is dropped with it | `task/observer.rs` |
//! | parker | the place where a thread sleeps until a wake-up comes | `waiting/parker.rs` |
//! | wait list | the waiters for one thing, in the order in which they came | `waiting/latch.rs` |
//! | queue owner | the executor to which a queue of tasks belongs; it can take tasks out, and says which threads run them | `waiting/queue_owner.rs` |
//! | detector | finds waits that can never end | `waiting/awaited.rs` |
//! | starvation | tasks that wait for tasks, until no thread is left | `waiting/starvation.rs` |
//! | membership | in which queue a task is | `handle/mod.rs` |
//! | inbox | the place where submitters leave tasks without the lock of the pool's state | `thread_pool/inbox.rs` |
//! | batch | tasks that the workers of a pool claim one at a time without a lock | `thread_pool/batch.rs` |
//! | worker slot | the record of what one worker has claimed, begun and completed | `thread_pool/batch.rs` |
//! | tombstone | a cancelled task that is still in its queue | `thread_pool/cancelled.rs` |
//! | strand | tasks that run one at a time, in order, on the threads of an executor below | `composed/strand/mod.rs` |
//! | drain task | the task that a strand gives to the executor below; the drain task runs the strand's tasks | `composed/strand/mod.rs` |
//! | series | a task that runs again and again | `scheduled/series.rs` |
//! | worker queue | the jobs of one fork/join worker, from which others steal | `fork_join/worker_queue.rs` |
//! | granularity | how long the pieces of a job take; a queue of fine pieces offers only a few | `fork_join/worker_queue.rs` |
//! | demand flag | says whether a worker's queue offers thieves enough jobs | `fork_join/demand.rs` |
//!
//! # For those who come from Java
//!
//! | `java.util.concurrent` | here | chapter of the book |
//! |---|---|---|
//! | `Executor`, `ExecutorService` | [`Executor`] with [`ExecutorExt`], [`ExecutorService`] | Tasks and executors; Lifecycle and graceful stop |
//! | `Runnable`, `Callable` | a closure, or a [`Task`] | Tasks and executors |
//! | `Future`, `FutureTask` | [`TaskHandle`], [`FutureTask`] | The handle; The life of a task |
//! | `CompletableFuture.complete`, `completeExceptionally` | [`Promise::complete`], [`Promise::panic_with`] | Results by hand, and for many |
//! | `Future.cancel(true)`, `cancel(false)` | [`TaskHandle::cancel`], [`TaskHandle::cancel_keep_running`] | The handle |
//! | `ExecutionException`, `CancellationException`, `TimeoutException`, `InterruptedException` | the variants of [`JoinError`] | The handle |
//! | `RejectedExecutionException` | [`RejectedExecution`], [`RejectedSubmission`], which hand the task back | When there is no room |
//! | `Thread.interrupt`, `Thread.interrupted` | [`CancelToken::cancel`], [`CancelToken::check`] | The handle |
//! | `invokeAll`, `invokeAny` | [`ExecutorExt::invoke_all`], [`invoke_all_timeout`](ExecutorExt::invoke_all_timeout), [`invoke_any`](ExecutorExt::invoke_any), [`invoke_any_timeout`](ExecutorExt::invoke_any_timeout) | Time limits |
//! | `ExecutorCompletionService` | [`ExecutorCompletionService`] | Results as they come |
//! | overriding `AbstractExecutorService.newTaskFor` | [`CancellableTask`], [`CancellingExecutor`] | Time limits |
//! | overriding `Thread.interrupt` to close a socket | [`CancelToken::on_cancel`], [`CancellableStream`] | Blocking that nobody can interrupt |
//! | `ThreadPoolExecutor`'s constructors | [`ThreadPoolExecutor::builder`] | Threads and queue |
//! | `Executors.newFixedThreadPool`, `newCachedThreadPool`, `newSingleThreadExecutor` | [`ThreadPoolExecutor::fixed`], [`ThreadPoolExecutor::cached`], [`ThreadPoolExecutor::single`] | Threads and queue |
//! | `LinkedBlockingQueue`, `ArrayBlockingQueue`, `SynchronousQueue`, `PriorityBlockingQueue` | [`FifoQueue`], [`HandOffQueue`], [`PriorityQueue`] | Threads and queue |
//! | `AbortPolicy`, `CallerRunsPolicy`, `DiscardPolicy`, `DiscardOldestPolicy` | [`Abort`], [`CallerRuns`], [`Discard`], [`DiscardOldest`], and [`Block`] | When there is no room |
//! | a pool whose tasks wait for each other: it hangs; `ForkJoinPool`, which compensates | [`JoinError::Starved`], [`OnStarvation`] | Tasks that wait for tasks |
//! | `ThreadFactory`, `UncaughtExceptionHandler` | [`ThreadFactory`], [`panics::PanicHandler`] | Threads, factories and hooks |
//! | `beforeExecute`, `afterExecute`, `terminated` | [`Hooks`] | Threads, factories and hooks |
//! | `Executors.unconfigurableExecutorService` | [`UnconfigurablePool`] | |
//! | `ArrayBlockingQueue`, `SynchronousQueue` | `channel::bounded`, with `SenderExt` and `ReceiverExt` | |
//! | `Runtime.addShutdownHook` | `shutdown_hooks::ShutdownHooks` | Lifecycle and graceful stop |
//! | `ScheduledThreadPoolExecutor`, `Timer` | [`ScheduledThreadPoolExecutor`] | |
//! | `ScheduledFuture` of a periodic task | [`Series`] | |
//! | the listings `BoundedExecutor`, `SerialExecutor` and `TrackingExecutor` | [`BoundedExecutor`], [`SerialExecutor`], [`TrackingExecutor`] | Bounding a pool; Order without a lock; What was running |
//! | `CountDownLatch`, `Semaphore` | [`Latch`], [`Semaphore`] | |
//!
//! # Features
//!
//! No feature is on by default.
//!
//! * `channel`: the module of that name, with cancellable waits at the channels of `crossbeam-channel`, and
//!   `CancelToken::channel` for `select!`.
//! * `serde`: [`PoolStats`], [`PoolSnapshot`] and the parts of a [`Starvation`] can be serialised.
//! * `processes`: `CancellableChild`, on Unix.
//! * `processor-time`: `WaitCompute`, which measures how long tasks wait and how long they compute.
//! * `sockets`: `CancellableStream::connect`, and on Unix `CancellableListener`.
//! * `signals`: the module `shutdown_hooks`, with hooks that run before the process ends, also by a signal.
//! * `timer-slack`, on Linux: the thread that watches the time for a [`ScheduledThreadPoolExecutor`] wakes up
//!   one or two microseconds late instead of some fifty.
//! * `tracing`: [`NamedThreads`] reports when its threads begin and end, and a pool reports when its tasks
//!   starve each other.
//!
//! # Limits
//!
//! Cancellation is co-operative: a task that neither looks at its token nor blocks in this crate runs to its
//! end. Panics are caught by unwinding, so `panic = "abort"` is not supported.
//!
//! The library uses a bounded part of a thread's stack, even for long chains of tasks and callbacks:
//!
//! | what | how deep |
//! |---|---|
//! | [callbacks](TaskHandle::on_done), users' wakers, and the `Drop` of values that tasks have captured or returned | 32 inside each other, and 32 more that run while those block |
//! | tasks that a waiting thread of a pool runs itself | as deep as the pool is [told](OnStarvation::Help) |
//! | tasks that a waiting worker of a [`ForkJoinPool`](fork_join::ForkJoinPool) runs itself | [half of its stack](fork_join::fork()), and 32 more |
//! | trees of tokens, strands of tasks | no stack |
//!
//! These bounds do not hold for user code that calls itself: a function that calls a
//! [scope](ExecutorExt::scope) or a [join](fork_join::join) whose closure calls the function, a task that
//! submits to the [`DirectExecutor`] that runs it, or a value that holds a value of its own type.
#![warn(missing_docs)]
// Under a model checker, the stand-ins of `thread_local!` have no const form.
#![allow(clippy::missing_const_for_thread_local)]

mod sync;
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub use sync::program;

pub mod panics;
pub use panics::Panic;

mod ids;
pub use ids::TaskId;

mod time;

mod cancel;
pub use cancel::{Attached, CancelKind, CancelReason, CancelToken, Cancelled, Registration, masked};

mod task;
pub use task::{Outcome, Task, TaskState};

mod waiting;
#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub use waiting::channel;
pub use waiting::{
    CutShort, Latch, OnStarvation, OwnedPermit, Permit, RejectReason, Semaphore, Starvation, StarvedWait,
    TaskRef, WaitError, WaitsFor, block_on,
};

mod wait_graph;

mod handle;
pub use handle::{
    CancelOnDrop, Canceller, FutureTask, JoinError, Promise, SharedHandle, SharedJoinError, TaskError,
    TaskHandle, TryJoinError,
};

/// The name that the exercises use for the error of a wait with a time limit.
#[doc(hidden)]
pub use handle::JoinError as JoinTimeoutError;

mod executor;
pub use executor::{
    DirectExecutor, Executor, ExecutorCompletionService, ExecutorExt, ExecutorService, InvokeAllError,
    InvokeAnyError, InvokeFailure, MinimalPool, PoolState, RejectedExecution, RejectedSubmission, Scope,
    ScopeError, TaskFailure, ThreadPerTaskExecutor,
};

mod thread_pool;
#[cfg(feature = "processor-time")]
pub use thread_pool::WaitCompute;
pub use thread_pool::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, DropPolicy, FifoQueue, HandOffQueue, Hooks, LifoQueue,
    NamedThreads, PoolConfigError, PoolSnapshot, PoolStats, PriorityQueue, RefusingPool, RejectionHandler,
    Stopper, TaskInfo, ThreadFactory, ThreadPoolBuilder, ThreadPoolExecutor, Timing, UnconfigurablePool,
    WorkQueue, Worker, recommended_threads,
};

mod composed;
pub use composed::{
    BoundedExecutor, BoundedStats, CancellableTask, CancellingExecutor, CutOff, CutOffHow, Identity,
    Impatient, ManualExecutor, NotTerminated, SerialExecutor, Stripe, StripeStats, StripedExecutor,
    StripedStats, Tagged, TrackingExecutor, TrackingStats,
};

mod scheduled;
pub use scheduled::{
    AfterPanic, MissedTicks, RejectedSeries, ScheduledPoolBuilder, ScheduledStats,
    ScheduledThreadPoolExecutor, Series, SeriesBuilder, SeriesEnd,
};

pub mod fork_join;

// Calls on sockets and processes block in the system, where no model checker can control them.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod system;
#[cfg(all(unix, feature = "processes"))]
pub use system::CancellableChild;
#[cfg(all(unix, feature = "sockets"))]
pub use system::CancellableListener;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use system::CancellableStream;
#[cfg(all(feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub use system::shutdown_hooks;

/// The traits whose methods callers use on executors: `use executor::prelude::*`.
pub mod prelude {
    pub use crate::{Executor as _, ExecutorExt as _, ExecutorService as _};
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
