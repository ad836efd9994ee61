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
//! | file | what is in it |
//! |---|---|
//! | `builder` | the knobs and how they interact: [`ThreadPoolBuilder`] |
//! | `state` | everything that changes together, behind one lock |
//! | `shared` | what the pool and its workers have in common: the state, its condition variables, the hooks |
//! | `admission` | the way in: a task gets a thread or a place in the queue, or is refused |
//! | `inbox` | the short way in, while there is nothing to decide |
//! | `run` | tasks that workers claim one at a time, without the lock |
//! | `seat` | what a worker is doing, written by it alone |
//! | `growth` | how workers come, and what happens if they do not |
//! | `worker` | what a worker thread does, and how it leaves |
//! | `ending` | the way out: shutting down, and the last moment |
//! | `rejection` | what happens to a task for which there is no room |
//! | `factory`, `hooks` | where threads come from; what is called around tasks |
//! | `stats`, `unconfigurable` | the pool seen from outside; the pool without its knobs |
//!
//! # States
//!
//! ```text
//!  Running ──shutdown()──▶ ShuttingDown ──queue empty, last worker gone──▶ Tidying ──terminated()──▶ Terminated
//!     │                        │ shutdown_now()                             ▲
//!     └────shutdown_now()──────┴─────▶ Stopping ─────last worker gone───────┘
//! ```
//!
//! A worker takes the next task, runs it, takes the next … and sleeps while there is none. It leaves when it has slept
//! for the keep-alive time and the pool can spare it, when there are more workers than the maximum, when the pool is
//! shutting down and the queue is empty, or when the pool is stopping. The last one to leave ends the pool.
//!
//! # How a thread starts
//!
//! The thread factory is user code, so it is called without the lock. The submitter first counts the worker as
//! *starting* and puts its task aside for it (`handed`), then lets go of the lock and calls the factory. The worker's
//! first act is to count itself as *live*. If it does not come, the submitter takes its task back. Meanwhile others may
//! only rely on *live* workers: see invariant 2.
//!
//! # Waking workers
//!
//! A wake-up costs a system call, so there are as few as possible. A submitter wakes a sleeping worker only if none is
//! on its way already (`searching`); a worker that has found a task wakes the next one if there are more tasks and more
//! sleepers. So a burst of submissions costs its submitter one wake-up, and the workers wake each other. A worker with
//! nothing to do gives way a few times before it sleeps, and is the one that searches meanwhile.
//!
//! # The fast path
//!
//! While no worker has to be woken, submitters do not need the state: they leave their tasks in the `inbox`. While there
//! are tasks in the `run`, workers do not need it either: each claims one by an addition to a counter, and counts in its
//! own `seat` what it has begun and completed. So a busy pool takes one lock for each submission, which only submitters
//! and the one worker that makes the next run of the inbox ask for, and none for each task begun. Only a pool with a
//! [`FifoQueue`](crate::FifoQueue) has a fast path; the order of the others is decided when a task is taken.
//!
//! ```text
//!                                      ┌──▶ worker ─┐  claims, begins, counts in its seat
//!   submitter ──▶ inbox ─────▶ run ────┼──▶ worker ─┤
//!       │                       ▲      └──▶ worker ─┘  finds nothing: looks at the state
//!       └─(something to decide)─┴─ state ◀────────────┘
//! ```
//!
//! # Cancelled tasks in the queue
//!
//! A task that is cancelled while it waits gives up its closure at once and tells the pool. What stays in the queue, a
//! tombstone, is counted nowhere, takes no room, and is cleared out when a task wants its place or when half of the
//! queue is tombstones.
//!
//! # Invariants
//!
//! 1. Everything that changes together is in `State`, behind one lock. A worker counts itself out under the same lock
//!    under which it decides to leave. The inbox, the claims and the seats are apart; a thread that wants to see all of it
//!    at one moment locks the inbox and freezes the run, too.
//! 2. A task that waits in the queue, the inbox or the run implies a live worker, so nothing is stranded.
//! 3. Such a task and a sleeping worker imply a worker that is searching, or one that will look before it sleeps.
//! 4. Once the phase has left `Running`, nothing enters the queue, the inbox or the run.
//! 5. No user code (a task, hook, factory, handler or callback, or the `Drop` of any) runs while the state is locked. The
//!    exceptions by name are a comparator and a user's own queue.
//! 6. A worker never ends because of a task: [`Task::run`] lets no panic out.

