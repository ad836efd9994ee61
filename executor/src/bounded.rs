//! A bound on the tasks that are in progress and those that wait, over any executor.
//!
//! A queue's bound limits what waits in one pool. This one limits what one part of a program has under way, in whichever
//! executor, which others may share: a task's permit is taken before it is submitted, and is given back when it has ended. A
//! submitter for which there is none waits, and so is slowed down to the pace of its own tasks.
//!
//! In the classic listing the task is wrapped, and a permit is lost whenever the executor below does not run the wrapper: when
//! it refuses, when it discards, when it is shut down. Here the permit is the task's [companion](crate::companion), which comes
//! to its end in each of these ways.
//!
//! # Invariants
//!
//! 1. A permit is taken for each task under way, and for no other: those given to the executor below that have not ended,
//!    whether they wait, run, or were handed back by `shutdown_now` and are kept.

use std::fmt;

use crate::error::{CutShort, RejectReason};
use crate::executor::{Executor, RejectedExecution};
use crate::semaphore::Semaphore;
use crate::task::Task;

/// Has so many tasks under way at most, in progress or queued, in the executor below. A further submission waits.
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
/// It has no threads and no end of its own. Who joins a task finds its permit given back.
///
/// # Blocking
/// `execute` and `submit` wait for a permit, in the order in which they were called. They fail with
/// [`RejectReason::Interrupted`] if the calling task is cancelled meanwhile, and with [`RejectReason::Starved`] if all
/// permits belong to tasks that cannot go on: such as tasks which submit to it themselves, on a pool none of whose threads
/// is free. What the executor below refuses comes back with its reason, and without its permit.
pub struct BoundedExecutor<E> {
    inner: E,
    bound: usize,
    permits: Semaphore,
}

impl<E: Executor> BoundedExecutor<E> {
    /// Bounds what goes through it to `bound` tasks. Others that use `executor` directly are not counted.
    ///
    /// # Panics
    /// If `bound` is zero: no task could ever be submitted.
    pub fn over(executor: E, bound: usize) -> Self {
        assert!(bound > 0, "with a bound of zero no task could ever be submitted");
        Self { inner: executor, bound, permits: Semaphore::new(bound) }
    }

    /// How many tasks are under way.
    pub fn under_way(&self) -> usize {
        self.bound - self.permits.available_permits()
    }

    /// How many tasks may be under way.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// The executor below.
    pub fn executor(&self) -> &E {
        &self.inner
    }
}

impl<E: Executor> Executor for BoundedExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let permit = match self.permits.acquire() {
            Ok(permit) => permit.for_task(),
            Err(why) => return Err(RejectedExecution { reason: why.into(), task }),
        };
        let refused = self.inner.execute_task(task.accompanied(permit));
        refused.map_err(|RejectedExecution { reason, task }| RejectedExecution { reason, task: task.alone() })
    }
}

impl From<CutShort> for RejectReason {
    fn from(why: CutShort) -> Self {
        match why {
            CutShort::Interrupted(_) => Self::Interrupted,
            CutShort::Starved(starvation) => Self::Starved(starvation),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for BoundedExecutor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let under_way = self.bound - self.permits.available_permits();
        f.debug_struct("BoundedExecutor")
            .field("under_way", &under_way)
            .field("bound", &self.bound)
            .field("executor", &self.inner)
            .finish()
    }
}
