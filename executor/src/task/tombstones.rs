//! How many of the tasks in a queue were cancelled.
//!
//! A cancelled task stays where it is in its queue, as a tombstone, until it is come upon or cleared out. No
//! count of waiting tasks may include it, so tombstones are counted apart. The thread pool, serial and
//! striped executors count them here.
//!
//! The count may be below zero for a moment: a thread that cancels a task counts it afterwards, and the
//! thread that takes the task out may be quicker.

use super::Task;
use crate::sync::atomic::{AtomicIsize, Ordering};

pub(crate) struct Tombstones {
    count: AtomicIsize,
    /// The count from which on [`has_come`](Self::has_come) asks for a look at how many tasks wait.
    limit: AtomicIsize,
}

/// Fewer are not worth clearing out.
const FEW: isize = 32;

// Relaxed throughout: a thread that must know of a cancellation has heard of it by a lock.
impl Tombstones {
    pub(crate) fn new() -> Self {
        Self { count: AtomicIsize::new(0), limit: AtomicIsize::new(FEW) }
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.count.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Counts a task that is in a queue and was cancelled.
    pub(crate) fn made(&self) -> isize {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Counts a tombstone that has left its queue.
    pub(crate) fn gone(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a task that is out of its queue, or did not get in. True if it was cancelled in there.
    #[inline]
    pub(crate) fn has_left(&self, task: &Task) -> bool {
        let was_cancelled = task.leave_queue();
        if was_cancelled {
            self.gone();
        }
        was_cancelled
    }

    /// Counts a task that was cancelled in a queue whose length is not known at once. True if perhaps half of
    /// what waits are tombstones, as [`are_many`](Self::are_many) tells: so each tombstone pays a constant
    /// share of the looks and of the clearing up.
    pub(crate) fn has_come(&self) -> bool {
        self.made() >= self.limit.load(Ordering::Relaxed)
    }

    /// Whether they are to be cleared out, `waiting` tasks being in the queue, tombstones included.
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
