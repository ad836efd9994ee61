//! What a pool calls before and after each task, and when it is over.

use crate::ids::TaskId;
use crate::task::outcome::Outcome;

/// The task that a hook is told of. For the tasks of a [`SerialExecutor`](crate::SerialExecutor), or of a
/// stripe, it is the one that runs them, one after the other: it has an id of its own and no name, and always
/// completes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TaskInfo<'a> {
    /// The task's id, which its handle has too.
    pub id: TaskId,
    /// Its name, if it has one.
    pub name: Option<&'a str>,
}

/// Called by a pool around each task, by the thread that runs it.
///
/// For logging, timing, statistics, and for setting up and cleaning up what tasks find on their thread. All
/// methods do nothing unless they are overridden.
///
/// Hooks run outside all locks. A panic in one is contained: the task it belongs to runs, its outcome stands,
/// no thread is lost, and the panic goes to the [panic handler](crate::panics).
#[doc(alias = "beforeExecute")]
#[doc(alias = "afterExecute")]
pub trait Hooks: Send + Sync {
    /// The task is about to be run.
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let _ = task;
    }

    /// The task's body has ended. Threads that wait for its result have not been told yet, so what this
    /// method does is visible to them.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let _ = (task, outcome);
    }

    /// A worker thread has begun and not taken a task yet. Called on that thread.
    fn worker_started(&self) {}

    /// A worker thread is about to end. Called on that thread, after it has left the pool's count, so the
    /// pool may be terminated by then.
    fn worker_ended(&self) {}

    /// The pool has run its last task and its threads are gone, except the one that calls this. Called once.
    /// The pool counts as terminated when this has returned.
    fn terminated(&self) {}
}

impl<H: Hooks + ?Sized> Hooks for crate::sync::Arc<H> {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        (**self).before_execute(task);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        (**self).after_execute(task, outcome);
    }

    fn worker_started(&self) {
        (**self).worker_started();
    }

    fn worker_ended(&self) {
        (**self).worker_ended();
    }

    fn terminated(&self) {
        (**self).terminated();
    }
}