mod admission;
mod builder;
mod ending;
mod factory;
mod growth;
mod hooks;
mod inbox;
mod rejection;
mod run;
mod seat;
mod shared;
mod state;
mod stats;
mod unconfigurable;
mod worker;

pub use builder::{DropPolicy, PoolConfigError, ThreadPoolBuilder};
pub use factory::{NamedThreads, ThreadFactory, Worker};
pub use hooks::{Hooks, TaskInfo};
pub use rejection::{Abort, Block, CallerRuns, Discard, DiscardOldest, RefusingPool, RejectionHandler};
pub use stats::{PoolSnapshot, PoolState, PoolStats};
pub use unconfigurable::UnconfigurablePool;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::cancel::{CancelToken, masked};
use crate::error::Cancelled;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::latch::Latch;
use crate::panics::{PanicHandler, discard};
use crate::queue::{HandOffQueue, WorkQueue};
use crate::sync::{Arc, Condvar, Duration, Mutex, thread};
use crate::task::{Task, TaskId, Watch};
use inbox::Inbox;
use shared::Shared;
use state::{Rest, Settings, State};

/// An executor with threads of its own and a queue.
///
/// [`builder`](Self::builder) has all the knobs; [`fixed`](Self::fixed), [`cached`](Self::cached) and
/// [`single`](Self::single) are the usual settings. Threads start as tasks arrive. A panic in a task costs no thread.
///
/// # Sharing and dropping
///
/// A pool is not `Clone`; share it in an [`Arc`](std::sync::Arc). Unless its builder was given another
/// [`DropPolicy`], dropping it is [`close`](ExecutorService::close) without a way to cut it short: it accepts nothing more
/// and **blocks until every accepted task is done**. Two exceptions avoid a deadlock and a lost panic: dropped by one of
/// its own tasks, or while the thread unwinds, it shuts down and does not wait.
pub struct ThreadPoolExecutor {
    shared: Arc<Shared>,
    /// Whether the pool can have more than its core threads: fixed by its queue.
    grows: bool,
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

    fn new(
        queue: Box<dyn WorkQueue>,
        settings: Settings,
        grows: bool,
        threads_first: bool,
        hooks: Option<Box<dyn Hooks>>,
        panic_handler: Option<Arc<dyn PanicHandler>>,
        on_drop: DropPolicy,
    ) -> Self {
        let mut state = State::new(queue, settings);
        let claims = state.queue.as_fifo().is_some();
        let shared = Arc::new_cyclic(|me| Shared {
            apart: Arc::clone(&state.apart),
            claims,
            state: Mutex::new(state),
            inbox: Inbox::new(),
            work: Condvar::new(),
            started: Condvar::new(),
            terminated: Latch::new(1),
            root: CancelToken::new(),
            hooks,
            panic_handler,
            threads_first,
            watch: Watch::new(me),
            me: me.clone(),
        });
        Self { shared, grows, on_drop }
    }

    // ----- looking in -----

    /// What the pool is doing, in numbers: one consistent look.
    pub fn stats(&self) -> PoolStats {
        self.shared.stats()
    }

    /// What the pool is doing, task by task. Takes time in proportion to the length of the queue.
    pub fn snapshot(&self) -> PoolSnapshot {
        self.shared.snapshot()
    }

    /// How many tasks wait for a thread. Tasks that were cancelled while they waited do not count.
    #[doc(alias = "getQueue")]
    pub fn queued(&self) -> usize {
        self.shared.queued()
    }

    /// Takes a waiting task out of the queue. `None` if it is not there: it runs, has ended, was cancelled, or was never
    /// submitted here. The task can still be run; dropping it cancels its handle.
    pub fn remove(&self, id: TaskId) -> Option<Task> {
        self.shared.remove(id)
    }

