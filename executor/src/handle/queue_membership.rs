//! Notes in which queue a task is, so that the owner of the queue can count the cancelled tasks in it.
//!
//! The owner of a queue counts the cancelled tasks in the queue, and subtracts a task when the task leaves
//! the queue. A cancelled task must not be counted twice. If the task is in the queue when it is cancelled,
//! the thread that cancels the task counts it. If the task was cancelled before it came into the queue, the
//! thread that puts it in counts it. If the task had left the queue before the cancel, no thread counts it.
//! Each thread that cancels, puts in or takes out a task changes one atomic word in one step, and the later
//! thread sees what the earlier thread has done. So no lock is needed.
//!
//! | step | by | finds | does |
//! |---|---|---|---|
//! | [`enter`](QueueMembership::enter) | the thread that puts it in | cancelled | the owner counts it |
//! | [`cancel`](QueueMembership::cancel) | the canceller | in a queue | the owner is told, and counts it |
//! | [`leave`](QueueMembership::leave) | the thread that takes it out | in a queue, cancelled | the owner subtracts it |
//!
//! The word holds the number of a [`QueueId`], not a reference to the queue's owner. The reference count of
//! the owner would go up and down once for each task, and submitters and workers would contend for it.

use crate::ids::QueueId;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The lowest bit is set if the task was cancelled. The bits above it are the number of the queue that the
/// task is in, or zero.
pub(super) struct QueueMembership(AtomicU64);

const CANCELLED: u64 = 1;

// All steps use AcqRel, so that the later of two threads also sees what the earlier thread did
// before its step.
impl QueueMembership {
    pub(super) fn elsewhere() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Notes that the task comes into a queue. Returns false if the task was cancelled before.
    pub(super) fn enter(&self, queue: QueueId) -> bool {
        self.0.fetch_or(queue.number() << 1, Ordering::AcqRel) & CANCELLED == 0
    }

    /// Notes that the task has left its queue. Returns the queue if the task was cancelled in the queue, or
    /// before it came into the queue.
    pub(super) fn leave(&self) -> Option<QueueId> {
        let before = self.0.fetch_and(CANCELLED, Ordering::AcqRel);
        if before & CANCELLED == 0 { None } else { queue_of(before) }
    }

    /// Notes that the task is cancelled, and returns the queue that the task is in. The caller must call this
    /// only once.
    pub(super) fn cancel(&self) -> Option<QueueId> {
        queue_of(self.0.fetch_or(CANCELLED, Ordering::AcqRel))
    }

    /// Returns the queue that the task is in, if the task was not cancelled.
    pub(super) fn queue(&self) -> Option<QueueId> {
        let now = self.0.load(Ordering::Acquire);
        if now & CANCELLED == 0 { queue_of(now) } else { None }
    }
}

fn queue_of(word: u64) -> Option<QueueId> {
    QueueId::from_number(word >> 1)
}
