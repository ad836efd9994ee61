//! What goes along with a task, wherever it goes.
//!
//! An executor that is built on another one has something to do when its task has ended: to give a permit back, to begin the
//! next task. It could wrap the task in one of its own. But then the executor below would have a task with another id and
//! without a name, which cannot be cancelled in its queue, and would hand that out when it is shut down. So the task stays
//! as it is, and is given a companion, which is told where the task is and is dropped when it has been run, or dropped.

use crate::ids::WatcherId;

/// Goes along with a task. It is dropped when the task's body has ended, before its outcome can be seen; or, if the task is
/// dropped, after that.
pub(crate) trait Companion: Send + Sync {
    /// The task is about to wait in this queue. Called under the lock of the queue's owner.
    fn enters(&self, queue: WatcherId);

    /// The task is out of its queue, to be run or to be handed out. Called under the lock of the queue's owner.
    fn leaves(&self);

    /// The task begins, on the calling thread.
    fn begins(&self);
}
