//! A pool of worker threads that take tasks from a queue.
//!
//! A new thread for each task takes time and memory, and with too many threads the process fails. A pool
//! starts a chosen number of threads, and each of these threads runs many tasks. The tasks of a pool wait
//! until a thread is free.
//!
//! ```
//! use executor::{ThreadPoolExecutor, prelude::*};
//!
//! let pool = ThreadPoolExecutor::fixed(4);
//! let squares: Vec<_> = (1..=3).map(|n| pool.submit(move || n * n)).collect::<Result<_, _>>()?;
//! let sum: i32 = squares.into_iter().map(|square| square.join().unwrap()).sum();
//! assert_eq!(sum, 14);
//! pool.close();
//! # Ok::<(), executor::RejectedSubmission<i32>>(())
//! ```
//!
//! # In this folder
//!
//! The list of modules below says what each file is about. Each file imports only from the files above it,
//! and contains the methods of [`ThreadPoolExecutor`] that concern the subject of the file. Three files call
//! methods of files further down in the list: `settings` and `worker` make `growth` start workers, and
//! `worker` and `growth` tell `starving` that a worker has left or does not start.
//!
//! # The life of a pool
//!
//! A pool is running until it is shut down. After a shutdown, a pool either still runs all accepted tasks
//! (shutting down), or runs no further task and lets the running tasks end (stopping). When the last worker
//! of a pool has left, the pool is terminated (see `state`).
//!
//! A worker takes a task, runs it, takes the next task, and sleeps while there is no task. A worker leaves in
//! four cases: it has slept for the keep-alive time and the pool can spare it; the pool has more workers than
//! the maximum; the pool is shutting down and no task waits; the pool is stopping. After a shutdown, the last
//! worker to leave ends the pool.
//!
//! # The fast path
//!
//! The state has one lock. If a busy pool had only the lock of the state, all threads would contend for it.
//! So while submitters need not wake a worker, they only leave their tasks in the `inbox`. While there are
//! tasks in the `batch`, a worker claims a task by an addition to a counter. In its own worker slot, the
//! worker counts the tasks that it has begun and completed. So in a busy pool, a submission takes only the
//! lock of the inbox, and a worker begins a task without a lock. Only submitters and the worker that makes
//! the next batch take the lock of the inbox. Only a pool with a [`FifoQueue`] has a fast
//! path: any other queue chooses the next task at the moment when a worker takes a task.
//!
//! ```text
//!                                      ┌──▶ worker ─┐  claims, begins, counts in its worker slot
//!   submitter ──▶ inbox ─────▶ batch ──┼──▶ worker ─┤
//!       │                       ▲      └──▶ worker ─┘  finds nothing: looks at the state
//!       └─(something to decide)─┴─ state ◀────────────┘
//! ```
//!
//! # Invariants
//!
//! 1. Fields that change together are in `PoolData`, the state, behind one lock. The inbox, the claims and
//!    the worker slots change without the lock of the state. A thread that must see everything at one moment
//!    also locks the inbox and freezes the batch.
//! 2. While a task waits in queue, inbox or batch, there is a live worker. (`admission`, `worker`)
//! 3. While a task waits in queue, inbox or batch and a worker sleeps, another worker searches for a task or
//!    will search. (`inbox`, `worker`)
//! 4. Once the phase has left `Running`, nothing enters the queue, the inbox or the batch. (`ending`)
//! 5. While the state is locked, no user code runs: no task, hook, factory, handler or callback, and no
//!    `Drop` of one of these. There are two exceptions: a comparator, and a user's own queue.
//! 6. No task ends a worker: [`Task::run`](crate::Task::run) catches every panic.

mod queue;
pub use queue::{FifoQueue, HandOffQueue, LifoQueue, WorkQueue};

mod priority_queue;
pub use priority_queue::PriorityQueue;

