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
//! The modules below stand in bottom-up order: each refers only to those above it, and a test keeps it so. The course goes
//! another way, from the top: the third column says which chapter of the book first meets a module, and a ★ that the
//! [first path](#a-first-path) leads through it. Every module begins with a page that says what problem it solves, which
//! states there are and who moves them, and what always holds.
//!
//! | module | in it | first met in | what it is about |
//! |---|---|---|---|
//! | `sync` | | – | the one door to locks, threads and time, so that a model checker can stand behind it |
//! | `reason` | [`CancelReason`], [`CancelKind`] | Deadlines, reasons, links | why a task was asked to stop |
//! | `panics` | [`Panic`], [`panics::PanicHandler`], [`panics::PanicReport`] | Threads, factories and hooks | where panics stop, and who hears of one that nobody else would hear of |
//! | `ids` | [`TaskId`] | The life of a task | numbers by which tasks and queues are known |
//! | `starvation` | [`Starvation`], [`OnStarvation`] | Tasks that wait for tasks | what is said of a wait that could never end |
//! | `error` | [`struct@Cancelled`], [`CutShort`], [`WaitError`], [`RejectReason`] | The handle | ways of failing |
//! | `time` | | Deadlines, reasons, links | what is due next, and the thread that sees to deadlines |
//! | `callbacks` | | Results by hand, and for many | how deep callbacks nest |
//! | `cancel` | [`CancelToken`], [`Registration`], [`Attached`], [`masked`] | The handle | asking a task to stop |
//! | `outcome` | [`Outcome`] | The life of a task | how a task ended |
//! | `companion` | | The handle | what goes along with a task |
//! | `job` | | Work stealing | work that borrows from the stack of the thread that waits for it |
//! | `task` ★ | [`Task`], [`TaskState`] | The life of a task | a closure to be run once |
//! | `tombstones` | | Threads and queue | how many of the tasks in a queue were cancelled |
//! | `watcher` | | Tasks that wait for tasks | what can be asked of the owner of a queue |
//! | `parker` ★ | | The handle | where a thread waits, and how long it spins before it sleeps |
//! | `awaited` | | Tasks that wait for tasks | what a thread can wait for, and who can tell whether that can still come |
//! | `worker_context` | | Tasks that wait for tasks | whose worker a thread is, and in which tasks |
//! | `wait` ★ | | The handle | the one wait under every blocking call |
//! | `latch` | [`Latch`] | Locks and waiting | waiting until all of something has happened |
//! | `semaphore` | [`Semaphore`], [`OwnedPermit`] | Locks and waiting | bounding how much of something is in use |
//! | `channel` | `SenderExt`, `ReceiverExt` (feature `channel`) | A flag is not enough | channels whose waits can be cancelled |
//! | `wait_graph` | | Tasks that wait for tasks | which threads wait for what, and whether it can still come |
//! | `handle` ★ | [`FutureTask`], [`TaskHandle`], [`SharedHandle`], [`Canceller`], [`Promise`] | The handle | the result of a task, and how it is called off |
//! | `executor` ★ | [`Executor`], [`ExecutorExt`], [`ExecutorService`], [`InvokeAllError`], [`InvokeAnyError`] | Tasks and executors | who runs tasks, and what all of them promise; many tasks at once |
//! | `simple` ★ | [`DirectExecutor`], [`ThreadPerTaskExecutor`], [`MinimalPool`] | Tasks and executors | three policies on a page |
//! | `queue` ★ | [`WorkQueue`], [`FifoQueue`], [`HandOffQueue`], [`LifoQueue`] | Threads and queue | where tasks wait |
//! | `priority_queue` | [`PriorityQueue`] | Threads and queue | where the most important task is the first |
//! | `thread_pool` ★ | [`ThreadPoolExecutor`], [`ThreadPoolBuilder`], [`RejectionHandler`], [`Hooks`], [`ThreadFactory`], [`PoolStats`], [`Stopper`] | The pooled server | worker threads, a queue and a life cycle |
//! | `completion` | [`ExecutorCompletionService`] | Results as they come | results in the order in which they come |
//! | `life` | | Bounding a pool | the life of an executor over another one |
//! | `manual` | [`ManualExecutor`] | Bounding a pool | an executor for tests, which decide what runs when |
//! | `bounded` | [`BoundedExecutor`], [`BoundedStats`] | Bounding a pool | a bound on what is under way, over any executor |
//! | `tracking` | [`TrackingExecutor`], [`CutOff`] | What was running | which tasks ran when it was shut down abruptly |
//! | `line` | | Order without a lock | tasks that run one at a time, in order |
//! | `serial` | [`SerialExecutor`] | Order without a lock | one task at a time, over any executor |
//! | `striped` | [`StripedExecutor`], [`Stripe`], [`Identity`], [`StripedStats`] | Order without a lock | one task at a time for each key, over any executor |
//! | `scheduled` | [`ScheduledThreadPoolExecutor`], [`Series`], [`MissedTicks`], [`AfterPanic`] | Schedules against timers | tasks that run later, or again and again |
//! | `fork_join` | [`ForkJoinPool`](fork_join::ForkJoinPool), [`join`](fork_join::join), [`fork`](fork_join::fork()) | Work stealing | work that splits itself, on threads that take pieces from each other |
//! | `cancellable_task` | [`CancellableTask`], [`CancellingExecutor`] | Time limits | tasks that bring their own way to be cancelled |
//! | `uninterruptible` | [`CancellableStream`], `CancellableListener`, `CancellableChild` | Blocking that nobody can interrupt | blocking in the system, made cancellable |
//! | `timing` | [`Timing`] | Threads, factories and hooks | what hooks can do |
//! | `sizing` | [`recommended_threads`], [`WaitCompute`] | How many threads? | how many threads |
//! | `shutdown_hooks` | `ShutdownHooks` (feature `signals`) | Lifecycle and graceful stop | what a process does before it ends |
//!
//! # A first path
//!
//! From `submit` to the result, in an order in which each file answers a question that the one before it raises; some
//! two thousand lines, a quarter of them comments. It leaves out what can wait: how a pool grows and ends,
//! cancellation, the other queues.
//!
//! 1. `executor/mod.rs`, up to `fn submit_cancellable`: what it means to hand a task over.
//! 2. `simple.rs`: three executors that fit on a page, and what is wrong with them.
//! 3. `task.rs`, up to `enum TaskState`: what is handed over.
//! 4. `thread_pool/mod.rs`, up to `mod hooks`: the pool on a page.
//! 5. `queue.rs`, up to `struct LifoQueue`: where tasks wait.
//! 6. `thread_pool/state.rs`: what changes together.
//! 7. `thread_pool/admission.rs`, up to `fn give_a_thread`: how a task comes in.
//! 8. `thread_pool/inbox.rs`, up to `fn refill`: the short way, which most tasks take.
//! 9. `thread_pool/run.rs`, up to `fn claimed`: how the workers share what has come in.
//! 10. `thread_pool/worker.rs`, up to `fn find`: how a task is run.
//! 11. `handle/mod.rs`: how its result comes back.
//! 12. `handle/listener.rs`, up to `enum UserCode`: who is told.
//! 13. `handle/cell.rs`, up to `fn begin_cancel`: what task and handle share.
//! 14. `parker.rs`, up to `impl Parker`: where a thread waits for it.
//! 15. `wait.rs`, up to `trait Look`: and how.
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
//! None of them is on unless it is asked for.
//!
//! * `channel`: the module of that name, with cancellable waits at the channels of `crossbeam-channel`, and
//!   `CancelToken::channel` for `select!`.
//! * `serde`: [`PoolStats`], [`PoolSnapshot`] and the parts of a [`Starvation`] can be serialised.
//! * `processes`: `CancellableChild`, on Unix.
//! * `sockets`: `CancellableStream::connect`, and on Unix `CancellableListener`.
//! * `signals`: the module `shutdown_hooks`, with hooks that run when the process ends, by itself or by a signal.
//! * `timer-slack`: the thread that watches the time for a [`ScheduledThreadPoolExecutor`] is woken within a microsecond or two
//!   instead of some fifty, on Linux.
//! * `tracing`: [`NamedThreads`] says when its threads begin and when they end, and a pool when its tasks starve each other.
//!
//! # Limits
//!
//! Cancellation is co-operative: a task that neither looks at its token nor blocks in this crate runs to its end. Panics
//! are caught by unwinding, so `panic = "abort"` is not supported.
//!
//! What the library itself puts on a stack is bounded, however long a chain of tasks and callbacks is:
//!
//! | what | how deep |
//! |---|---|
//! | [callbacks](TaskHandle::on_done), users' wakers, and the `Drop` of what tasks have captured and returned | 32 inside each other, and 32 more that run while those block |
//! | tasks that a waiting thread of a pool runs itself | as deep as the pool is [told](OnStarvation::Help) |
//! | tasks that a waiting worker of a [`ForkJoinPool`](fork_join::ForkJoinPool) runs itself | [half of its stack](fork_join::fork()), and 32 more |
//! | trees of tokens, lines of tasks | no stack |
//!
//! What calls itself is not bounded by that: a function that calls a [scope](ExecutorExt::scope) or a
//! [join](fork_join::join) whose closure calls the function, a task that submits to a [`DirectExecutor`] in which it
//! runs, a value in a value.
#![warn(missing_docs)]
// The stand-ins of `thread_local!` under a model checker have no const form.
#![allow(clippy::missing_const_for_thread_local)]

