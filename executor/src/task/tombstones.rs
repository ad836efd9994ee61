//! Counts how many of the tasks in a queue were cancelled.
//!
//! A cancelled task stays in its queue, as a tombstone, until a thread takes it out or clears the queue. A
//! count of waiting tasks must not include it, so tombstones are counted apart. The thread pool and the
//! serial and striped executors count them here.
//!
//! The count can be below zero for a moment: the thread that cancels a task counts it afterwards, and perhaps
//! another thread has taken the task out before.

use super::Task;
use crate::sync::atomic::{AtomicIsize, Ordering};

pub(crate) struct Tombstones {
    count: AtomicIsize,
    /// From this count on, [`has_come`](Self::has_come) asks its caller to look how many tasks wait.
    limit: AtomicIsize,
}

/// Fewer tombstones are not worth the work of clearing them out.
const FEW: isize = 32;

// Relaxed throughout: a lock tells a thread of each cancellation of which it must know.
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

    /// Counts a task that has left its queue, or did not get in. Returns true if it was cancelled in the
    /// queue.
    #[inline]
    pub(crate) fn has_left(&self, task: &Task) -> bool {
        let was_cancelled = task.leave_queue();
        if was_cancelled {
            self.gone();
        }
        was_cancelled
    }

    /// Counts a task that was cancelled in a queue whose length is not known at once. Returns true if perhaps
    /// half of the queue are tombstones: then the caller asks [`are_many`](Self::are_many). So each tombstone
    /// pays a constant share of the looks and of the clearing.
    pub(crate) fn has_come(&self) -> bool {
        self.made() >= self.limit.load(Ordering::Relaxed)
    }

    /// Returns whether the tombstones should be cleared out. `waiting` counts the tasks in the queue, with
    /// the tombstones.
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
