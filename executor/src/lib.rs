//! Task execution on threads: pools, handles, cancellation, schedules and fork/join. The library is for
//! programs with tasks that block or fail, that must keep an order, or that must end in time.
//!
//! **A lock may be held across a join, a scope or a parallel loop.** A thread that waits for the pieces of a job
//! runs only pieces of that job. So a thread that holds a lock cannot begin other work that needs the same lock.
//! (See [the exception and the reason](#a-lock-across-a-join).)
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
//! * **Cancellation reaches every blocking call** of the library: joins, sleeps, semaphores, channels,
//!   sockets. A token has a reason and can have a deadline. The tasks of a scope inherit the token of the
//!   scope's caller.
//! * **No failure is lost.** A panic becomes an error at the join, or a handler gets it. A refused task is
//!   returned in the error, and `shutdown_now` returns the tasks that have not begun.
//! * **Waits that can never end are reported**: for example, if all threads wait for tasks and no thread is
//!   left to run these tasks.
//! * **A handle can be joined, polled or awaited**, in any async runtime or without one.
//! * By default the library needs no other package, and it contains no async runtime.
//!
//! # Which executor
//!
//! | for | take |
//! |---|---|
//! | tasks of a server or a program, on a number of threads | [`ThreadPoolExecutor::fixed`], or [its builder](ThreadPoolExecutor::builder) |
//! | a bound on the waiting tasks | the builder with [`FifoQueue::bounded`], and [`Block`], [`CallerRuns`] or another policy |
//! | a bound on the unfinished tasks, over any executor | [`BoundedExecutor`] |
//! | tasks that block for long, few at a time | [`ThreadPoolExecutor::cached`] |
//! | a computation that splits itself; loops over slices and ranges | [`fork_join`] |
//! | tasks that borrow from the stack | [`scope`](ExecutorExt::scope) of any executor |
//! | tasks one at a time, in order | [`SerialExecutor`], over any executor |
//! | tasks in order, for each account, connection or document | [`StripedExecutor`], over any executor |
//! | urgent tasks first | the builder with a [`PriorityQueue`] |
//! | tasks later, or again and again | [`ScheduledThreadPoolExecutor`] |
//! | a list of the tasks that a stop has cut off | [`TrackingExecutor`], over any executor |
//! | tests of code that submits tasks | [`ManualExecutor`]; [`DirectExecutor`] runs each task at once |
//!
//! # Beside others
//!
//! | | here | rayon | tokio's `spawn_blocking` | threadpool | `std::thread::scope` |
//! |---|---|---|---|---|---|
//! | meant for | tasks of all kinds | computations | blocking calls of async code | tasks without results | a few threads that borrow |
//! | result of a task | handle: join, poll, await | of `join` and `scope`; `spawn` has none | handle: await | none | handle: join |
//! | tasks that borrow | yes | yes | no | no | yes |
//! | threads | from a minimum to a maximum | a fixed number | up to a limit, 512 by default | a number that can be set | one for each task |
//! | bounded queue | yes | no | no | no | no queue |
//! | order by key, priorities | yes | no | no | no | no |
//! | cancel a task that has begun | by a token, which every wait obeys | no | no | no | no |
//! | time limit | of a wait, a task, a scope | no | of the await; the task goes on | no | no |
//! | stop, and get the tasks that have not begun | yes | no | no | no | no |
//! | panic of a task | error at the join, or a handler | passed on; in `spawn`: handler, or the process aborts | error at the await | a count | passed on |
//! | lock across a parallel loop | yes | [can hang](https://github.com/rayon-rs/rayon/issues/592) | no such loop | no such loop | yes |
//! | parallel loops | over slices and ranges | a full set of iterators | no | no | no |
//!
//! So use rayon for a computation that is one chain of iterators. For code that is asynchronous throughout,
//! use an async runtime, and use a pool of this library for the blocking calls.
//!
//! # Cookbook
//!
//! Three examples of the package are whole programs: `checksums` reads files, a few at a time and
//! within a time limit; `job_server` runs urgent jobs first, and each customer's jobs in order;
//! `rows_of_a_picture` is a parallel loop.
//!
//! **A graceful stop.** First refuse new tasks, then wait, then cancel the tasks that still run:
//!
//! ```
//! use executor::{ThreadPoolExecutor, prelude::*};
//! use std::time::Duration;
//!
//! let pool = ThreadPoolExecutor::fixed(4);
//! pool.execute(|| println!("accepted, so it runs"))?;
//! pool.shutdown();
//! assert!(pool.execute(|| println!("too late")).is_err());
//! if !pool.await_termination(Duration::from_secs(10)) {
//!     let not_begun = pool.shutdown_now(); // cancels the tokens of the running tasks
//!     println!("{} tasks have not begun", not_begun.len());
//! }
//! # assert!(pool.is_terminated());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the feature `signals`, the module `shutdown_hooks` lets a program stop in this way at SIGINT and
//! SIGTERM.
//!
//! **Order by key.** Tasks of one account run in order, and tasks of different accounts run at the same time:
//!
//! ```
//! use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};
//! use std::sync::{Arc, Mutex};
//!
//! let accounts = StripedExecutor::owning(ThreadPoolExecutor::fixed(4));
//! let booked = Arc::new(Mutex::new(Vec::new()));
//! for amount in 1..=3 {
//!     let booked = Arc::clone(&booked);
//!     accounts.execute_in("Ada", move || booked.lock().unwrap().push(amount))?;
//! }
//! accounts.close();
//! assert_eq!(*booked.lock().unwrap(), [1, 2, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Time limits.** For a wait, for a task, and for everything that a block of code starts and awaits:
//!
//! ```
//! use executor::{CancelToken, FutureTask, JoinError, ThreadPoolExecutor, prelude::*};
//! use std::time::{Duration, Instant};
//!
//! let (limit, hour) = (Duration::from_millis(20), Duration::from_secs(3600));
//! let pool = ThreadPoolExecutor::fixed(2);
//! let slow = pool.submit_cancellable(move |token| token.sleep(hour))?;
//! match slow.join_timeout(limit) {
//!     Err(JoinError::TimedOut(slow)) => _ = slow.cancel(), // the handle comes back, and the task ran on
//!     other => panic!("{other:?}"),
//! }
//!
//! let slow = FutureTask::cancellable(move |token| token.sleep(hour)).timeout(limit);
//! let slow = pool.submit(slow)?; // on any executor; the limit also acts in the queue
//! assert!(matches!(slow.join(), Err(JoinError::Cancelled(_))));
//!
//! let began = Instant::now();
//! let ended = CancelToken::current().with_timeout(limit).attach(|| {
//!     pool.scope(|scope| scope.spawn(|| _ = CancelToken::current().sleep(hour)))
//! });
//! assert!(began.elapsed() < hour); // an error if the closure had not begun by then
//! # drop(ended);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **From async code.** A handle is a future, for any runtime. If the future is dropped, the task continues;
//! after a call of [`cancel_on_drop`](TaskHandle::cancel_on_drop), dropping the future cancels the task. A
//! thread without a runtime calls [`block_on`], which returns early if the task of that thread is cancelled.
//!
//! ```
//! use executor::{ThreadPoolExecutor, block_on, prelude::*};
//!
//! async fn hash(pool: &ThreadPoolExecutor) -> Result<u64, Box<dyn std::error::Error>> {
//!     Ok(pool.submit(|| (1..=20).product())?.cancel_on_drop().await?)
//! }
//!
//! let pool = ThreadPoolExecutor::fixed(1);
//! assert_eq!(block_on(hash(&pool))??, 2_432_902_008_176_640_000); // a runtime would await it
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Errors.** One `match` distinguishes all outcomes of a task:
//!
//! ```
//! use executor::{JoinError, ThreadPoolExecutor, prelude::*};
//!
//! let pool = ThreadPoolExecutor::fixed(1);
//! let said = |text: &'static str| match pool.submit(move || text.parse::<u32>()) {
//!     Err(refused) => format!("refused: {refused}"), // the error has the task in it
//!     Ok(handle) => match handle.join() {
//!         Ok(Ok(number)) => format!("{number}"),
//!         Ok(Err(own)) => format!("the task's own error: {own}"),
//!         Err(JoinError::Panicked(panic)) => format!("panicked: {}", panic.message()),
//!         Err(JoinError::Cancelled(cancelled)) => format!("{cancelled}"), // says by whom
//!         Err(JoinError::Starved(_handle, starvation)) => format!("{starvation}"), // who waits for whom
//!         Err(other) => format!("{other}"), // the waiter itself was cancelled
//!     },
//! };
//! assert_eq!(said("7"), "7");
//! assert_eq!(said("x"), "the task's own error: invalid digit found in string");
//! pool.close();
//! assert!(said("7").starts_with("refused"));
//! ```
//!
//! **Tests.** A [`ManualExecutor`] runs a task when the test asks for it, on the thread of the test:
//!
//! ```
//! use executor::{ManualExecutor, prelude::*};
//! use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
//!
//! let executor = ManualExecutor::new();
//! let saved = Arc::new(AtomicBool::new(false));
//! let by_task = Arc::clone(&saved);
//! executor.execute(move || by_task.store(true, Ordering::Relaxed))?;
//! assert!(!saved.load(Ordering::Relaxed)); // between submission and run: the moment that is hard to test
//! executor.run_all();
//! assert!(saved.load(Ordering::Relaxed));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A lock across a join
//!
//! In this example, an outer parallel loop locks a mutex, and runs an inner parallel loop while the mutex is
//! locked. In some pools, a waiting thread runs any job. In such a pool, a thread that holds the lock for one
//! outer piece can begin another outer piece, which waits for the same lock. With this library the code
//! always ends:
//!
//! ```
//! use executor::fork_join::{ForkJoinPool, par_for_each};
//! use std::sync::Mutex;
//!
//! let (pool, sum) = (ForkJoinPool::new(4)?, Mutex::new(0));
//! pool.invoke(|| {
//!     par_for_each(0..100, |_| {
//!         let mut sum = sum.lock().unwrap();
//!         par_for_each(0..16, |_| std::hint::black_box(()));
//!         *sum += 1;
//!     });
//! })?;
//! assert_eq!(sum.into_inner()?, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This guarantee holds for [`join`](fork_join::join), for [`scope`](ExecutorExt::scope) on each executor,
//! for the loops of [`fork_join`], and for the join of a handle. Two calls do not give this guarantee, and
//! their documentation says so: [`OnStarvation::HelpOthers`], and
//! [`await_quiescence`](fork_join::ForkJoinPool::await_quiescence) in a task. The pieces must not take the
//! lock themselves: another thread may run them while the lock is held.
//!
//! # For those who come from Java
//!
//! | `java.util.concurrent` | here |
//! |---|---|
//! | `Executor`, `ExecutorService` | [`Executor`] with [`ExecutorExt`], [`ExecutorService`] |
//! | `Runnable`, `Callable` | a closure, or a [`Task`] |
//! | `Future`, `FutureTask` | [`TaskHandle`], [`FutureTask`] |
//! | `CompletableFuture.complete`, `completeExceptionally` | [`Promise::complete`], [`Promise::panic_with`] |
//! | `CompletableFuture.thenApply`, `thenCompose`, `exceptionally`, `allOf`, `anyOf` | no chains: await handles in an `async` block, or use [`invoke_all`](ExecutorExt::invoke_all), [`invoke_any`](ExecutorExt::invoke_any), [`on_done`](TaskHandle::on_done) |
//! | `CompletableFuture.delayedExecutor` | [`ScheduledThreadPoolExecutor::delayed`] |
//! | `CompletableFuture.orTimeout`, `completeOnTimeout` | [`FutureTask::timeout`], [`submit_with_timeout_or`](ScheduledThreadPoolExecutor::submit_with_timeout_or) |
//! | `Future.cancel(true)`, `cancel(false)` | [`TaskHandle::cancel`], [`TaskHandle::cancel_keep_running`] |
//! | `ExecutionException`, `CancellationException`, `TimeoutException`, `InterruptedException` | the variants of [`JoinError`] |
//! | `RejectedExecutionException` | [`RejectedExecution`], [`RejectedSubmission`], which hand the task back |
//! | `Thread.interrupt`, `Thread.interrupted` | [`CancelToken::cancel`], [`CancelToken::check`] |
//! | `invokeAll`, `invokeAny` | [`ExecutorExt::invoke_all`], [`invoke_all_timeout`](ExecutorExt::invoke_all_timeout), [`invoke_any`](ExecutorExt::invoke_any), [`invoke_any_timeout`](ExecutorExt::invoke_any_timeout) |
//! | `ExecutorCompletionService` | [`ExecutorCompletionService`] |
//! | overriding `AbstractExecutorService.newTaskFor` | [`CancellableTask`], [`CancellingExecutor`] |
//! | overriding `Thread.interrupt` to close a socket | [`CancelToken::on_cancel`], [`CancellableStream`] |
//! | `ThreadPoolExecutor`'s constructors | [`ThreadPoolExecutor::builder`] |
//! | `Executors.newFixedThreadPool`, `newCachedThreadPool`, `newSingleThreadExecutor` | [`ThreadPoolExecutor::fixed`], [`ThreadPoolExecutor::cached`], [`ThreadPoolExecutor::single`] |
//! | `LinkedBlockingQueue`, `ArrayBlockingQueue`, `SynchronousQueue`, `PriorityBlockingQueue` | [`FifoQueue`], [`HandOffQueue`], [`PriorityQueue`] |
//! | `BlockingQueue` between threads: `put`, `take`, `offer`, `poll` | `channel::bounded`, with `SenderExt` and `ReceiverExt` (feature `channel`) |
//! | `AbortPolicy`, `CallerRunsPolicy`, `DiscardPolicy`, `DiscardOldestPolicy` | [`Abort`], [`CallerRuns`], [`Discard`], [`DiscardOldest`], and [`Block`] |
//! | a pool whose tasks wait for each other: it hangs; `ForkJoinPool`, which compensates | [`JoinError::Starved`], [`OnStarvation`] |
//! | `ThreadFactory`, `UncaughtExceptionHandler` | [`ThreadFactory`], [`panics::PanicHandler`] |
//! | `beforeExecute`, `afterExecute`, `terminated` | [`Hooks`] |
//! | `Executors.unconfigurableExecutorService` | [`UnconfigurablePool`] |
//! | `Runtime.addShutdownHook` | `shutdown_hooks::ShutdownHooks` |
//! | `ScheduledThreadPoolExecutor`, `Timer` | [`ScheduledThreadPoolExecutor`] |
//! | `ScheduledFuture` of a periodic task | [`Series`] |
//! | `ForkJoinPool`, `commonPool`, `asyncMode` | [`fork_join::ForkJoinPool`], [`common`](fork_join::ForkJoinPool::common), [`oldest_first`](fork_join::ForkJoinBuilder::oldest_first) |
//! | `RecursiveTask`, `RecursiveAction`, `CountedCompleter` | [`fork_join::join`], [`fork_join::fork()`], [`fork_join::RecursiveTask`] |
//! | `ForkJoinPool.managedBlock` | [`fork_join::blocking()`] |
//! | `Arrays.parallelSort`, `parallelSetAll`, parallel streams | [`fork_join::par_sort_unstable`], [`par_for_each`](fork_join::par_for_each), [`par_map`](fork_join::par_map), [`par_map_reduce`](fork_join::par_map_reduce) |
//! | `StructuredTaskScope` | [`scope`](ExecutorExt::scope), which returns no results: its tasks borrow the variables for the results |
//! | `Executors.newVirtualThreadPerTaskExecutor` | no virtual threads: [`cached`](ThreadPoolExecutor::cached) or [`ThreadPerTaskExecutor`] for hundreds of blocked tasks, an async runtime for many thousands |
//! | the listings `BoundedExecutor`, `SerialExecutor` and `TrackingExecutor` | [`BoundedExecutor`], [`SerialExecutor`], [`TrackingExecutor`] |
//! | `getCompletedTaskCount`, `getActiveCount`, Micrometer's `ExecutorServiceMetrics` | [`PoolStats`], [`TaskMetrics`], [`PrometheusText`] |
//! | `jstack`, `ThreadMXBean`, a thread dump at SIGQUIT | [`dump`](dump()), `dump_at_sigquit` (feature `signals`) |
//! | nothing that keeps the order of each key | [`StripedExecutor`] |
//! | `CountDownLatch`, `CyclicBarrier`, `Semaphore` | [`Latch`], [`Barrier`], [`Semaphore`] |
//! | `ScopedValue`, `InheritableThreadLocal` | not here: a closure captures the value |
//! | `ReentrantLock`, atomics, `ConcurrentHashMap`, `Exchanger`, `Flow` | not here: `std` or a library for them |
//!
//! # Features
//!
//! No feature is on by default.
//!
//! * `channel`: the module `channel`, with cancellable waits for the channels of `crossbeam-channel`, and
//!   `CancelToken::channel` for `select!`.
//! * `serde`: [`PoolStats`], [`PoolSnapshot`] and the parts of a [`Starvation`] can be serialised.
//! * `metrics`: `MetricsFacade`, which passes the numbers of a pool to the crate `metrics`.
//! * `processes`: `CancellableChild`, on Unix.
//! * `processor-time`: `WaitCompute`, which measures how long tasks wait and how long they compute.
//! * `sockets`: `CancellableStream::connect`, and on Unix `CancellableListener`.
//! * `signals`: the module `shutdown_hooks`, with hooks that run before the process ends, even at a signal.
//!   On Unix, the feature also adds `dump_at_sigquit`, which shows what all pools do when the process gets
//!   SIGQUIT.
//! * `timer-slack`, on Linux: the thread that watches the time for a [`ScheduledThreadPoolExecutor`] wakes up
//!   only one or two microseconds late; without this feature, it wakes up about fifty microseconds late.
//! * `tracing`: [`NamedThreads`] reports when its threads begin and end, and a pool reports when its tasks
//!   starve each other.
//!
//! # Limits
//!
//! The library compiles with Rust 1.88, on Linux, macOS and Windows. Some features need Unix, and their items
//! say so. The tests of the library run on Linux.
//!
//! Cancellation is co-operative. A cancelled task runs to its end if it does not look at its token and does not
//! block in this crate. Panics are caught by unwinding, so `panic = "abort"` is not supported.
//!
//! The library uses a bounded part of a thread's stack, even for long chains of tasks and callbacks:
//!
//! | what | how deep |
//! |---|---|
//! | [callbacks](TaskHandle::on_done), users' wakers, and the `Drop` of values that tasks have captured or returned | 32 inside each other, and 32 more that run while those block |
//! | tasks that a waiting thread of a pool runs itself | as deep as the [setting](OnStarvation::Help) of the pool allows |
//! | tasks that a waiting worker of a [`ForkJoinPool`](fork_join::ForkJoinPool) runs itself | [half of its stack](fork_join::fork()), and 32 more |
//! | trees of tokens, strands of tasks | no stack |
//!
//! These bounds do not hold for recursive user code: a function that calls a [scope](ExecutorExt::scope) or a
//! [join](fork_join::join) whose closure calls the function again, a task that submits to the
//! [`DirectExecutor`] that runs it, or a value that holds a value of its own type.
//!
//! The module [`guide`] explains the source to its readers.
#![warn(missing_docs)]
// On docs.rs, the page of each item says which feature the item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "loom", feature = "shuttle"))))]
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
pub use task::{IntoTask, Outcome, Task, TaskState};

