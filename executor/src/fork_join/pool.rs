//! The public interface of the fork/join pool.

use std::error::Error;
use std::fmt;

use super::demand;
use super::quiescence::wait_for_quiet;
use super::registry::Registry;
use super::worker::{WorkerThread, here, run_as_guest};
use crate::cancel::{Context, check_current, masked};
use crate::executor::{Executor, ExecutorService, PoolState, RejectedExecution, wait_for_lent_jobs};
use crate::panics::{Panic, contain};
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Duration, Mutex, thread};
use crate::task::borrowed::ScopedJobs;
use crate::task::{IntoTask, Task};
use crate::waiting::error::{RejectReason, WaitError, into_io_error};
use crate::waiting::starvation::Starvation;
use crate::waiting::wait::Deadline;

/// A pool for computations that split themselves: its workers steal work from each other.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, join};
///
/// fn fibonacci(n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = join(|| fibonacci(n - 1), || fibonacci(n - 2));
///     a + b
/// }
///
/// let pool = ForkJoinPool::new(2)?;
/// assert_eq!(pool.invoke(|| fibonacci(20))?, 6765);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The pool is also an [`ExecutorService`], for many small tasks that submit other tasks. If a worker of the
/// pool submits a task, the task goes to that worker's queue, from which other workers can steal it. A task
/// that is submitted from outside the pool goes to the queue of submissions. A worker that finds no other job
/// takes tasks from the queue of submissions.
///
/// # Its end
/// When a pool is dropped, the drop waits until all accepted tasks are done, as
/// [`close`](ExecutorService::close) does. After [`shutdown`](ExecutorService::shutdown) the pool accepts no
/// new submissions, but running tasks can still fork. [`shutdown_now`](ExecutorService::shutdown_now) returns
/// the submissions that have not begun. The call also cancels the forked tasks that have not begun, because
/// their computations are cancelled, too.
#[doc(alias = "newWorkStealingPool")]
pub struct ForkJoinPool {
    registry: Arc<Registry>,
    is_common: bool,
}

impl ForkJoinPool {
    pub(super) fn of(registry: Arc<Registry>, is_common: bool) -> Self {
        Self { registry, is_common }
    }

    /// Returns the number of workers that run at the same time.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    ///
    /// assert_eq!(ForkJoinPool::new(2)?.threads(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getParallelism")]
    pub fn threads(&self) -> usize {
        self.registry.settings.threads
    }

    /// Runs `f` in this pool and returns the result of `f`. `f` may borrow. Use `invoke` for the outermost
    /// call of a computation: the joins in `f` then run in this pool.
    ///
    /// If fewer than [`threads`](Self::threads) workers are awake, the calling thread becomes a worker of the
    /// pool until `f` has ended. So a small computation wakes no thread. If enough workers are awake, a
    /// worker runs `f`, and the caller waits. A worker runs `f` in two more cases: the pool was given a
    /// [stack size](super::ForkJoinBuilder::stack_size), and the caller's stack may be smaller; or the caller
    /// runs a task of another executor. On a worker of this pool, `f` is called directly.
    ///
    /// ```
    /// use executor::fork_join::{ForkJoinPool, join};
    ///
    /// let pool = ForkJoinPool::new(2)?;
    /// let words = ["fork".to_owned(), "join".to_owned()];
    /// let (a, b) = pool.invoke(|| join(|| words[0].len(), || words[1].len()))?; // borrows the words
    /// assert_eq!(a + b, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InvokeError`] if the pool refuses the computation. The call also fails if, before `f` has begun, the
    /// caller is cancelled or the pool is stopped. The call fails, too, if every worker waits, directly or
    /// through other tasks, for the calling task. If the call fails, `f` was not called.
    ///
    /// # Panics
    /// Panics if `f` panics, with the same payload.
    ///
    /// # Blocking
    /// Blocks until `f` has ended.
    ///
    /// # Cancellation
    /// The tokens of the computation are children of the caller's token. In a [`masked`] step,
    /// the computation is masked, too. If the caller is cancelled before `f` has begun, `f` never begins. If
    /// the caller is cancelled later, the call still waits for the end of `f`.
    pub fn invoke<R: Send>(&self, f: impl FnOnce() -> R + Send) -> Result<R, InvokeError> {
        if self.has_this_thread().is_some() {
            return Ok(f());
        }
        let f = Mutex::new(Some(f));
        self.run_borrowed(|| {
            let f = f.lock().take();
            f.expect("it is run once")()
        })
    }

