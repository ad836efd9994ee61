//! A limit on the number of tasks that run or wait, for any executor.
//!
//! The bound of a queue limits how many tasks wait in one pool. A [`BoundedExecutor`] limits how many tasks
//! of one part of a program wait or run. The underlying executor can be any executor, and other parts of the
//! program can use it, too. A submitter takes a permit before it submits a task, and the permit is released
//! when the task has ended. If no permit is free, the submitter waits. So clients cannot submit tasks faster
//! than the tasks end.
//!
//! The usual implementation wraps the task in a closure that releases the permit. If the underlying executor
//! discards the closure or is shut down, the closure never runs, and the permit is lost. In this file, the
//! task's [observer](crate::task::observer) holds the permit, and the observer is dropped even if the task
//! never runs.
//!
//! # Invariants
//!
//! 1. Each task that is under way has a permit, and no other task has one. A task is under way from its
//!    submission to the underlying executor until it has ended. If a `shutdown_now` of the underlying
//!    executor hands the task out to a user, the task stays under way as long as the user keeps it.
//! 2. The executor's [lifecycle](super::lifecycle) does not count submitters that wait for a permit, so the
//!    end of the executor does not depend on them. A shutdown wakes all submitters that wait, and refuses
//!    their tasks.

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

/// An executor that limits how many of its tasks wait or run in the underlying executor. When the limit is
/// reached, the next submission waits.
///
/// ```
/// use executor::{BoundedExecutor, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2); // its queue has no bound
/// let uploads = BoundedExecutor::over(&pool, 3);
/// // Never more than 3 are under way.
/// let handles: Vec<_> = (0..100).map(|n| uploads.submit(move || n)).collect::<Result<_, _>>()?;
/// let sum: i32 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
/// assert_eq!((sum, uploads.under_way()), (4950, 0));
/// # Ok::<(), executor::RejectedSubmission<i32>>(())
/// ```
///
/// When `join` on the task's handle returns, the permit of the task is free again. If a task is cancelled
/// while it waits, it keeps its permit until the underlying executor removes it from the queue.
///
/// # Blocking
/// `execute` and `submit` wait for a permit, in the order of the calls. If the calling task is cancelled
/// during this wait, the submission fails with [`RejectReason::Interrupted`]. If all permits belong to tasks
/// that cannot continue, the submission fails with [`RejectReason::Starved`]. This happens, for example, if
/// each task that has a permit is waiting for another permit, and the underlying pool has no free thread. If
/// the underlying executor refuses a task, the submitter gets the task back with that executor's reason, and
/// the permit is free again. If the submitter must not wait, use [`without_waiting`](Self::without_waiting).
/// To limit the wait, use [`waiting_at_most`](Self::waiting_at_most).
///
/// # Its end
/// A bounded executor that was made with [`over`](Self::over) does not end its underlying executor. After
/// [`shutdown`](ExecutorService::shutdown), the bounded executor refuses new tasks, and also the tasks of
/// submitters that already wait for a permit. [`shutdown_now`](ExecutorService::shutdown_now) removes the
/// waiting tasks of the bounded executor from the queues of the underlying executor, and cancels the tokens
/// of the running tasks of the bounded executor. Other tasks of the underlying executor are not affected. If
/// a bounded executor was made with [`owning`](Self::owning), it also ends the underlying service.
///
/// When a bounded executor is dropped, it is not shut down, but its underlying executor is dropped, too. So
/// if the bounded executor owns a pool by value, the pool then ends like every dropped pool. A borrowed or
/// shared pool continues to run, and runs the accepted tasks.
pub struct BoundedExecutor<E> {
    inner: Underlying<E>,
    permits: Semaphore,
    bound: Mutex<usize>,
}

