//! A counter of the cancelled tasks in a queue.
//!
//! A cancelled task stays in its queue, as a tombstone, until a thread takes it out or clears the queue. A
//! count of waiting tasks must not include tombstones, so tombstones have a count of their own. The thread
//! pool, the serial executor and the striped executor count their tombstones.
//!
//! The count can be below zero for a moment. A thread cancels a task first and counts it afterwards. Between
//! the two steps, another thread can take the task out of the queue.

use super::Task;
use crate::sync::atomic::{AtomicIsize, Ordering};

pub(crate) struct Tombstones {
    count: AtomicIsize,
    /// If the count is at least this number, [`has_come`](Self::has_come) asks its caller to check
    /// how many tasks wait.
    limit: AtomicIsize,
}

/// The smallest number of tombstones for which a search of the queue is worth the work.
const FEW: isize = 32;

// All accesses are Relaxed: a thread that must know of a cancellation learns of it under a lock.
impl Tombstones {
    pub(crate) fn new() -> Self {
        Self { count: AtomicIsize::new(0), limit: AtomicIsize::new(FEW) }
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.count.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Counts a task that was cancelled in its queue.
    pub(crate) fn made(&self) -> isize {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a tombstone that has left its queue.
    pub(crate) fn gone(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a task that has left its queue, or that the queue did not accept. Returns true if the task was
    /// cancelled in the queue.
    #[inline]
    pub(crate) fn has_left(&self, task: &Task) -> bool {
        let was_cancelled = task.leave_queue();
        if was_cancelled {
            self.gone();
        }
        was_cancelled
    }

    /// Counts a cancelled task in a queue that cannot tell its length without a lock. Returns true if half of
    /// the tasks in the queue may be tombstones; the caller then calls [`are_many`](Self::are_many). So, on
    /// average, the checks and the clearing cost a constant time for each tombstone.
    pub(crate) fn has_come(&self) -> bool {
        self.made() >= self.limit.load(Ordering::Relaxed)
    }

    /// Returns whether the tombstones should be cleared out. `waiting` returns the number of tasks in the
    /// queue, including the tombstones.
    pub(crate) fn are_many(&self, waiting: impl FnOnce() -> usize) -> bool {
        let count = self.count.load(Ordering::Relaxed);
        if count < FEW {
            return false;
        }
        let half = isize::try_from(waiting() / 2).unwrap_or(isize::MAX);
        let are_many = count >= half;
        self.limit.store(if are_many { FEW } else { FEW.max(half) }, Ordering::Relaxed);
        are_many
    }
}
