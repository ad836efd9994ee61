//! What its user sees of a fork/join pool.

use std::error::Error;
use std::fmt;

use super::demand;
use super::quiescence::wait_for_quiet;
use super::registry::Registry;
use super::worker::{WorkerThread, here, run_as_guest};
use super::worker_queue::WorkerQueue;
use crate::cancel::{Context, check_current, masked};
use crate::executor::{Executor, ExecutorService, PoolState, RejectedExecution, wait_for_loans};
use crate::panics::{Panic, contain};
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Duration, Mutex, thread};
use crate::task::Task;
use crate::task::borrowed::ScopedJobs;
use crate::waiting::error::{RejectReason, WaitError};
use crate::waiting::starvation::Starvation;
use crate::waiting::wait::Deadline;

/// A pool whose workers steal work from each other: for computations that split themselves.
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
/// It is an [`ExecutorService`], too: a pool for many small tasks that submit others. A task that is
/// submitted by one of its own workers goes to that worker's queue, where others can steal it; one from
/// outside, to a queue that all workers look into when they have nothing else.
///
/// # Its end
/// Dropping it waits until everything that was accepted is done, as [`close`](ExecutorService::close) does.
/// After [`shutdown`](ExecutorService::shutdown) it accepts nothing from outside, and what runs may still
/// fork. [`shutdown_now`](ExecutorService::shutdown_now) hands back the submissions that were not begun;
/// forked tasks that were not begun are cancelled, because the computations that would have joined them are.
#[doc(alias = "newWorkStealingPool")]
pub struct ForkJoinPool {
    registry: Arc<Registry>,
    is_common: bool,
}

impl ForkJoinPool {
    pub(super) fn of(registry: Arc<Registry>, is_common: bool) -> Self {
        Self { registry, is_common }
    }

    /// How many workers run at the same time.
    #[doc(alias = "getParallelism")]
    pub fn threads(&self) -> usize {
        self.registry.settings.threads
    }

    /// Runs `f` as a part of this pool and returns its result. `f` may borrow. For the first call of a
    /// computation: the joins in it work in this pool.
    ///
    /// The calling thread is a worker of the pool for that time, if fewer than [`threads`](Self::threads) of
    /// them are awake. So a small computation wakes no thread. Otherwise a worker runs `f`, and the caller
    /// waits: if all are busy; if the pool was given a [stack size](super::ForkJoinBuilder::stack_size),
    /// which the caller may not have; or if the caller runs a task of another executor. On a worker of this
    /// pool `f` is called as it is.
    ///
    /// # Errors
    /// [`InvokeError`]: the pool is shut down, or the computation was called off before it had begun. `f` was
    /// not called then.
    ///
    /// # Panics
    /// If `f` does, with its payload.
    ///
    /// # Blocking
    /// Blocks until `f` has ended.
    ///
    /// # Cancellation
    /// The tokens of the computation are children of the caller's; in a [`masked`](crate::masked) step it is
    /// masked, too. If the caller is cancelled before `f` has begun, it never does; otherwise this waits for
    /// its end.
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