impl<E: Executor> BoundedExecutor<E> {
    /// Makes an executor that has at most `bound` tasks under way in `executor`. Tasks that clients submit
    /// directly to `executor` do not count.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let uploads = BoundedExecutor::over(&pool, 3);
    /// uploads.close();
    /// assert!(!pool.is_shutdown()); // the pool goes on
    /// ```
    ///
    /// # Panics
    /// Panics if `bound` is zero, because then no task could ever be submitted.
    pub fn over(executor: E, bound: usize) -> Self {
        Self::new(Underlying::over(executor), bound)
    }

    /// Makes a bounded executor that owns `service`. When the bounded executor ends, it also ends `service`.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let uploads = BoundedExecutor::owning(ThreadPoolExecutor::fixed(2), 3);
    /// uploads.execute(|| println!("one of three at most"))?;
    /// uploads.close(); // closes the pool, too
    /// assert!(uploads.executor().is_terminated());
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `bound` is zero.
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

    /// Returns an executor that refuses a task, with [`RejectReason::Saturated`], if no permit is free.
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
    /// A submission through the returned executor can take a free permit even if other submitters are already
    /// waiting for permits.
    pub fn without_waiting(&self) -> Impatient<'_, E> {
        Impatient { bounded: self, timeout: None }
    }

    /// Returns an executor that limits the wait for a permit. If a submission gets no permit within
    /// `timeout`, it fails with [`RejectReason::TimedOut`].
    ///
    /// ```
    /// use executor::{BoundedExecutor, ManualExecutor, RejectReason, prelude::*};
    /// use std::time::Duration;
    ///
    /// let bounded = BoundedExecutor::over(ManualExecutor::new(), 1);
    /// bounded.execute(|| ())?;
    /// let late = bounded.waiting_at_most(Duration::from_millis(1)).submit(|| 6 * 7).unwrap_err();
    /// assert!(matches!(late.reason, RejectReason::TimedOut));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn waiting_at_most(&self, timeout: Duration) -> Impatient<'_, E> {
        Impatient { bounded: self, timeout: Some(timeout) }
    }

    /// Returns the number of tasks that are under way.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ManualExecutor, prelude::*};
    ///
    /// let bounded = BoundedExecutor::over(ManualExecutor::new(), 3);
    /// bounded.execute(|| ())?;
    /// assert_eq!(bounded.under_way(), 1);
    /// bounded.executor().run_all();
    /// assert_eq!(bounded.under_way(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn under_way(&self) -> usize {
        self.permits.with_tasks()
    }

    /// Returns the bound: the largest number of tasks that can be under way.
    ///
    /// ```
    /// use executor::{BoundedExecutor, DirectExecutor};
    ///
    /// assert_eq!(BoundedExecutor::over(DirectExecutor, 3).bound(), 3);
    /// ```
    pub fn bound(&self) -> usize {
        *self.bound.lock()
    }

    /// Changes the bound. If the new bound is higher, submitters that wait for a permit can continue. If the
    /// new bound is lower, no task loses its permit: more tasks than the new bound can be under way until
    /// enough tasks have ended.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ManualExecutor, prelude::*};
    ///
    /// let bounded = BoundedExecutor::over(ManualExecutor::new(), 1);
    /// bounded.execute(|| ())?;
    /// assert!(bounded.without_waiting().execute(|| ()).is_err());
    /// bounded.set_bound(2);
    /// assert!(bounded.without_waiting().execute(|| ()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `bound` is zero.
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

    /// Returns what this executor is doing, in numbers.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ManualExecutor, prelude::*};
    ///
    /// let bounded = BoundedExecutor::over(ManualExecutor::new(), 3);
    /// bounded.execute(|| ())?;
    /// let stats = bounded.stats();
    /// assert_eq!((stats.under_way, stats.bound, stats.waiting), (1, 3, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> BoundedStats {
        let bound = self.bound.lock(); // held, so that the other numbers belong to this bound
        BoundedStats { under_way: self.permits.with_tasks(), bound: *bound, waiting: self.permits.waiting() }
    }

    /// Returns the underlying executor.
    ///
    /// ```
    /// use executor::{BoundedExecutor, ThreadPoolExecutor};
    ///
    /// let uploads = BoundedExecutor::over(ThreadPoolExecutor::fixed(2), 3);
    /// assert_eq!(uploads.executor().maximum_threads(), 2);
    /// ```
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }

    /// Refuses new submissions, and also the submissions that already wait for a permit.
    fn let_nobody_in(&self) {
        self.inner.life().shutdown();
        self.permits.look_again();
    }

    /// Submits a task, and waits for a permit until the deadline. If `deadline` is `None`, does not wait.
    fn execute_until(&self, task: Task, deadline: Option<Deadline>) -> Result<(), RejectedExecution> {
        match self.permit(deadline) {
            Ok(permit) => self.inner.pass_on(task, |task, member| task.accompanied((permit, member))),
            Err(reason) => Err(RejectedExecution { reason, task }),
        }
    }

    fn permit(&self, deadline: Option<Deadline>) -> Result<TaskPermit, RejectReason> {
        let is_over = || self.inner.life().is_shutdown();
        if is_over() {
            return Err(RejectReason::Shutdown);
        }
        let permit = match deadline {
            None => self.permits.try_acquire().ok_or(RejectReason::Saturated)?,
            Some(deadline) => {
                self.permits.acquire_unless(is_over, deadline)?.ok_or(RejectReason::Shutdown)?
            }
        };
        Ok(permit.for_task())
    }
}

