//! A pool of worker threads that take tasks from a queue.
//!
//! Starting a thread for each task costs time, and having as many threads as there happen to be tasks costs memory and,
//! in the end, the process. A pool starts a chosen number of threads once and lets tasks wait their turn.
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
//! The files stand in bottom-up order: each imports only from those above it. Each keeps to one subject, and has the
//! methods of [`ThreadPoolExecutor`] that belong to it. Two call methods of files further down: the setters in `settings`,
//! which reach all that relies on a setting, and a worker that unwinds, which has `growth` start another.
//!
//! | file | what is in it |
//! |---|---|
//! | `hooks` | what is called around tasks |
//! | `factory` | where threads come from |
//! | `rejection` | what happens to a task for which there is no room |
//! | `settings` | what contradicts what, and how settings change while the pool runs |
//! | `batch` | tasks that workers claim one at a time, without the lock, and the worker slots in which they note it |
//! | `state` | everything that changes together, behind one lock; the phases of a pool |
//! | `inbox` | the short way in, while there is nothing to decide |
//! | `shared` | what the pool and its workers have in common; where panics of user code stop |
//! | `room` | how a submitter waits for room |
//! | `cancelled` | tasks that are cancelled while they wait |
//! | `stats` | the pool seen from outside |
//! | `ending` | the way out: shutting down, and the last moment |
//! | `stopper` | stopping a pool that one does not own |
//! | `worker` | what a worker thread does, how it is woken, and how it leaves |
//! | `growth` | how workers come, and what happens if they do not |
//! | `starving` | workers whose tasks wait for each other |
//! | `admission` | the way in: a task gets a thread or a place in the queue, or is refused |
//! | `builder` | the knobs and how they interact: [`ThreadPoolBuilder`] |
//! | `unconfigurable` | the pool without its knobs |
//!
//! # The life of a pool
//!
//! A pool is running until it is shut down. Then it runs what it has (shutting down) or only what has begun (stopping), and
//! when its last worker has left, it is over. `state` draws it.
//!
//! A worker takes the next task, runs it, takes the next … and sleeps while there is none. It leaves when it has slept
//! for the keep-alive time and the pool can spare it, when there are more workers than the maximum, when the pool is
//! shutting down and the queue is empty, or when the pool is stopping. The last one to leave ends the pool.
//!
//! # The fast path
//!
//! While no worker has to be woken, submitters do not need the state: they leave their tasks in the `inbox`. While there
//! are tasks in the `batch`, workers do not need it either: each claims one by an addition to a counter, and counts in its
//! own worker slot what it has begun and completed. So a busy pool takes one lock for each submission, which only submitters
//! and the one worker that makes the next batch of the inbox ask for, and none for each task begun. Only a pool with a
//! [`FifoQueue`](crate::FifoQueue) has a fast path; the order of the others is decided when a task is taken.
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
//! 1. Everything that changes together is in `PoolData`, behind one lock. The inbox, the claims and the worker slots are
//!    apart; a thread that wants to see all of it at one moment holds the inbox and freezes the batch, too.
//! 2. A task that waits in the queue, the inbox or the batch implies a live worker, so nothing is stranded. (`admission`,
//!    `worker`)
//! 3. Such a task and a sleeping worker imply a worker that is searching, or one that will look before it sleeps.
//!    (`inbox`, `worker`)
//! 4. Once the phase has left `Running`, nothing enters the queue, the inbox or the batch. (`ending`)
//! 5. No user code (a task, hook, factory, handler or callback, or the `Drop` of any) runs while the state is locked. The
//!    exceptions by name are a comparator and a user's own queue.
//! 6. A worker never ends because of a task: [`Task::run`](crate::Task::run) lets no panic out.

mod queue;
pub use queue::{FifoQueue, HandOffQueue, LifoQueue, WorkQueue};

mod priority_queue;
pub use priority_queue::PriorityQueue;

mod hooks;
mod factory;
mod rejection;
mod settings;
mod batch;
mod state;
mod inbox;
mod shared;
mod room;
mod cancelled;
mod stats;
mod ending;
mod stopper;
mod worker;
mod growth;
mod starving;
mod admission;
mod builder;
mod unconfigurable;

mod timing;
pub use timing::Timing;

// Real time on real cores; under a model there is neither.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod sizing;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use sizing::{WaitCompute, recommended_threads};

pub use builder::ThreadPoolBuilder;
pub use ending::DropPolicy;
pub use factory::{NamedThreads, ThreadFactory, Worker};
pub use hooks::{Hooks, TaskInfo};
pub use rejection::{Abort, Block, CallerRuns, Discard, DiscardOldest, RefusingPool, RejectionHandler};
pub use settings::PoolConfigError;
pub use stats::{PoolSnapshot, PoolStats};
pub use stopper::Stopper;
pub use unconfigurable::UnconfigurablePool;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::sync::Arc;
use shared::PoolShared;

