//! A bound on the tasks that are in progress and those that wait, over any executor.
//!
//! A queue's bound limits what waits in one pool. This one limits what one part of a program has under way,
//! in whichever executor, which others may share: a task's permit is taken before it is submitted, and is
//! given back when it has ended. A submitter for which there is none waits, and so is slowed down to the pace
//! of its own tasks.
//!
//! In the classic listing the task is wrapped, and a permit is lost whenever the executor below does not run
//! the wrapper: when it refuses, when it discards, when it is shut down. Here the permit is the task's
//! [observer](crate::task::observer), which comes to its end in each of these ways.
//!
//! # Invariants
//!
//! 1. A permit is taken for each task under way, and for no other: those given to the executor below that
//!    have not ended, whether they wait, run, or were handed out by somebody else's `shutdown_now` and are
//!    kept.
//! 2. A submitter that waits has no stay in the executor's [life](super::lifecycle), so a shutdown need not
//!    wait for it: it wakes all submitters, and each of them looks whether there still is something to wait
//!    for.

use std::fmt;

use super::lifecycle::{InFlightTask, Underlying, rest_of_service};
use crate::cancel::CancelToken;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::QueueId;
use crate::sync::{Duration, Mutex};
use crate::task::Task;
use crate::task::observer::TaskObserver;
use crate::task::outcome::Outcome;
use crate::waiting::error::RejectReason;
use crate::waiting::semaphore::{Semaphore, TaskPermit};
use crate::waiting::wait::Deadline;

/// Has so many tasks under way at most, in progress or queued, in the executor below. A further submission
/// waits.
///
/// ```
/// use executor::{BoundedExecutor, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2); // whose queue has no bound
/// let uploads = BoundedExecutor::over(&pool, 3);
/// let handles: Vec<_> = (0..100).map(|n| uploads.submit(move || n)).collect::<Result<_, _>>()?; // never more than 3
/// let sum: i32 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
/// assert_eq!((sum, uploads.under_way()), (4950, 0));
/// # Ok::<(), executor::RejectedSubmission<i32>>(())
/// ```
///
/// A thread that joins a task finds its permit given back. A task that is cancelled while it waits keeps its
/// permit until the executor below has come to it, or clears it out.
///
/// # Blocking
/// `execute` and `submit` wait for a permit, in the order in which they were called. They fail with
/// [`RejectReason::Interrupted`] if the calling task is cancelled meanwhile, and with
/// [`RejectReason::Starved`] if all permits belong to tasks that cannot go on: such as tasks which submit to
/// it themselves, on a pool none of whose threads is free. What the executor below refuses comes back with
/// its reason, and without its permit. Whoever does not want to wait, or not for long, submits
/// [`without_waiting`](Self::without_waiting) or [`waiting_at_most`](Self::waiting_at_most).
///
/// # Its end
/// Made with [`over`](Self::over) it ends alone. [`shutdown`](ExecutorService::shutdown) refuses new tasks,
/// also those whose submitters wait; [`shutdown_now`](ExecutorService::shutdown_now) takes its own tasks out
/// of the queues below and cancels the tokens of its own that run. The tasks of others in the executor below
/// notice nothing. Made with [`owning`](Self::owning) it ends the service below, too, with all that is in it.
///
/// Dropping it ends nothing by itself. It drops the executor below: a pool that it has by value ends then, as
/// pools do, and one that it borrows or shares goes on, with what was accepted.
pub struct BoundedExecutor<E> {
    inner: Underlying<E>,
    permits: Semaphore,
    bound: Mutex<usize>,
}

impl<E: Executor> BoundedExecutor<E> {
    /// Bounds what goes through it to `bound` tasks. Others that use `executor` directly are not counted.
    ///
    /// # Panics
    /// If `bound` is zero: no task could ever be submitted.
    pub fn over(executor: E, bound: usize) -> Self {
        Self::new(Underlying::over(executor), bound)
    }

    /// The same, and ends `service` when it ends itself.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let uploads = BoundedExecutor::owning(ThreadPoolExecutor::fixed(2), 3);
    /// uploads.execute(|| println!("one of three at most"))?;
    /// uploads.close(); // and the pool
    /// assert!(uploads.executor().is_terminated());
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn owning(service: E, bound: usize) -> Self
    where
        E: ExecutorService,
    {
        Self::new(Underlying::owning(service), bound)
    }

    fn new(inner: Underlying<E>, bound: usize) -> Self {
        assert_not_zero(bound);
        Self { inner, permits: Semaphore::new(bound), bound: Mutex::new(bound) }
    }