mod sync;
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub use sync::program;

mod reason;
pub use reason::{CancelKind, CancelReason};

pub mod panics;
pub use panics::Panic;

mod ids;
pub use ids::TaskId;

mod starvation;
pub use starvation::{OnStarvation, Starvation, StarvedWait, TaskRef, WaitsFor};

mod error;
pub use error::{Cancelled, CutShort, RejectReason, WaitError};

mod time;

mod callbacks;

mod cancel;
pub use cancel::{Attached, CancelToken, Registration, masked};

mod outcome;
pub use outcome::Outcome;

mod companion;

mod job;

mod task;
pub use task::{Task, TaskState};

mod tombstones;

mod watcher;

mod parker;

mod awaited;

mod worker_context;

mod wait;

mod latch;
pub use latch::Latch;

mod semaphore;
pub use semaphore::{OwnedPermit, Permit, Semaphore};

#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub mod channel;

mod wait_graph;

mod handle;
pub use handle::{
    Canceller, FutureTask, JoinError, Promise, SharedHandle, SharedJoinError, TaskError, TaskHandle,
    TryJoinError,
};

/// The exercises know the error of a wait with a time limit by this name.
#[doc(hidden)]
pub use handle::JoinError as JoinTimeoutError;

mod executor;
pub use executor::{
    Executor, ExecutorExt, ExecutorService, InvokeAllError, InvokeAnyError, InvokeFailure, RejectedExecution,
    RejectedSubmission, Scope, ScopeError, TaskFailure,
};

