//! The counts of tasks that were refused or cancelled, or have panicked.
//!
//! If a worker has taken a task, the worker counts the task when it ends, under the lock of the state,
//! together with the count of completed tasks: see [`Failures`]. If no worker has taken a task, its submitter
//! or its canceller counts the task: see [`NeverTaken`].
//!
//! A task can be cancelled at the moment when the queue refuses it. The canceller then counts the task as
//! cancelled in the queue, and the submitter subtracts the task from this count again. Either of the two
//! threads may act first, so a count can be below zero for a moment.

use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use crate::task::outcome::Outcome;

/// The counts of tasks that a thread has taken and that panicked or were cancelled, as a part of the pool's
/// state.
#[derive(Default)]
pub(super) struct Failures {
    pub(super) panicked: u64,
    pub(super) cancelled: u64,
    /// The number of cancelled tasks whose deadline had passed.
    pub(super) timed_out: u64,
}

impl Failures {
    pub(super) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => {}
            Outcome::Panicked(_) => self.panicked += 1,
            Outcome::Cancelled(why) => {
                self.cancelled += 1;
                self.timed_out += u64::from(kind_of(why) == CancelKind::Deadline);
            }
        }
    }
}

/// The counts of the tasks that no thread of the pool has taken.
// All accesses are Relaxed, because the counts of cancelled tasks change under the lock of the state or of
// the inbox, and a thread that adds them up holds both locks.
pub(super) struct NeverTaken {
    refused: AtomicU64,
    cancelled: AtomicI64,
    timed_out: AtomicI64,
}

impl NeverTaken {
    pub(super) fn new() -> Self {
        Self { refused: AtomicU64::new(0), cancelled: AtomicI64::new(0), timed_out: AtomicI64::new(0) }
    }

    /// Counts a task that goes to the rejection handler.
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a task that was cancelled in the queue.
    pub(super) fn cancelled(&self, by: CancelKind) {
        self.add(1, by);
    }

    /// Takes a cancelled task out of the count, because the queue has refused the task.
    pub(super) fn was_refused(&self, by: CancelKind) {
        self.add(-1, by);
    }

    fn add(&self, number: i64, by: CancelKind) {
        self.cancelled.fetch_add(number, Ordering::Relaxed);
        if by == CancelKind::Deadline {
            self.timed_out.fetch_add(number, Ordering::Relaxed);
        }
    }

    /// Returns how many tasks were refused, how many were cancelled in the queue, and how many of the
    /// cancelled tasks were cancelled by a deadline.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let [cancelled, timed_out] = [&self.cancelled, &self.timed_out]
            .map(|count| u64::try_from(count.load(Ordering::Relaxed)).unwrap_or(0));
        (self.refused.load(Ordering::Relaxed), cancelled, timed_out)
    }
}

/// Returns what has cancelled the task: a request, a deadline or a stop of the pool. A task that has stopped
/// without a request counts as cancelled by a request.
pub(super) fn kind_of(cancelled: &Cancelled) -> CancelKind {
    cancelled.reason().map_or(CancelKind::Requested, CancelReason::kind)
}