    /// As [`invoke`](Self::invoke); where the pool cannot run it, it is called here.
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
        let loans = ScopedJobs::new();
        let submit = || {
            let (ticket, _claim) = loans.lend(run);
            self.registry.submit(Task::of_scope(ticket)).map_err(|refused| refused.reason)
        };
        let queue = self.registry.registration.id();
        let refused = loans.keep(submit, |_| {
            if let Err(why) = wait_for_loans(&loans, Some(queue)) {
                drop(loans.take_back()); // if it has not begun, it never does
                *gave_up.lock() = Some(why);
                let _ = masked(|| wait_for_loans(&loans, None));
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

    /// Gives a task to the submissions, also from one of the pool's own workers. So it is begun after what
    /// was submitted before, and not by this worker next.
    ///
    /// # Errors
    /// [`RejectedExecution`] if the pool is shut down.
    #[doc(alias = "externalSubmit")]
    pub fn execute_externally(&self, task: impl Into<Task>) -> Result<(), RejectedExecution> {
        self.registry.submit(task.into())
    }

    /// Waits until no task is unfinished, for `timeout` at most, and says whether that was so. It does not
    /// keep others from submitting more.
    ///
    /// On a worker of this pool it runs what there is to run. For a worker, the tasks that it is in the
    /// middle of do not count, nor do those of other workers that wait here: otherwise none of them would
    /// ever go on. For all other callers they do.
    ///
    /// A task that a worker runs in this way may call this, too, and so on: 32 deep. Beyond that, a call does
    /// not wait. It says `false` unless the pool is quiet already, and its task has to end so that the rest
    /// can be run.
    ///
    /// # Blocking
    /// Blocks until the pool is quiet, or the time is up. A call without a limit (`Duration::MAX`) that could
    /// never end says `false` at once: unfinished tasks wait, in the end, for the calling one. The panic
    /// handler gets the [`Starvation`].
    ///
    /// # Cancellation
    /// Returns early, with the answer of that moment, if the calling task is cancelled.
    #[doc(alias = "helpQuiesce")]
    pub fn await_quiescence(&self, timeout: Duration) -> bool {
        wait_for_quiet(&self.registry, self.has_this_thread(), Deadline::after(timeout))
    }

    /// What the pool has done, and what it is doing.
    pub fn stats(&self) -> ForkJoinStats {
        let (workers, awake, submissions) = self.registry.counts();
        let queues: Vec<_> = self.registry.queues.iter().map(WorkerQueue::counts).collect();
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

    /// Whether the calling thread is a worker of this pool, for now or for good. A pool that was called from
    /// a worker of another is the current one until that call has ended.
    #[doc(alias = "getPool")]
    pub fn is_current(&self) -> bool {
        self.has_this_thread().is_some()
    }

    /// The calling thread as a worker of this pool.
    fn has_this_thread(&self) -> Option<std::rc::Rc<WorkerThread>> {
        here().filter(|here| Arc::ptr_eq(&here.registry, &self.registry))
    }
}

/// Whether the calling thread is a worker of a fork/join pool.
#[doc(alias = "inForkJoinPool")]
pub fn in_pool() -> bool {
    here().is_some()
}

/// The number of the worker that the calling thread is, from 0; none outside any pool. No two workers of a
/// pool have the same at the same time, and it is less than the pool's threads and spare threads together.
#[doc(alias = "getPoolIndex")]
pub fn worker_index() -> Option<usize> {
    here().map(|here| here.number())
}

/// How many more forks and second halves the calling worker has queued than there are idle workers to steal
/// them: an estimate, because both change meanwhile. It is negative if there is not one for each of them, and
/// 0 outside any pool.
///
/// A computation that forks with [`fork`](super::fork()) can stop forking, and call, while it is above two or
/// three: more pieces would find no thief. [`join`](super::join) does that by itself.
#[doc(alias = "getSurplusQueuedTaskCount")]
pub fn surplus() -> isize {
    here().map_or(0, |here| {
        here.queue().length().cast_signed().saturating_sub(here.registry.idle().cast_signed())
    })
}

impl Executor for ForkJoinPool {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        match self.has_this_thread() {
            Some(_) if !self.registry.accepts() => {
                Err(RejectedExecution { reason: RejectReason::Shutdown, task })
            }
            Some(here) => {
                self.registry.push(here.queue(), task, Context::default());
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

/// What a [`ForkJoinPool`] has done, and what it is doing. Read while it works, the numbers need not fit
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ForkJoinStats {
    /// Where the pool stands.
    pub state: PoolState,
    /// How many workers may run at the same time.
    pub threads: usize,
    /// How many there are.
    pub workers: usize,
    /// How many of them do not sleep.
    pub awake: usize,
    /// How many of them are in the middle of a job.
    pub active: usize,
    /// Tasks from outside that were not begun.
    pub queued_submissions: usize,
    /// Second halves of joins and forked tasks in the workers' queues.
    pub queued: usize,
    /// How many of those were stolen so far.
    pub steals: u64,
    /// Tasks that were accepted and have not ended.
    pub unfinished: usize,
    /// Tasks that have ended. Halves of joins are no tasks of their own.
    pub completed: u64,
    /// Those of them that panicked.
    pub panicked: u64,
}

/// Why [`ForkJoinPool::invoke`] gave no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum InvokeError {
    /// The pool refuses it.
    Rejected(RejectReason),
    /// It was not begun: the pool was shut down at once, or the calling task was cancelled.
    Cancelled,
    /// Every worker waits, in the end for the calling task.
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