mod simple;
pub use simple::{DirectExecutor, MinimalPool, ThreadPerTaskExecutor};

mod queue;
pub use queue::{FifoQueue, HandOffQueue, LifoQueue, WorkQueue};

mod priority_queue;
pub use priority_queue::PriorityQueue;

mod thread_pool;
pub use thread_pool::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, DropPolicy, Hooks, NamedThreads, PoolConfigError,
    PoolSnapshot, PoolState, PoolStats, RefusingPool, RejectionHandler, Stopper, TaskInfo, ThreadFactory,
    ThreadPoolBuilder, ThreadPoolExecutor, UnconfigurablePool, Worker,
};

mod completion;
pub use completion::ExecutorCompletionService;

mod life;

mod manual;
pub use manual::ManualExecutor;

mod bounded;
pub use bounded::{BoundedExecutor, BoundedStats, Impatient};

mod tracking;
pub use tracking::{CutOff, CutOffHow, NotTerminated, Tagged, TrackingExecutor, TrackingStats};

mod line;

mod serial;
pub use serial::SerialExecutor;

mod striped;
pub use striped::{Identity, Stripe, StripeStats, StripedExecutor, StripedStats};

mod scheduled;
pub use scheduled::{
    AfterPanic, MissedTicks, RejectedSeries, ScheduledPoolBuilder, ScheduledStats,
    ScheduledThreadPoolExecutor, Series, SeriesBuilder, SeriesEnd,
};

pub mod fork_join;

mod cancellable_task;
pub use cancellable_task::{CancellableTask, CancellingExecutor};

// Sockets and processes block in the system, past any model.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod uninterruptible;
#[cfg(all(unix, feature = "processes"))]
pub use uninterruptible::CancellableChild;
#[cfg(all(unix, feature = "sockets"))]
pub use uninterruptible::CancellableListener;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use uninterruptible::CancellableStream;

mod timing;
pub use timing::Timing;

// Real time on real cores; under a model there is neither.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod sizing;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use sizing::{WaitCompute, recommended_threads};

// A process has one set of hooks, and real signals.
#[cfg(all(feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub mod shutdown_hooks;

/// The traits whose methods are called on executors: `use executor::prelude::*`.
pub mod prelude {
    pub use crate::{Executor as _, ExecutorExt as _, ExecutorService as _};
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