    /// Runs `f` as [`invoke`](Self::invoke) does. If the pool cannot run `f`, the calling thread calls `f`
    /// itself.
    pub(super) fn run_or_call<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let f = Mutex::new(Some(f));
        let take = || f.lock().take();
        let result = self.run_borrowed(|| take().expect("it is run once")());
        result.unwrap_or_else(|_| {
            let f = take().expect("it has not begun");
            demand::in_one_thread(f)
        })
    }

    fn run_borrowed<R: Send>(&self, f: impl Fn() -> R + Sync) -> Result<R, InvokeError> {
        let context = Context::of_this_place();
        let ended = || context.run_beside(|| contain(&f));
        if check_current().is_err() {
            return Err(InvokeError::Cancelled);
        }
        if let Some(ended) = run_as_guest(&self.registry, ended) {
            return Ok(ended.unwrap_or_else(|panic| panic.resume()));
        }
        let result: Mutex<Option<Result<R, Panic>>> = Mutex::new(None);
        let run = || {
            let ended = ended();
            *result.lock() = Some(ended);
        };
        let gave_up = Mutex::new(None);
        let jobs = ScopedJobs::new();
        let submit = || {
            let (ticket, _claim) = jobs.lend(run);
            self.registry.submit(Task::of_scope(ticket)).map_err(|refused| refused.reason)
        };
        let queue = self.registry.registration.id();
        let refused = jobs.keep(submit, |_| {
            if let Err(why) = wait_for_lent_jobs(&jobs, Some(queue)) {
                drop(jobs.take_back()); // if `f` has not begun, it never does
                *gave_up.lock() = Some(why);
                let _ = masked(|| wait_for_lent_jobs(&jobs, None));
            }
        });
        refused.map_err(InvokeError::Rejected)?;
        let ended = result.lock().take();
        match (ended, gave_up.lock().take()) {
            (Some(Ok(value)), _) => Ok(value),
            (Some(Err(panic)), _) => panic.resume(),
            (None, Some(WaitError::Starved(starvation))) => Err(InvokeError::Starved(starvation)),
            (None, _) => Err(InvokeError::Cancelled),
        }
    }

    /// Puts a task into the queue of submissions, even if a worker of this pool submits the task. So the task
    /// begins after all earlier submissions, and it is not the next job of the calling worker.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    /// use executor::{Latch, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = Arc::new(ForkJoinPool::new(1)?);
    /// let ended = Arc::new(Latch::new(1));
    /// let (below, done) = (Arc::clone(&pool), Arc::clone(&ended));
    /// pool.execute(move || {
    ///     // This follow-up is not urgent: other submitters' tasks come before it.
    ///     below.execute_externally(move || done.count_down()).expect("the pool runs");
    /// })?;
    /// ended.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedExecution`] if the pool is shut down.
    #[doc(alias = "externalSubmit")]
    pub fn execute_externally(&self, task: impl IntoTask) -> Result<(), RejectedExecution> {
        self.registry.submit(task.into())
    }

    /// Waits until the pool is quiet: a quiet pool has no unfinished task. The call waits for `timeout` at
    /// most, and returns whether the pool was quiet. During the wait, other threads can submit more tasks.
    ///
    /// A worker of this pool runs queued jobs while it waits. When a worker waits in this method, two kinds
    /// of tasks do not count as unfinished. The first kind are the tasks on the worker's own stack. The
    /// second kind are the tasks on the stacks of other workers that wait in this method. The tasks of both
    /// kinds can end only after the workers have stopped waiting. Other callers count all tasks.
    ///
    /// A task that a worker runs during this wait may call this method again, to a depth of 32. A deeper call
    /// does not wait: it returns `true` only if the pool is already quiet. The task that made the deeper call
    /// must then end, so that the remaining tasks can run.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ForkJoinPool::new(2)?;
    /// for _ in 0..10 {
    ///     pool.execute(|| ())?;
    /// }
    /// assert!(pool.await_quiescence(Duration::from_secs(30)));
    /// assert_eq!(pool.stats().unfinished, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// Blocks until the pool is quiet, or the time is up. If unfinished tasks wait, directly or through other
    /// tasks, for the calling task, the wait can never end. A call without a limit (`Duration::MAX`) then
    /// returns `false` at once, and the [`Starvation`] goes to the panic handler.
    ///
    /// # Cancellation
    /// If the calling task is cancelled, the call returns early, and says whether the pool is quiet at that
    /// moment.
    #[doc(alias = "helpQuiesce")]
    #[doc(alias = "isQuiescent")]
    pub fn await_quiescence(&self, timeout: Duration) -> bool {
        wait_for_quiet(&self.registry, self.has_this_thread(), Deadline::after(timeout))
    }

    /// Returns statistics of the pool: its workers, its queues and the tasks that it has run.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    ///
    /// let pool = ForkJoinPool::new(2)?;
    /// pool.execute(|| ())?;
    /// pool.close();
    /// assert_eq!((pool.stats().completed, pool.stats().unfinished), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> ForkJoinStats {
        let (workers, awake, submissions) = self.registry.counts();
        let queues: Vec<_> = self.registry.queues.iter().map(|queue| queue.counts()).collect();
        ForkJoinStats {
            state: self.registry.phase(),
            threads: self.threads(),
            workers,
            awake,
            active: queues.iter().filter(|queue| queue.2).count(),
            queued_submissions: submissions,
            queued: queues.iter().map(|queue| queue.0).sum(),
            steals: queues.iter().map(|queue| queue.1).sum(),
            unfinished: self.registry.unfinished(),
            completed: self.registry.completed.load(Ordering::Relaxed),
            panicked: self.registry.panicked.load(Ordering::Relaxed),
        }
    }

    /// Returns whether the calling thread is a worker of this pool, permanently or for one computation.
    /// Inside a computation that a worker of another pool has begun in this pool, the result is true.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    ///
    /// let pool = ForkJoinPool::new(2)?;
    /// assert!(!pool.is_current());
    /// assert!(pool.invoke(|| pool.is_current())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getPool")]
    pub fn is_current(&self) -> bool {
        self.has_this_thread().is_some()
    }

    /// Returns the worker state of the calling thread, if the thread is a worker of this pool.
    fn has_this_thread(&self) -> Option<std::rc::Rc<WorkerThread>> {
        here().filter(|here| Arc::ptr_eq(&here.registry, &self.registry))
    }
}

