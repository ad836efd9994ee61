//! A record of a task's queue, so that the owner of the queue can count the cancelled tasks in the queue.
//!
//! The owner of a queue counts the cancelled tasks in the queue, and subtracts a task from this count when
//! the task leaves the queue. A cancelled task must not be counted twice. If the task is in the queue when it
//! is cancelled, the thread that cancels the task also counts the task. If the task was cancelled before it
//! was put into the queue, the thread that puts the task into the queue counts the task. If the task left the
//! queue before the cancellation, no thread counts the task. Each of the three steps (put in, cancel, take
//! out) changes one atomic word in one operation, and sees the earlier steps. So no lock is needed.
//!
//! | step | the thread | if it finds the task | then |
//! |---|---|---|---|
//! | [`enter`](QueueMembership::enter) | puts the task in | cancelled | the owner counts the task |
//! | [`cancel`](QueueMembership::cancel) | cancels the task | in a queue | the owner is told, and counts the task |
//! | [`leave`](QueueMembership::leave) | takes the task out | in a queue, cancelled | the owner subtracts the task |
//!
//! The word contains the number of a [`QueueId`], not a reference to the queue's owner. A reference would be
//! slow: each task would increase and decrease the owner's reference count, and submitters and workers would
//! contend for this count.

use crate::ids::QueueId;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The lowest bit is set if the task was cancelled. The other bits are the number of the task's queue, or
/// zero.
pub(super) struct QueueMembership(AtomicU64);

const CANCELLED: u64 = 1;

// All steps use AcqRel. So the thread of a later step sees everything that the thread of an earlier step did
// before the earlier step.
impl QueueMembership {
    pub(super) fn elsewhere() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Records that the task is put into a queue. Returns false if the task was cancelled before.
    pub(super) fn enter(&self, queue: QueueId) -> bool {
        self.0.fetch_or(queue.number() << 1, Ordering::AcqRel) & CANCELLED == 0
    }

    /// Records that the task has left its queue. Returns the queue if the task was cancelled before it left
    /// the queue.
    pub(super) fn leave(&self) -> Option<QueueId> {
        let before = self.0.fetch_and(CANCELLED, Ordering::AcqRel);
        if before & CANCELLED == 0 { None } else { queue_of(before) }
    }

    /// Records that the task is cancelled, and returns the task's queue. Must be called only once.
    pub(super) fn cancel(&self) -> Option<QueueId> {
        queue_of(self.0.fetch_or(CANCELLED, Ordering::AcqRel))
    }

    /// Returns the task's queue, if the task was not cancelled.
    pub(super) fn queue(&self) -> Option<QueueId> {
        let now = self.0.load(Ordering::Acquire);
        if now & CANCELLED == 0 { queue_of(now) } else { None }
    }
}

fn queue_of(word: u64) -> Option<QueueId> {
    QueueId::from_number(word >> 1)
}