mod waiting;
#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub use waiting::channel;
pub use waiting::{
    Barrier, BarrierError, CutShort, Latch, OnStarvation, OwnedPermit, Permit, RejectReason, Semaphore,
    Starvation, StarvedWait, TaskRef, WaitError, WaitsFor, block_on,
};

mod wait_graph;

mod handle;
pub use handle::{
    CancelOnDrop, Canceller, FutureTask, IntoFutureTask, JoinError, Promise, SharedHandle, SharedJoinError,
    TaskError, TaskHandle, TryJoinError,
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
#[cfg(feature = "metrics")]
pub use thread_pool::MetricsFacade;
#[cfg(feature = "processor-time")]
pub use thread_pool::WaitCompute;
pub use thread_pool::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, DropPolicy, FifoQueue, HandOffQueue, Hooks, LifoQueue,
    LongTask, NamedThreads, PoolConfigError, PoolSnapshot, PoolStats, PriorityQueue, PrometheusText,
    RefusingPool, RejectionHandler, Stopper, TaskInfo, TaskMetrics, ThreadFactory, ThreadPoolBuilder,
    ThreadPoolExecutor, TimeHistogram, Timing, UnconfigurablePool, WorkQueue, Worker, recommended_threads,
};

mod composed;
pub use composed::{
    BoundedExecutor, BoundedStats, CancellableTask, CancellingExecutor, CutOff, CutOffHow, Identity,
    Impatient, ManualExecutor, NotTerminated, SerialExecutor, Stripe, StripeStats, StripedExecutor,
    StripedStats, Tagged, TrackingExecutor, TrackingStats,
};

mod scheduled;
pub use scheduled::{
    AfterPanic, DelayedExecutor, MissedTicks, RejectedSeries, ScheduledPoolBuilder, ScheduledStats,
    ScheduledThreadPoolExecutor, Series, SeriesBuilder, SeriesEnd,
};

pub mod fork_join;

mod dump;
pub use dump::{Dump, dump};

// Calls on sockets and processes block in the system, where no model checker can control them.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod system;
#[cfg(all(unix, feature = "processes"))]
pub use system::CancellableChild;
#[cfg(all(unix, feature = "sockets"))]
pub use system::CancellableListener;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use system::CancellableStream;
#[cfg(all(unix, feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub use system::dump_at_sigquit;
#[cfg(all(feature = "signals", not(any(feature = "loom", feature = "shuttle"))))]
pub use system::shutdown_hooks;

pub mod guide;

/// The traits whose methods callers use on executors, to be imported together: `use executor::prelude::*`.
pub mod prelude {
    pub use crate::{Executor as _, ExecutorExt as _, ExecutorService as _};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