fn assert_not_zero(bound: usize) {
    assert!(bound > 0, "with a bound of zero no task could ever be submitted");
}

impl<E: Executor> Executor for BoundedExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.execute_until(task, Some(Deadline::NEVER))
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

/// A [`BoundedExecutor`] for submitters that wait for a limited time, or not at all: see
/// [`without_waiting`](BoundedExecutor::without_waiting) and
/// [`waiting_at_most`](BoundedExecutor::waiting_at_most).
///
/// ```
/// use executor::{BoundedExecutor, ManualExecutor, prelude::*};
///
/// let bounded = BoundedExecutor::over(ManualExecutor::new(), 1);
/// let impatient = bounded.without_waiting();
/// assert!(impatient.execute(|| ()).is_ok());
/// assert!(impatient.execute(|| ()).is_err()); // no permit is free
/// ```
#[derive(Debug)]
pub struct Impatient<'a, E> {
    timeout: Option<Duration>,
    bounded: &'a BoundedExecutor<E>,
}

impl<E: Executor> Executor for Impatient<'_, E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.bounded.execute_until(task, self.timeout.map(Deadline::after))
    }
}

/// The observer of a task. The observer holds the task's permit, and makes the lifecycle count the task.
impl TaskObserver for (TaskPermit, InFlightTask) {
    fn queued(&self, queue: QueueId) {
        self.0.queued(queue);
        self.1.queued(queue);
    }

    fn dequeued(&self) {
        self.0.dequeued();
        self.1.dequeued();
    }

    fn started(&self) {
        self.0.started();
        self.1.started();
    }

    fn finished(&self, outcome: &Outcome) {
        self.0.finished(outcome);
    }

    fn handed_out(&self) {
        self.1.handed_out();
    }

    fn root(&self) -> Option<&CancelToken> {
        self.1.root()
    }
}

/// Numbers that show what a [`BoundedExecutor`] is doing.
///
/// ```
/// use executor::{BoundedExecutor, DirectExecutor};
///
/// let bounded = BoundedExecutor::over(DirectExecutor, 3);
/// println!("{}", bounded.stats());
/// assert_eq!(bounded.stats().bound, 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BoundedStats {
    /// The number of tasks under way: tasks that wait or run in the underlying executor, and handed-out tasks
    /// that a user still keeps.
    pub under_way: usize,
    /// The bound: the largest number of tasks that can be under way. After `set_bound` has lowered the bound,
    /// more tasks than the bound can be under way for a while.
    pub bound: usize,
    /// The number of submitters that wait for a permit.
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
            .field("executor", self.inner.executor()) // this may call user code, so no lock is held
            .finish()
    }
}