/// An executor with threads of its own and a queue.
///
/// [`builder`](Self::builder) has all the knobs; [`fixed`](Self::fixed), [`cached`](Self::cached) and
/// [`single`](Self::single) are the usual settings. Threads start as tasks arrive. A panic in a task costs no thread.
///
/// # What bounds it
///
/// Every submission takes the lock of the inbox, and every claim adds to the counter of the batch. Both are short, and
/// both are the pool's, not a processor's: with more threads they do not become faster. On a machine with two cores, one
/// thread alone submitted a task in 23 ns, and a worker alone took and ended an empty one in 31. Two submitters beside
/// each other took 74 ns for each task, and two workers 47, most of it for the cache line that both of them write. From
/// that follows, by Amdahl's law, that no number of processors submits more than some 14 million tasks a second to one
/// pool, or takes more than some 21 million out of it (`cargo run --release --bin pools -- gate` in `bench/` measures it
/// on yours).
///
/// So one pool keeps at most some 14 processors busy with tasks of a microsecond, and some 140 with tasks of ten. A program
/// that comes near that has two ways out:
///
/// * **Bigger tasks.** A task that sees to a hundred items costs the pool a hundredth for each. It is also the first thing to
///   do for tasks that are shorter than half a microsecond, with any number of processors: to hand one over and to take it
///   costs some 60 ns of processor time.
/// * **Several pools**, each with a share of the processors and of the submitters. Each has its own lock and its own counter.
///   The order of submission is then kept within each pool, and a thread that has nothing to do in one does not help another.
///
/// More submitters or more workers than processors are no way out: they only wait for the same lock.
///
/// # Sharing and dropping
///
/// A pool is not `Clone`; share it in an [`Arc`](std::sync::Arc). Unless its builder was given another
/// [`DropPolicy`], dropping it is [`close`](crate::ExecutorService::close) without a way to cut it short: it accepts
/// nothing more and **blocks until every accepted task is done**. Two exceptions avoid a deadlock and a lost panic: dropped
/// by one of its own tasks, or while the thread unwinds, it shuts down and does not wait.
pub struct ThreadPoolExecutor {
    shared: Arc<PoolShared>,
    on_drop: DropPolicy,
}

impl ThreadPoolExecutor {
    /// Starts to put a pool together.
    pub fn builder() -> ThreadPoolBuilder {
        ThreadPoolBuilder::new()
    }

    /// Makes a pool of `threads` threads with a queue **without a bound**: if tasks keep coming faster than they are
    /// done, the queue grows until memory is gone.
    ///
    /// No thread exists before the first task. Each of the first `threads` tasks starts one, even if others are idle. If
    /// the system gives no thread, the pool carries on with those it has and tries again with a later task: after a
    /// millisecond, and after each further failure twice as long, up to a second. Only without a single thread is the task
    /// refused.
    ///
    /// # Panics
    /// If `threads` is zero.
    #[doc(alias = "newFixedThreadPool")]
    pub fn fixed(threads: usize) -> Self {
        assert!(threads > 0, "a pool of zero threads would accept tasks and never run them");
        Self::builder().threads(threads).build().expect("one size, at least one")
    }

    /// Makes a pool **without a bound on its threads**: a task that finds no idle thread gets a new one, and a thread
    /// that was idle for 60 s ends.
    ///
    /// For many short tasks that come in bursts. Under a load that it cannot keep up with it starts threads until the
    /// system refuses.
    #[doc(alias = "newCachedThreadPool")]
    pub fn cached() -> Self {
        let cached = Self::builder().core_threads(0).maximum_threads(usize::MAX).queue(HandOffQueue::new());
        cached.build().expect("a hand-off lets the pool grow")
    }

    /// Makes a pool of one thread: tasks run one at a time, in the order in which they were submitted, and each sees
    /// what those before it did. The queue has no bound, as for [`fixed`](Self::fixed). Nobody can add a thread later.
    ///
    /// A task that panics takes neither the thread nor the order with it.
    ///
    /// For one with hooks, a name or a thread factory, build it and hide its knobs:
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

// The users' hooks, handlers and factories are called behind a border of our own at which panics stop, so a panic leaves
// nothing of the pool in pieces that another could see.
impl UnwindSafe for ThreadPoolExecutor {}
impl RefUnwindSafe for ThreadPoolExecutor {}

impl fmt::Debug for ThreadPoolExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stats(), f)
    }
}
