//! What goes along with a task, wherever it goes.
//!
//! An executor that is built on another one has something to do when its task has ended: to give a permit
//! back, to begin the next task. It could wrap the task in one of its own. But then the executor below would
//! have a task with another id and without a name, which cannot be cancelled in its queue, and would hand
//! that out when it is shut down. So the task stays as it is, and is given an observer, which is told where
//! the task is and is dropped when it has been run, or dropped.
//!
//! Executors can be stacked, so a task can have several observers, one around the other. The one of the
//! lowest executor is the outermost: it is given last, and told first.
//!
//! # What an observer is told
//!
//! ```text
//!             ┌───────────────────────────────┐
//!             │                               ▼
//!   given ────┴──▶ enters ──▶ leaves ──┬──▶ begins ──▶ ends ──▶ (the outcome can be seen) ──▶ dropped
//!                                      │      ▲                                                  ▲
//!                                      └──▶ handed_out ──────────────────────────────────────────┘
//! ```
//!
//! A task that is dropped unrun is dropped before its observer, from whichever of these places.

use super::outcome::Outcome;
use crate::cancel::{CancelToken, outside_any_task};
use crate::ids::QueueId;
use crate::panics::discard;

/// Goes along with a task. It is dropped when the task's outcome can be seen; or, if the task is dropped,
/// after that.
pub(crate) trait TaskObserver: Send + Sync {
    /// The task is about to wait in this queue. Called under the lock of the queue's owner.
    fn queued(&self, _queue: QueueId) {}

    /// The task is out of its queue, to be run or to be handed out. Called under the lock of the queue's
    /// owner.
    fn dequeued(&self) {}

    /// The task begins, on the calling thread.
    fn started(&self) {}

    /// The task's body has ended, on the calling thread, and its outcome cannot be seen yet.
    fn finished(&self, _outcome: &Outcome) {}

    /// The task was given to a user, who may run it, drop it, or keep it for ever.
    fn handed_out(&self) {}

    /// A token that is cancelled when the task is to stop, beside the one that the thread has for its tasks.
    /// It tells the observers of different executors apart, too.
    fn root(&self) -> Option<&CancelToken> {
        None
    }
}

/// An observer of a task, and those further in. They are dropped in the order in which they were given.
pub(crate) struct Accompanied<C: ?Sized = dyn TaskObserver> {
    pub(crate) inner: Option<Box<Accompanied>>,
    pub(crate) observer: C,
}

impl Accompanied {
    /// Runs the body of a task, and tells each of its observers with `before_publish` that it has ended.
    /// Each observer is dropped when the outcome can be seen.
    pub(crate) fn run(
        outermost: Option<Box<Self>>,
        body: impl FnOnce(&mut dyn FnMut(&Outcome)) -> Outcome,
        before_publish: &mut dyn FnMut(&Outcome),
    ) -> Outcome {
        let Some(mut this) = outermost else { return body(before_publish) };
        let inner = this.inner.take();
        this.observer.started();
        let ends = &mut |outcome: &Outcome| {
            before_publish(outcome);
            this.observer.finished(outcome);
        };
        let run = || Self::run(inner, body, ends);
        let outcome = match this.observer.root() {
            Some(root) => root.also_above_tasks(run),
            None => run(),
        };
        outside_any_task(|| discard(this)); // it may be the last to have a user's value
        outcome
    }
}