    /// Clears out at once what is left of tasks that were cancelled while they waited. The pool does that by itself
    /// sooner or later, and no count includes them; this frees the memory now.
    pub fn purge(&self) {
        self.shared.purge();
    }

    // ----- changing settings -----

    /// Up to how many threads the pool starts whether or not there is room in the queue: its core size.
    #[doc(alias = "getCorePoolSize")]
    pub fn core_threads(&self) -> usize {
        self.shared.state.lock().settings.core
    }

    /// Changes the core size. Idle threads above a lower one end after the keep-alive time; for a higher one, threads
    /// start for the tasks that wait.
    ///
    /// # Errors
    /// [`PoolConfigError`] if the new size contradicts the other settings; then nothing is changed. If the queue has no
    /// bound, core and maximum size have to be equal, and [`set_threads`](Self::set_threads) changes them together.
    #[doc(alias = "setCorePoolSize")]
    pub fn set_core_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.core = threads)?;
        self.start_threads_for_what_waits();
        Ok(())
    }

    /// How many threads the pool may have: its maximum size.
    #[doc(alias = "getMaximumPoolSize")]
    pub fn maximum_threads(&self) -> usize {
        self.shared.state.lock().settings.maximum
    }

    /// Changes the maximum size. Threads above a lower one end as soon as they have finished their task.
    ///
    /// # Errors
    /// [`PoolConfigError`] if the new size contradicts the other settings; then nothing is changed.
    #[doc(alias = "setMaximumPoolSize")]
    pub fn set_maximum_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.maximum = threads)
    }

    /// Changes core and maximum size to the same number, as [`ThreadPoolBuilder::threads`] sets them. This is how a
    /// [`fixed`](Self::fixed) pool is resized. Threads above a lower number end as soon as they have finished their task;
    /// for a higher one, threads start for the tasks that wait.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// pool.set_threads(8)?;
    /// assert_eq!((pool.core_threads(), pool.maximum_threads()), (8, 8));
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroThreads`] if it is zero.
    pub fn set_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| (settings.core, settings.maximum) = (threads, threads))?;
        self.start_threads_for_what_waits();
        Ok(())
    }

    fn start_threads_for_what_waits(&self) {
        let at_most = self.queued().min(self.core_threads()); // a thread that does not come is not ordered again
        let started = (0..at_most).take_while(|_| self.shared.prestart());
        started.for_each(drop);
    }

    /// How long a thread above core size may be idle before it ends.
    pub fn keep_alive(&self) -> Duration {
        self.shared.state.lock().settings.keep_alive
    }

    /// Changes how long a thread above core size may be idle, for threads that are idle already, too.
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroKeepAlive`] if it is zero and core threads may time out.
    pub fn set_keep_alive(&self, time: Duration) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.keep_alive = time)
    }

    /// Whether core threads end when they have been idle for the keep-alive time.
    pub fn core_timeout(&self) -> bool {
        self.shared.state.lock().settings.core_timeout
    }

    /// Changes whether core threads end when they have been idle for the keep-alive time.
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroKeepAlive`] if the keep-alive time is zero.
    pub fn set_core_timeout(&self, allowed: bool) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.core_timeout = allowed)
    }

    /// Who starts the threads.
    pub fn thread_factory(&self) -> Arc<dyn ThreadFactory> {
        Arc::clone(&self.shared.state.lock().settings.factory)
    }

    /// Changes who starts the threads, from now on. What [`thread_factory`](Self::thread_factory) returned can be put back.
    pub fn set_thread_factory(&self, factory: impl ThreadFactory + 'static) {
        let factory = builder::shared::<_, dyn ThreadFactory>(factory, |factory| Arc::new(factory));
        let mut state = self.shared.state.lock();
        let before = std::mem::replace(&mut state.settings.factory, factory);
        state.factory_rest = Rest::default();
        drop(state);
        discard(before);
    }

    /// What happens to a task for which there is no room.
    pub fn rejection_handler(&self) -> Arc<dyn RejectionHandler> {
        Arc::clone(&self.shared.state.lock().settings.rejection)
    }

    /// Changes what happens to a task for which there is no room. What [`rejection_handler`](Self::rejection_handler)
    /// returned can be put back:
    ///
    /// ```
    /// use executor::{CallerRuns, FifoQueue, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(10)).build()?;
    /// let before = pool.rejection_handler();
    /// pool.set_rejection_handler(CallerRuns);
    /// // … a burst of tasks …
    /// pool.set_rejection_handler(before);
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    pub fn set_rejection_handler(&self, handler: impl RejectionHandler + 'static) {
        let handler = builder::shared::<_, dyn RejectionHandler>(handler, |handler| Arc::new(handler));
        let before = std::mem::replace(&mut self.shared.state.lock().settings.rejection, handler);
        discard(before);
    }

    /// Starts a thread that waits for work, if there are fewer than core size. Says whether it did.
    pub fn prestart_core_thread(&self) -> bool {
        self.shared.prestart()
    }

    /// Starts all threads up to core size and returns how many it has ordered. A thread that its factory promised and
    /// that does not come is not ordered a second time.
    #[expect(clippy::must_use_candidate, reason = "most callers want the threads, not the number")]
    pub fn prestart_all_core_threads(&self) -> usize {
        (0..self.core_threads()).take_while(|_| self.shared.prestart()).count()
    }

    /// Makes a change if what comes of it makes sense.
    fn change(&self, change: impl FnOnce(&mut Settings)) -> Result<(), PoolConfigError> {
        let mut state = self.shared.state.lock();
        self.shared.close_inbox(&mut state); // a submitter may have to start a thread now
        self.shared.recall(&mut state); // and a worker that claims task after task may be one too many
        let settings = &state.settings;
        let mut changed = Settings {
            factory: Arc::clone(&settings.factory),
            rejection: Arc::clone(&settings.rejection),
            ..*settings
        };
        change(&mut changed);
        changed.check(self.grows)?;
        (state.settings.core, state.settings.maximum) = (changed.core, changed.maximum);
        (state.settings.keep_alive, state.settings.core_timeout) = (changed.keep_alive, changed.core_timeout);
        // Sleeping workers may be one too many now, or have to sleep for another time; submitters may have room.
        self.shared.work.notify_all();
        state.wake_all_submitters();
        Ok(())
    }

    /// Waits for the end without a way to be cancelled, unless waiting could only deadlock.
    fn wait_for_the_end(&self) {
        if !worker::is_own(&self.shared) {
            masked(|| self.shared.terminated.wait()).unwrap_or_else(|Cancelled| unreachable!("masked"));
        }
    }
}

