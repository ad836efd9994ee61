//! Whether a task is in a queue that keeps count of those that were cancelled in it.
//!
//! A queue's owner counts what was cancelled while it waited there, and counts it off again when it leaves.
//! So of each task exactly one party has to count it: the one that cancels it, if it is in the queue by then;
//! or the one that puts it there, if it was cancelled before; or none, if it was out again. All three change
//! the one word here in one step each, and whoever comes second sees what the other has done. No lock is
//! needed.
//!
//! | step | by | finds | does |
//! |---|---|---|---|
//! | [`enter`](QueueMembership::enter) | who puts it in | cancelled | the queue's owner counts it |
//! | [`cancel`](QueueMembership::cancel) | who cancels it | in a queue | the queue's owner is told, and counts it |
//! | [`leave`](QueueMembership::leave) | who takes it out | in a queue and cancelled | the queue's owner counts it off |
//!
//! The queue is known by the number of its [queue owner](QueueId). A reference would have to be counted, for
//! each task once up and once down, and the threads that submit and those that run would fight for that
//! count.

use crate::ids::QueueId;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The lowest bit says whether the task was cancelled, those above it in which queue it is; none if it is in
/// none.
pub(super) struct QueueMembership(AtomicU64);

const CANCELLED: u64 = 1;

// AcqRel throughout: whoever comes second also sees what the first has done before.
impl QueueMembership {
    pub(super) fn elsewhere() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The task comes into a queue. False if it was cancelled before.
    pub(super) fn enter(&self, queue: QueueId) -> bool {
        self.0.fetch_or(queue.number() << 1, Ordering::AcqRel) & CANCELLED == 0
    }

    /// The task is out of its queue. Gives the queue if the task was cancelled in there, or before it came
    /// there.
    pub(super) fn leave(&self) -> Option<QueueId> {
        let before = self.0.fetch_and(CANCELLED, Ordering::AcqRel);
        if before & CANCELLED == 0 { None } else { queue_of(before) }
    }

    /// The task is cancelled: gives the queue in which it is. Called once.
    pub(super) fn cancel(&self) -> Option<QueueId> {
        queue_of(self.0.fetch_or(CANCELLED, Ordering::AcqRel))
    }

    /// The queue in which the task is, if it was not cancelled.
    pub(super) fn queue(&self) -> Option<QueueId> {
        let now = self.0.load(Ordering::Acquire);
        if now & CANCELLED == 0 { queue_of(now) } else { None }
    }
}

fn queue_of(word: u64) -> Option<QueueId> {
    QueueId::from_number(word >> 1)
}
