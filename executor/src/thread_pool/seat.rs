//! What a worker is doing: its seat, which it alone writes.
//!
//! Counts that all workers wrote would be a cache line for which they fight, task by task. So each worker counts on its
//! own, and who wants to know adds the seats up, under the lock of the state and while the run is frozen: then no task
//! begins, and since ends are counted one by one, the sum is what was true at some moment of the adding.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::task::{Task, TaskId, TaskLabel};

/// Counters that only go up. They outlive the worker: the next one in the seat counts on.
#[repr(align(128))] // so that no two workers write to the same cache line, or to two that are fetched together
#[derive(Default)]
pub(super) struct Seat {
    /// Claims that are noted here: each as begun, or as found to be cancelled.
    noted: AtomicU64,
    begun: AtomicU64,
    completed: AtomicU64,
    /// The number of the task that was begun last. It runs if more are begun than completed.
    task: AtomicU64,
    /// What the task is called that was begun last of those with a name. Most have none, and need no lock.
    named: Mutex<Option<TaskLabel>>,
}

impl Seat {
    /// The worker has taken a task and will run it.
    #[inline]
    pub(super) fn begin(&self, task: &Task) {
        if task.name().is_some() {
            *self.named.lock() = Some(task.label());
        }
        self.task.store(task.id().number(), Ordering::Relaxed); // the count publishes it
        add_one(&self.begun);
    }

    /// A claim has been seen to: the task is begun, or will not be.
    #[inline]
    pub(super) fn note_claim(&self) {
        add_one(&self.noted);
    }

    /// The task has ended.
    #[inline]
    pub(super) fn complete(&self) {
        add_one(&self.completed);
    }

    /// The worker unwinds: its task has neither completed nor does it run.
    pub(super) fn abandon(&self) {
        self.begun.store(self.completed(), Ordering::Release);
    }

    pub(super) fn noted(&self) -> u64 {
        self.noted.load(Ordering::Acquire)
    }

    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    pub(super) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// The task that runs, if one does.
    pub(super) fn running(&self) -> Option<TaskLabel> {
        if self.begun() == self.completed() {
            return None;
        }
        let id = TaskId::from_number(self.task.load(Ordering::Relaxed));
        let named = self.named.lock().clone().filter(|label| label.id() == id);
        Some(named.unwrap_or_else(|| TaskLabel::unnamed(id)))
    }
}

/// Not an atomic addition, which would cost more: nobody else writes it.
#[inline]
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}
