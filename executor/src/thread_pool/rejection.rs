//! The saturation policies, which decide about a task for which the pool has no room.
//!
//! | policy | the task | the submitter |
//! |---|---|---|
//! | [`Abort`] | comes back in the error | decides |
//! | [`CallerRuns`] | is run by the submitter | is slowed down to the pool's pace |
//! | [`Block`] | waits, with its submitter, for room | is slowed down to the pool's pace |
//! | [`Discard`] | is dropped, its handle cancelled | does not notice |
//! | [`DiscardOldest`] | takes the place of the task that would have been next | does not notice |
//! | your own | [`RejectionHandler`] | – |
//!
//! The pool also calls the policy for tasks that are submitted after its shutdown.

use std::fmt;

use crate::executor::RejectedExecution;
use crate::sync::{Arc, Duration};
use crate::task::Task;
use crate::waiting::error::RejectReason;
use crate::waiting::wait::Deadline;

/// Decides about a task that a pool has refused.
///
/// The submitter calls the handler once for each refused task, outside all locks. The handler may block if
/// the submitters may block.
#[doc(alias = "RejectedExecutionHandler")]
// ANCHOR: handler
pub trait RejectionHandler: Send + Sync {
    /// Decides about a refused task: runs it, drops it, passes it on, submits it again, or returns it in the
    /// error.
    ///
    /// # Errors
    /// The error that `execute` returns to the submitter.
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution>;
}
// ANCHOR_END: handler

/// The methods of a pool that a handler can call, by way of [`RefusingPool`]. This is a trait because the
/// pool, which has a handler among its settings, is defined further down.
pub(super) trait Refuser: Send + Sync {
    fn is_shutdown(&self) -> bool;
    fn try_execute(&self, task: Task) -> Result<(), RejectedExecution>;
    fn execute_when_room(&self, task: Task, deadline: Deadline) -> Result<(), RejectedExecution>;
    fn run_here(&self, task: Task);
    fn take_next(&self) -> Option<Task>;
}

/// The view of a pool that a [`RejectionHandler`] gets.
pub struct RefusingPool<'a>(pub(super) &'a dyn Refuser);

impl RefusingPool<'_> {
    /// Returns whether the pool was shut down. In that case it accepts no more tasks.
    pub fn is_shutdown(&self) -> bool {
        self.0.is_shutdown()
    }

    /// Submits the task once more, without a second call of the handler.
    ///
    /// # Errors
    /// Returns the task if there is still no room.
    pub fn try_execute(&self, task: Task) -> Result<(), RejectedExecution> {
        self.0.try_execute(task)
    }

    /// Waits until there is room, and then submits the task.
    ///
    /// # Errors
    /// [`RejectReason::TimedOut`] if there is no room within `timeout`. [`RejectReason::Interrupted`] if the
    /// submitting task is cancelled while it waits. [`RejectReason::Shutdown`] if the pool is shut down
    /// during the wait. [`RejectReason::Starved`] if there is no `timeout`, and every thread that could make
    /// room waits, too.
    ///
    /// # Blocking
    /// Blocks. If a task of the same pool calls this method, it occupies a thread that could make room.
    pub fn execute_when_room(&self, task: Task, timeout: Option<Duration>) -> Result<(), RejectedExecution> {
        self.0.execute_when_room(task, timeout.map_or(Deadline::NEVER, Deadline::after))
    }

    /// Runs the task on the calling thread, without the pool's hooks and counts. A panic in the task goes to
    /// the pool's panic handler if no client reads it from a handle.
    pub fn run_here(&self, task: Task) {
        self.0.run_here(task);
    }

    /// Takes the task that would run next out of the queue.
    pub fn take_next(&self) -> Option<Task> {
        self.0.take_next()
    }
}

impl fmt::Debug for RefusingPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusingPool").field("is_shutdown", &self.is_shutdown()).finish_non_exhaustive()
    }
}

impl<H: RejectionHandler + ?Sized> RejectionHandler for Arc<H> {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        (**self).rejected(refused, pool)
    }
}

/// Gives the task back in the error. This is the default policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abort;

impl RejectionHandler for Abort {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        Err(refused)
    }
}

/// Makes the submitter run the task. Meanwhile the submitter submits no other task, so the source of an
/// overload is slowed down. After a shutdown of the pool, the task is dropped.
///
/// While the task runs, its current token is a child of the submitter's token.
///
/// If a task that runs in this way submits a task to the same full pool, the second task runs inside the
/// first, like a called function. The stack must have room for all tasks that run inside each other.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallerRuns;

// ANCHOR: caller_runs
impl RejectionHandler for CallerRuns {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        if !pool.is_shutdown() {
            pool.run_here(refused.task);
        }
        Ok(())
    }
}
// ANCHOR_END: caller_runs

/// Drops the task. Its handle is completed as cancelled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl RejectionHandler for Discard {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        drop(refused);
        Ok(())
    }
}

/// Drops the task that would run next, and tries again with the new task. After a shutdown of the pool, the
/// new task is dropped.
///
/// With a [`PriorityQueue`](crate::PriorityQueue) this drops the **most important** waiting task. Do not
/// combine the two.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiscardOldest;

// ANCHOR: discard_oldest
impl RejectionHandler for DiscardOldest {
    fn rejected(
        &self,
        mut refused: RejectedExecution,
        pool: &RefusingPool<'_>,
    ) -> Result<(), RejectedExecution> {
        while !pool.is_shutdown() {
            let nothing_to_discard = pool.take_next().is_none();
            refused = match pool.try_execute(refused.task) {
                Ok(()) => return Ok(()),
                // Without a task to discard, or without a thread, the loop would never end.
                Err(again) if nothing_to_discard || matches!(again.reason, RejectReason::NoThread(_)) => {
                    return Err(again);
                }
                Err(again) => again,
            };
        }
        Ok(())
    }
}
// ANCHOR_END: discard_oldest

/// Makes the submitter wait until there is room.
///
/// The pool tells waiting submitters of room one at a time, in the order in which they came. A thread that
/// submits a task at that moment may take the free place first. So a submitter can wait for ever, but only
/// if new submitters never stop arriving.
///
/// A task that waits for room in its own pool occupies a thread that could make room. If all threads of the
/// pool wait in this way, one of the submitters gets its task back, with [`RejectReason::Starved`].
///
/// `java.util.concurrent` has no such policy. Its users usually write a handler that calls `put` on the
/// queue. Such a handler also puts a task into the queue of a pool that was just shut down, and the task is
/// lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    timeout: Option<Duration>,
}

impl Block {
    /// Makes a policy without a time limit.
    pub fn new() -> Self {
        Self { timeout: None }
    }

    /// Makes a policy that waits for at most `timeout`; then the task comes back in the error.
    pub fn for_at_most(timeout: Duration) -> Self {
        Self { timeout: Some(timeout) }
    }
}

// ANCHOR: block
impl RejectionHandler for Block {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        match refused.reason {
            RejectReason::Saturated => pool.execute_when_room(refused.task, self.timeout),
            _ => Err(refused),
        }
    }
}
// ANCHOR_END: block
