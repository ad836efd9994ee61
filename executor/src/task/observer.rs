//! Observers of a task: they stay with the task, through all executors and queues.
//!
//! An executor that is built on another executor must act when one of its tasks has ended. For example, the
//! executor gives a permit back, or begins the next task. The first executor must not wrap the task in a task
//! of its own, because the other executor would then get a task with another id and without a name. The other
//! executor also could not cancel the original task in the queue, and would hand out the wrapper after a
//! shutdown. So the task stays as it is and gets an observer, which is told where the task is. The observer
//! is dropped when the task has been run or dropped.
//!
//! Executors can be stacked, so a task can have several observers, each around the previous observer. The
//! executor that runs the task adds its observer last. That observer is the outermost, and is notified first.
//!
//! # What an observer is told
//!
//! ```text
//!             ┌──────────────────────────────────┐
//!             │                                  ▼
//!   given ────┴──▶ queued ──▶ dequeued ──┬──▶ started ──▶ finished ──▶ (outcome visible) ──▶ dropped
//!                                        │       ▲                                              ▲
//!                                        └──▶ handed_out ───────────────────────────────────────┘
//! ```
//!
//! A task that is dropped before it ran, no matter where in this picture, is dropped before its observer.

use super::outcome::Outcome;
use crate::cancel::{CancelToken, outside_any_task};
use crate::ids::QueueId;
use crate::panics::discard;

/// An object that is notified when its task enters a queue, leaves a queue, begins and ends. After a run of
/// the task, the observer is dropped as soon as the task's outcome can be seen. If the task is dropped before
/// it ran, the observer is dropped after the task.
pub(crate) trait TaskObserver: Send + Sync {
    /// Called under the lock of the queue's owner, before the task waits in this queue.
    fn queued(&self, _queue: QueueId) {}

    /// Called under the lock of the queue's owner, when the task has left its queue to be run or handed out.
    fn dequeued(&self) {}

    /// Called when the task begins, on the thread that runs the task.
    fn started(&self) {}

    /// Called on the thread that has run the body, when the body has ended and no thread can see the outcome
    /// yet.
    fn finished(&self, _outcome: &Outcome) {}

    /// Called when the task is given to a user, who may run it, drop it, or keep it for any length of time.
    fn handed_out(&self) {}

    /// Returns a second token that can stop the task; the first token is the token that the thread has for
    /// its tasks. The returned token also identifies the executor to which the observer belongs.
    fn root(&self) -> Option<&CancelToken> {
        None
    }
}

/// An observer of a task, wrapped around the observers that the task got before. The observers are dropped in
/// the order in which they were given.
pub(crate) struct Accompanied<C: ?Sized = dyn TaskObserver> {
    pub(crate) inner: Option<Box<Accompanied>>,
    pub(crate) observer: C,
}

impl Accompanied {
    /// Tells each observer that the task begins, runs the body, calls `before_publish`, and tells each
    /// observer that the body has ended. Drops each observer when the outcome can be seen.
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
        outside_any_task(|| discard(this)); // perhaps it has the last reference to a user's value
        outcome
    }
}
