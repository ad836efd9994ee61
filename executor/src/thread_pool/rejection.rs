//! What happens to a task that the pool has no room for: the saturation policies.
//!
//! | policy | the task | the submitter |
//! |---|---|---|
//! | [`Abort`] | comes back in the error | decides |
//! | [`CallerRuns`] | is run by the submitter | is slowed down to the pool's pace |
//! | [`Block`] | waits, with its submitter, for room | is slowed down likewise |
//! | [`Discard`] | is dropped, its handle cancelled | does not notice |
//! | [`DiscardOldest`] | takes the place of the one that would have been next | does not notice |
//! | your own | [`RejectionHandler`] | – |
//!
//! The policy also hears of tasks that are submitted after the pool was shut down.

use std::fmt;

use crate::executor::RejectedExecution;
use crate::sync::{Arc, Duration};
use crate::task::Task;
use crate::waiting::error::RejectReason;
use crate::waiting::wait::Deadline;

/// Decides what becomes of a task that a pool has refused.
///
/// Called once for each refused task, by the thread that submits it, outside all locks; it may block, if its
/// submitters can bear that.
#[doc(alias = "RejectedExecutionHandler")]
// ANCHOR: handler
pub trait RejectionHandler: Send + Sync {
    /// Runs the task, drops it, passes it on, tries again, or gives it back: then the refusal is the error.
    ///
    /// # Errors
    /// What `execute` returns to the submitter.
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution>;
}
// ANCHOR_END: handler

/// What a pool can do for a handler about a task that it has refused. Each is the method of [`RefusingPool`]
/// of the same name. A trait, because pools come further down: they have a handler among their settings.
pub(super) trait Refuser: Send + Sync {
    fn is_shutdown(&self) -> bool;
    fn try_execute(&self, task: Task) -> Result<(), RejectedExecution>;
    fn execute_when_room(&self, task: Task, deadline: Deadline) -> Result<(), RejectedExecution>;
    fn run_here(&self, task: Task);
    fn take_next(&self) -> Option<Task>;
}

/// The pool, as far as a [`RejectionHandler`] may have a hand in it.
pub struct RefusingPool<'a>(&'a dyn Refuser);

impl<'a> RefusingPool<'a> {
    pub(super) fn new(pool: &'a dyn Refuser) -> Self {
        Self(pool)
    }
}

impl RefusingPool<'_> {
    /// Whether the pool is shut down, so that it will not accept anything again.
    pub fn is_shutdown(&self) -> bool {
        self.0.is_shutdown()
    }

    /// Tries once more, without calling the handler again.
    ///
    /// # Errors
    /// The task, if there still is no room.
    pub fn try_execute(&self, task: Task) -> Result<(), RejectedExecution> {
        self.0.try_execute(task)
    }

    /// Waits until there is room and executes the task then.
    ///
    /// # Errors
    /// [`RejectReason::TimedOut`] if `timeout` is over before; [`RejectReason::Interrupted`] if the
    /// submitting task is cancelled while it waits; [`RejectReason::Shutdown`] if the pool is shut down
    /// meanwhile; [`RejectReason::Starved`] if there is no `timeout`, and every thread that could make room
    /// waits, too.
    ///
    /// # Blocking
    /// Blocks. A task of this very pool that waits here keeps a thread that could make room.
    pub fn execute_when_room(&self, task: Task, timeout: Option<Duration>) -> Result<(), RejectedExecution> {
        self.0.execute_when_room(task, timeout.map_or(Deadline::NEVER, Deadline::after))
    }

    /// Runs the task on the calling thread, without the pool's hooks and counts. A panic in it goes to the
    /// pool's panic handler if nobody reads it from a handle.
    pub fn run_here(&self, task: Task) {
        self.0.run_here(task);
    }

    /// Takes the task that would have been run next out of the queue.
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

/// Gives the task back in the error: the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abort;

impl RejectionHandler for Abort {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        Err(refused)
    }
}

/// Has the submitter run the task. While it does, it submits nothing else, so the overload moves to where it
/// comes from. Once the pool is shut down the task is dropped.
///
/// While it runs, the task's current token is a child of the submitter's.
///
/// A task that the submitter runs and that submits another one to the same full pool has it run on top of
/// itself, as a function calls a function: the stack has to bear as many as there are inside each other.
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

/// Drops the task; its handle is completed as cancelled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl RejectionHandler for Discard {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        drop(refused);
        Ok(())
    }
}

/// Drops the task that would have been run next and tries again with the new one. Once the pool is shut down
/// the new one is dropped.
///
/// With a [`PriorityQueue`](crate::PriorityQueue) this throws away the **most important** task that waits:
/// the two do not go together.
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
                // Without a queue to make room in, or without a thread, trying again would never end.
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

/// Has the submitter wait until there is room.
///
/// Submitters that wait are told of room in the order in which they came, one at a time. A thread that
/// submits at that moment may take the free place first. A waiter starves only if new submitters never stop
/// arriving.
///
/// A task that submits to its own pool keeps a thread that could make room. If all threads of the pool are
/// kept so, one of the submitters gets its task back, with [`RejectReason::Starved`].
///
/// `java.util.concurrent` has nothing like it, and the usual substitute, a handler that calls `put` on the
/// queue, loses tasks that are put into the queue of a pool that has just been shut down.
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    timeout: Option<Duration>,
}

impl Block {
    /// Waits as long as it takes.
    pub fn new() -> Self {
        Self { timeout: None }
    }

    /// Waits for `timeout` at most; then the task comes back in the error.
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