/// Returns whether the calling thread is a worker of a fork/join pool.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, in_pool};
///
/// assert!(!in_pool());
/// assert!(ForkJoinPool::new(2)?.invoke(in_pool)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "inForkJoinPool")]
pub fn in_pool() -> bool {
    here().is_some()
}

/// Returns the calling worker's index, counted from 0; `None` outside any pool. At any moment, the
/// workers of a pool have different indices. All indices are below the total number of threads and spare
/// threads.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, worker_index};
/// use executor::prelude::*;
///
/// let pool = ForkJoinPool::new(2)?;
/// // For example the place of a buffer that no other worker uses meanwhile.
/// let index = pool.submit(worker_index)?.join()?;
/// assert!(index.is_some());
/// assert_eq!(worker_index(), None); // outside
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "getPoolIndex")]
pub fn worker_index() -> Option<usize> {
    here().map(|here| here.queue.number)
}

/// Estimates the surplus: the number of forks and second halves in the calling worker's queue, minus the
/// number of idle workers. The result is an estimate, because the length of the queue and the number of idle
/// workers change meanwhile. The result is negative if there are more idle workers than queued pieces, and 0
/// outside any pool.
///
/// A computation that uses [`fork`](super::fork()) can stop forking and make plain calls while the surplus is
/// above two or three. With this surplus, the idle workers need no more pieces. [`join`](super::join()) itself
/// checks the surplus.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, fork, surplus};
///
/// /// Counts the leaves of a tree, and forks only while other workers need work.
/// fn leaves(depth: u32) -> u64 {
///     match depth {
///         0 => 1,
///         _ if surplus() > 3 => 2 * leaves(depth - 1),
///         _ => {
///             let right = fork(move || leaves(depth - 1));
///             leaves(depth - 1) + right.join().expect("it is not cancelled")
///         }
///     }
/// }
///
/// assert_eq!(ForkJoinPool::new(2)?.invoke(|| leaves(10))?, 1024);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "getSurplusQueuedTaskCount")]
pub fn surplus() -> isize {
    here().map_or(0, |here| {
        here.queue.length().cast_signed().saturating_sub(here.registry.idle().cast_signed())
    })
}