mod hooks; // hooks that the pool calls around tasks
mod factory; // where threads come from
mod rejection; // what happens to a task for which there is no room
mod settings; // which settings contradict each other, and how they change while the pool runs
mod batch; // tasks that workers claim one at a time without the lock; the workers' notes about their claims
mod failures; // the counts of tasks that were refused or cancelled, or have panicked
mod state; // all fields that change together, behind one lock; the phases of a pool
mod watchdog; // what the handler of long tasks is told
mod inbox; // where submitters leave tasks while the pool has nothing to decide
mod shared; // what the pool and its workers have in common; where panics of user code stop
mod room; // how a submitter waits for room
mod running; // what runs now, for a dump and for the watchdog
mod cancelled; // tasks that are cancelled while they wait
mod stats; // the numbers of a pool, and the list of its tasks
mod ending; // how a pool is shut down, and how it ends
mod stopper; // how code stops a pool that it does not own
mod worker; // what a worker thread does, how it is woken, and how it leaves
mod growth; // how workers are started, and what happens if a start fails
mod starving; // workers whose tasks wait for each other
mod admission; // how a task gets a thread or a place in the queue, or is refused
mod builder; // the settings and how they interact
mod unconfigurable; // a pool whose settings cannot be changed
mod timing; // hooks that measure how long tasks take

mod metrics; // the numbers of pools for a monitoring system
#[cfg(feature = "metrics")]
pub use metrics::MetricsFacade;
pub use metrics::{PrometheusText, TaskMetrics, TimeHistogram};

mod sizing; // how many threads a pool should have
pub use sizing::recommended_threads;

// Hooks that measure how long tasks wait and compute, for `sizing`.
#[cfg(feature = "processor-time")]
mod wait_compute;
#[cfg(feature = "processor-time")]
pub use wait_compute::WaitCompute;

pub use builder::ThreadPoolBuilder;
pub use ending::DropPolicy;
pub use factory::{NamedThreads, ThreadFactory, Worker};
pub use hooks::{Hooks, TaskInfo};
pub use rejection::{Abort, Block, CallerRuns, Discard, DiscardOldest, RefusingPool, RejectionHandler};
pub use settings::PoolConfigError;
pub use stats::{PoolSnapshot, PoolStats};
pub use stopper::Stopper;
pub use timing::Timing;
pub use unconfigurable::UnconfigurablePool;
pub use watchdog::LongTask;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::sync::Arc;
use shared::PoolShared;

/// An executor that has its own threads and a queue.
///
/// [`builder`](Self::builder) has all settings; [`fixed`](Self::fixed), [`cached`](Self::cached) and
/// [`single`](Self::single) make the usual pools. The pool starts its threads when tasks arrive. If a task
/// panics, its thread does not end.
///
/// ```
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let words = ["pool", "queue"].map(|word| pool.submit(|| word.len()));
/// let [a, b] = words.map(|length| length.unwrap().join().unwrap());
/// assert_eq!(a + b, 9);
/// pool.close();
/// ```
///
/// # What bounds it
///
/// Every submission takes the lock of the inbox, and every claim adds to the counter of the batch. One use of
/// the lock or the counter takes little time. But only one thread at a time can use the lock or the counter,
/// so more threads do not make the pool faster. On a machine with two cores, one thread alone submitted a
/// task in 23 ns, and a worker alone took and ran an empty task in 31 ns. Two submitters at once took 74 ns
/// for each task, and two workers took 47 ns. With two threads, most of the time was spent on the cache line
/// that both threads write. So, by Amdahl's law, one pool can accept at most some 14 million tasks a second
/// and run at most some 21 million, with any number of processors. `cargo run --release --bin pools -- gate`
/// in `bench/` measures these limits on your machine.
///
/// So one pool keeps at most some 14 processors busy with tasks of 1 µs, and at most some 140 processors with
/// tasks of 10 µs. A program that comes near the limit of its pool has two ways out:
///
/// * **Bigger tasks.** If each task processes a hundred items, the pool's cost per item is a hundredth of the
///   cost per task. On any machine, if tasks take less than half a microsecond, make the tasks bigger first:
///   submitting and taking a task uses some 60 ns of processor time.
/// * **Several pools**, each with a share of the processors and of the submitters. Each pool has its own
///   lock and its own counter. The order of submission is then kept only within each pool, and an idle thread
///   of one pool does not help another pool.
///
/// More submitters or workers than processors do not help: the surplus threads only wait for the lock or the
/// counter.
///
/// # Sharing and dropping
///
/// A pool is not `Clone`; share it in an [`Arc`]. By default, dropping a pool works like
/// [`close`](crate::ExecutorService::close), but cannot be cancelled; the pool's builder can choose another
/// [`DropPolicy`]. The pool accepts no more tasks, and the thread that drops the pool **blocks until every
/// accepted task is done**. In two cases the pool shuts down, but the thread that drops the pool does not
/// wait. If one of the pool's own tasks drops the pool, the wait would be a deadlock. If an unwinding thread
/// drops the pool, a wait could hide the thread's panic.
pub struct ThreadPoolExecutor {
    shared: Arc<PoolShared>,
    on_drop: DropPolicy,
}