impl Executor for ThreadPoolExecutor {
    #[inline]
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.shared.admit(task).or_else(|refused| {
            let handler = self.rejection_handler();
            let result = handler.rejected(refused, &RefusingPool(&self.shared));
            discard(handler); // it may have been replaced meanwhile, so this may be its end
            result
        })
    }
}

impl ExecutorService for ThreadPoolExecutor {
    fn shutdown(&self) {
        self.shared.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.shared.shutdown_now()
    }

    fn is_shutdown(&self) -> bool {
        self.shared.is_shutdown()
    }

    fn is_terminated(&self) -> bool {
        self.shared.state.lock().phase == PoolState::Terminated
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.shared.terminated.wait_timeout(timeout).is_ok() || self.is_terminated()
    }

    fn close(&self) {
        self.shutdown();
        if !worker::is_own(&self.shared) && self.shared.terminated.wait().is_err() {
            drop(self.shutdown_now());
        }
        self.wait_for_the_end();
    }
}

impl Drop for ThreadPoolExecutor {
    fn drop(&mut self) {
        match self.on_drop {
            DropPolicy::Finish | DropPolicy::Detach => self.shutdown(),
            DropPolicy::Cancel => drop(self.shutdown_now()),
        }
        if self.on_drop != DropPolicy::Detach && !thread::panicking() {
            self.wait_for_the_end();
        }
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