    /// An executor that refuses at once, with [`RejectReason::Saturated`], what would have to wait for a
    /// permit.
    ///
    /// ```
    /// use executor::{BoundedExecutor, Latch, RejectReason, ThreadPerTaskExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let bounded = BoundedExecutor::over(ThreadPerTaskExecutor, 1);
    /// let (end, until) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    /// # let until = end.clone();
    /// bounded.execute(move || until.wait().unwrap())?;
    /// let refused = bounded.without_waiting().submit(|| 1).unwrap_err();
    /// assert!(matches!(refused.reason, RejectReason::Saturated));
    /// end.count_down();
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    ///
    /// It takes a permit that is free even if others wait for one.
    pub fn without_waiting(&self) -> Impatient<'_, E> {
        Impatient { bounded: self, timeout: None }
    }

    /// An executor whose submissions wait for a permit for `timeout` at most, each of them, and then are
    /// refused with [`RejectReason::TimedOut`].
    pub fn waiting_at_most(&self, timeout: Duration) -> Impatient<'_, E> {
        Impatient { bounded: self, timeout: Some(timeout) }
    }

    /// How many tasks are under way.
    pub fn under_way(&self) -> usize {
        self.permits.with_tasks()
    }

    /// How many tasks may be under way.
    pub fn bound(&self) -> usize {
        *self.bound.lock()
    }

    /// Changes the bound. A higher one lets submitters go on that wait. Under a lower one nothing is taken
    /// back: until enough of the tasks under way have ended, there are more than the new bound.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn set_bound(&self, bound: usize) {
        assert_not_zero(bound);
        let mut current = self.bound.lock();
        if bound > *current {
            self.permits.release(bound - *current);
        } else {
            self.permits.reduce(*current - bound);
        }
        *current = bound;
    }

    /// What it is doing, in numbers.
    pub fn stats(&self) -> BoundedStats {
        let bound = self.bound.lock(); // held, so that the numbers go with this bound
        BoundedStats { under_way: self.permits.with_tasks(), bound: *bound, waiting: self.permits.waiting() }
    }

    /// The executor below.
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }

    /// Refuses what comes, and those who wait already.
    fn let_nobody_in(&self) {
        self.inner.life().shutdown();
        self.permits.look_again();
    }

    fn execute_until(&self, task: Task, patience: SubmitTimeout) -> Result<(), RejectedExecution> {
        match self.permit(patience) {
            Ok(permit) => {
                self.inner.pass_on(task, |task, member| task.accompanied(UnderWay { permit, member }))
            }
            Err(reason) => Err(RejectedExecution { reason, task }),
        }
    }

    fn permit(&self, patience: SubmitTimeout) -> Result<TaskPermit, RejectReason> {
        let is_over = || self.inner.life().is_shutdown();
        if is_over() {
            return Err(RejectReason::Shutdown);
        }
        let permit = match patience {
            SubmitTimeout::None => self.permits.try_acquire().ok_or(RejectReason::Saturated)?,
            SubmitTimeout::Until(deadline) => {
                self.permits.acquire_unless(is_over, deadline)?.ok_or(RejectReason::Shutdown)?
            }
        };
        Ok(permit.for_task())
    }
}

fn assert_not_zero(bound: usize) {
    assert!(bound > 0, "with a bound of zero no task could ever be submitted");
}

/// How long a submitter waits for a permit.
#[derive(Clone, Copy)]
enum SubmitTimeout {
    None,
    Until(Deadline),
}

impl<E: Executor> Executor for BoundedExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.execute_until(task, SubmitTimeout::Until(Deadline::NEVER))
    }
}

impl<E: Executor> ExecutorService for BoundedExecutor<E> {
    fn shutdown(&self) {
        self.let_nobody_in();
        self.inner.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.let_nobody_in();
        self.inner.shutdown_now()
    }

    rest_of_service!(self.inner);
}

/// A [`BoundedExecutor`] whose submitters do not wait, or not for long: see
/// [`without_waiting`](BoundedExecutor::without_waiting) and
/// [`waiting_at_most`](BoundedExecutor::waiting_at_most).
pub struct Impatient<'a, E> {
    bounded: &'a BoundedExecutor<E>,
    timeout: Option<Duration>,
}

impl<E: Executor> Executor for Impatient<'_, E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let patience = self
            .timeout
            .map_or(SubmitTimeout::None, |timeout| SubmitTimeout::Until(Deadline::after(timeout)));
        self.bounded.execute_until(task, patience)
    }
}

/// Goes along with a task that has a permit.
struct UnderWay {
    permit: TaskPermit,
    member: InFlightTask,
}

impl TaskObserver for UnderWay {
    fn queued(&self, queue: QueueId) {
        self.permit.queued(queue);
        self.member.queued(queue);
    }

    fn dequeued(&self) {
        self.permit.dequeued();
        self.member.dequeued();
    }

    fn started(&self) {
        self.permit.started();
        self.member.started();
    }

    fn finished(&self, outcome: &Outcome) {
        self.permit.finished(outcome);
    }

    fn handed_out(&self) {
        self.member.handed_out();
    }

    fn root(&self) -> Option<&CancelToken> {
        self.member.root()
    }
}

/// What a [`BoundedExecutor`] is doing, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BoundedStats {
    /// Tasks in progress or queued in the executor below, or handed out by it and kept.
    pub under_way: usize,
    /// How many may be under way. After the bound was lowered there may be more for a while.
    pub bound: usize,
    /// Submitters that wait for a permit.
    pub waiting: usize,
}

impl fmt::Display for BoundedStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} under way, {} waiting", self.under_way, self.bound, self.waiting)
    }
}

impl<E: fmt::Debug> fmt::Debug for BoundedExecutor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = *self.bound.lock();
        f.debug_struct("BoundedExecutor")
            .field("under_way", &self.permits.with_tasks())
            .field("bound", &bound)
            .field("waiting", &self.permits.waiting())
            .field("executor", self.inner.executor()) // a user's, perhaps, so without a lock
            .finish()
    }
}

impl<E: fmt::Debug> fmt::Debug for Impatient<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Impatient").field("timeout", &self.timeout).field("bounded", self.bounded).finish()
    }
}