impl ThreadPoolExecutor {
    /// Returns a builder with the default settings.
    ///
    /// ```
    /// use executor::{FifoQueue, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(100)).build()?;
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ThreadPoolBuilder {
        ThreadPoolBuilder::new()
    }

    /// Makes a pool of `threads` threads with a queue **without a bound**: while tasks arrive faster than the
    /// threads complete them, the queue grows until the memory is used up.
    ///
    /// The pool starts no thread before the first task. Each of the first `threads` tasks starts a thread,
    /// even if other threads are idle. If the system refuses to start a thread, the pool goes on with the
    /// threads that it has, and tries again later: see [`ThreadFactory`]. The task is refused only if the
    /// pool has no thread at all.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let handles: Vec<_> = (0..10).map(|n| pool.submit(move || n)).collect::<Result<_, _>>()?;
    /// assert!(pool.stats().threads <= 2);
    /// # drop(handles);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `threads` is zero.
    #[doc(alias = "newFixedThreadPool")]
    pub fn fixed(threads: usize) -> Self {
        assert!(threads > 0, "a pool of zero threads would accept tasks and never run them");
        Self::builder().threads(threads).build().expect("both sizes are equal and above zero")
    }

    /// Makes a pool **without a bound on its threads**: a task gets a new thread if no thread is idle. A
    /// thread ends when it has been idle for 60 s.
    ///
    /// Use a cached pool for many short tasks that come in bursts. If tasks arrive faster than the threads
    /// complete them, a cached pool starts threads until the system refuses to start another thread.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::cached();
    /// let all_run = Arc::new(Latch::new(3));
    /// for _ in 0..3 {
    ///     let here = Arc::clone(&all_run);
    ///     pool.execute(move || {
    ///         here.count_down();
    ///         here.wait().unwrap(); // until three tasks run at the same time
    ///     })?;
    /// }
    /// all_run.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "newCachedThreadPool")]
    pub fn cached() -> Self {
        let cached = Self::builder().core_threads(0).maximum_threads(usize::MAX).queue(HandOffQueue::new());
        cached.build().expect("a hand-off queue lets the pool grow")
    }

    /// Makes a pool of one thread: tasks run one at a time, in the order of submission, and each task sees
    /// the effects of the tasks before it. The queue has no bound, as for [`fixed`](Self::fixed). No thread
    /// can be added later.
    ///
    /// If a task panics, the same thread runs the next task in order.
    ///
    /// If a pool of one thread needs hooks, a name or a thread factory, build the pool and wrap it:
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, UnconfigurablePool, prelude::*};
    ///
    /// let single = UnconfigurablePool::new(ThreadPoolExecutor::builder().threads(1).name("journal").build()?);
    /// let name = single.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
    /// assert_eq!(name.as_deref(), Some("journal-thread-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "newSingleThreadExecutor")]
    pub fn single() -> UnconfigurablePool {
        UnconfigurablePool::new(Self::fixed(1))
    }
}

// The pool catches each panic of a user's hook, handler or factory. So a panic never leaves the pool in a
// broken state.
impl UnwindSafe for ThreadPoolExecutor {}
impl RefUnwindSafe for ThreadPoolExecutor {}

impl fmt::Debug for ThreadPoolExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stats(), f)
    }
}