impl Executor for ForkJoinPool {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        match self.has_this_thread() {
            Some(_) if self.registry.phase() != PoolState::Running => {
                Err(RejectedExecution { reason: RejectReason::Shutdown, task })
            }
            Some(here) => {
                self.registry.push(&here.queue, task, Context::default());
                Ok(())
            }
            None => self.registry.submit(task),
        }
    }
}

impl ExecutorService for ForkJoinPool {
    fn shutdown(&self) {
        if !self.is_common {
            self.registry.shutdown();
        }
    }

    fn shutdown_now(&self) -> Vec<Task> {
        if self.is_common { Vec::new() } else { self.registry.shutdown_now() }
    }

    fn is_shutdown(&self) -> bool {
        self.registry.phase() > PoolState::Running
    }

    fn is_terminated(&self) -> bool {
        self.registry.terminated.count() == 0
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.registry.terminated.wait_timeout(timeout).is_ok() || self.is_terminated()
    }

    fn close(&self) {
        self.shutdown();
        let waits_in_vain = self.is_common || self.has_this_thread().is_some();
        if !waits_in_vain && self.registry.terminated.wait().is_err() {
            drop(self.shutdown_now());
            masked(|| self.registry.terminated.wait()).unwrap_or_else(|_| unreachable!("masked"));
        }
    }
}

impl Drop for ForkJoinPool {
    fn drop(&mut self) {
        self.shutdown();
        if !thread::panicking() && !self.is_common && self.has_this_thread().is_none() {
            masked(|| self.registry.terminated.wait()).unwrap_or_else(|_| unreachable!("masked"));
        }
    }
}

impl fmt::Debug for ForkJoinPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.registry.settings.name;
        f.debug_struct("ForkJoinPool")
            .field("name", name)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Statistics of a [`ForkJoinPool`]. While the pool works, the numbers may be inconsistent with
/// each other.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, join};
///
/// let pool = ForkJoinPool::new(2)?;
/// pool.invoke(|| join(|| (), || ()))?;
/// let stats = pool.stats();
/// assert_eq!((stats.threads, stats.panicked), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ForkJoinStats {
    /// The state of the pool.
    pub state: PoolState,
    /// The number of workers that can run at the same time.
    pub threads: usize,
    /// The number of workers.
    pub workers: usize,
    /// The number of workers that are awake.
    #[doc(alias = "getRunningThreadCount")]
    pub awake: usize,
    /// The number of workers whose job has begun and not ended.
    #[doc(alias = "getActiveThreadCount")]
    pub active: usize,
    /// The number of tasks from outside that have not begun.
    #[doc(alias = "getQueuedSubmissionCount")]
    pub queued_submissions: usize,
    /// The number of forked tasks and second halves of joins that are in the workers' queues.
    #[doc(alias = "getQueuedTaskCount")]
    pub queued: usize,
    /// The number of second halves and forked tasks that were stolen so far.
    #[doc(alias = "getStealCount")]
    pub steals: u64,
    /// The number of accepted tasks that have not ended.
    pub unfinished: usize,
    /// The number of tasks that have ended. Halves of joins do not count as tasks.
    pub completed: u64,
    /// The number of tasks that have ended by a panic.
    pub panicked: u64,
}

/// The reason why [`ForkJoinPool::invoke`] has returned no result.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, InvokeError};
/// use executor::prelude::*;
///
/// let pool = ForkJoinPool::new(2)?;
/// pool.shutdown();
/// assert!(matches!(pool.invoke(|| 6 * 7), Err(InvokeError::Rejected(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InvokeError {
    /// The pool refused the computation.
    Rejected(RejectReason),
    /// The computation did not begin, because the pool was stopped by `shutdown_now` or the calling task
    /// was cancelled.
    Cancelled,
    /// Every worker waits, directly or through other tasks, for the calling task.
    Starved(Starvation),
}

impl fmt::Display for InvokeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => write!(f, "the computation was refused: {reason}"),
            Self::Cancelled => f.write_str("the computation was called off before it had begun"),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl Error for InvokeError {}

into_io_error!(InvokeError => kind Other);
