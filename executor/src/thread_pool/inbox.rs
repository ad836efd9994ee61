//! The short way in: where submitters leave tasks while nobody has to be woken.
//!
//! If each submission took the lock of the state, submitters and workers would fight for it task by task. Most of the time
//! there is nothing to decide: the pool runs, it has its threads, none of them has to be woken, and the queue has room.
//! Then a task is left in the inbox, behind a lock of its own. A worker that finds nothing else makes a run of all that is
//! here, in one step. Only a pool with a [`FifoQueue`](crate::FifoQueue) has an inbox, since only there the order stays
//! the same.
//!
//! The inbox is open while it has `room`. A submitter that came the long way opens it if it finds that there would have
//! been nothing to decide. It puts its own task here, too, so that the queue is used only for what was recalled. A thread
//! that makes that untrue closes it, under the lock of the state: a submitter that has to decide, a worker that is about
//! to sleep or leaves, a factory's caller whose thread does not come, a setter, a shutdown.
//!
//! # Invariants
//!
//! 1. The lock of the state comes before that of the inbox.
//! 2. While it is open, the pool is running, has all the threads that it starts before it queues, and either none of them
//!    sleeps or one is searching. A worker looks here, and closes it, before it sleeps.
//! 3. What is in it is younger than what is in the run and in the queue.
//! 4. It never has more room than the queue would have, with all of them in it. So a bound is a bound.

use super::run::Slot;
use crate::sync::atomic::{AtomicIsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::{Task, WatcherId};

pub(super) struct Inbox(Mutex<Tray>);

/// What is in the inbox, in the order in which it came.
pub(super) struct Tray {
    slots: Vec<Slot>,
    /// How many tasks may still be left here by the short way; none while it is closed.
    room: usize,
}

impl Inbox {
    /// Makes one that is closed.
    pub(super) fn new() -> Self {
        Self(Mutex::new(Tray { slots: Vec::new(), room: 0 }))
    }

    /// Leaves a task here, or gives it back if the inbox is closed.
    #[inline]
    pub(super) fn offer(&self, task: Task, watcher: WatcherId, tombstones: &AtomicIsize) -> Result<(), Task> {
        let mut tray = self.0.lock();
        if tray.room == 0 {
            return Err(task);
        }
        tray.room -= 1;
        if !task.enter_queue(watcher) {
            tombstones.fetch_add(1, Ordering::Relaxed); // it was cancelled before it could tell us
        }
        tray.slots.push(Slot::new(task));
        Ok(())
    }

    /// What is here. While the tray is held, nothing comes in.
    pub(super) fn lock(&self) -> MutexGuard<'_, Tray> {
        self.0.lock()
    }
}

impl Tray {
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Lets nothing more in by the short way.
    pub(super) fn close(&mut self) {
        self.room = 0;
    }

    /// Lets as many tasks in as there is room for.
    pub(super) fn open(&mut self, room: usize) {
        self.room = room;
    }

    /// Puts in a task that came the long way.
    pub(super) fn put(&mut self, task: Task) {
        self.slots.push(Slot::new(task));
    }

    /// Changes what is here for an empty list.
    pub(super) fn empty_into(&mut self, empty: &mut Vec<Slot>) {
        std::mem::swap(&mut self.slots, empty);
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Task> {
        self.slots.drain(..).map(Slot::into_task)
    }

    /// Gives back the memory that a burst needed.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.slots.is_empty() && self.slots.capacity() > kept {
            self.slots = Vec::new();
        }
    }
}
