//! Hooks that a pool calls before and after each task, and at its end.

use crate::ids::TaskId;
use crate::task::outcome::Outcome;

/// The description of a task that a hook gets. The tasks of a [`SerialExecutor`](crate::SerialExecutor) or a
/// stripe have no hooks of their own: one *drain task* runs them one after the other, and a hook gets its
/// description. The drain task has an id of its own and no name, and always completes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TaskInfo<'a> {
    /// The task's id, as on its handle.
    pub id: TaskId,
    /// The task's name, if it has a name.
    pub name: Option<&'a str>,
}

/// User code that a pool calls around each task, on the thread that runs the task.
///
/// Use it for logging, timing and statistics, or to prepare and clean up threads. The default methods do
/// nothing.
///
/// Hooks run outside all locks. The pool catches a panic in a hook, and passes it to the [panic
/// handler](crate::panics). The task still runs, its outcome stays the same, and no thread is lost.
#[doc(alias = "beforeExecute")]
#[doc(alias = "afterExecute")]
pub trait Hooks: Send + Sync {
    /// Called when the task is about to be run.
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let _ = task;
    }

    /// Called when the task's body has ended, before the threads that wait for the result are woken. So these
    /// threads see the effects of this method.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let _ = (task, outcome);
    }

    /// Called on a worker thread that has begun and has not taken a task yet.
    fn worker_started(&self) {}

    /// Called on a worker thread that is about to end. The pool no longer counts this thread, so the pool
    /// may already be terminated.
    fn worker_ended(&self) {}

    /// Called once, when the pool has run its last task and all its threads have left; the calling thread
    /// may be a thread of the pool that has not left yet. The pool counts as terminated when this method
    /// has returned.
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
