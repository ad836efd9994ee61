//! The short way in: where submitters leave tasks while nobody has to be woken.
//!
//! If each submission took the lock of the state, submitters and workers would fight for it task by task. Most of the
//! time there is nothing to decide: the pool runs, it has its threads, none of them has to be woken, and the queue has
//! room. Then a task is left in the inbox, behind a lock of its own. A worker that finds nothing else makes a batch of
//! the oldest of what is here, in one step. Only a pool with a [`FifoQueue`](crate::FifoQueue) uses its inbox, since
//! only there the order stays the same.
//!
//! # Pieces
//!
//! What is here lies in pieces of [`PIECE`] tasks, and a batch is made of one of them. If it were made of all at once, a
//! long list would be claimed task by task while another as long grows beside it: twice the memory, all of it new to the
//! processor's caches. A piece that was used up is filled again soon.
//!
//! # Open and closed
//!
//! The inbox is open while it has `room`. A submitter that came the long way opens it if it finds that there would have
//! been nothing to decide. It puts its own task here, too, so that the queue is used only for what was reclaimed. A worker
//! that searches opens it as well. A thread that makes that untrue closes it, under the lock of the state:
//!
//! | who closes it | because the next submitter has to |
//! |---|---|
//! | a submitter that has to decide | decide, too, until that one has opened it again |
//! | a worker that is about to sleep, or wakes another one | wake a worker |
//! | a worker that leaves, a thread that does not come, a setter | start a thread |
//! | a shutdown | be refused |
//!
//! # Invariants
//!
//! 1. The lock of the state comes before that of the inbox. A thread that opens, closes or empties the inbox holds both.
//! 2. While it is open, the pool is running, has all the threads that it starts before it queues, and either none of them
//!    sleeps or one is searching. A worker looks here, and closes it, before it sleeps.
//! 3. What is in it is younger than what is in the batch and in the queue.
//! 4. It never has more room than the queue would have, with all of them in it. So a bound is a bound.

use std::collections::VecDeque;

use super::batch::{Batch, TaskSlot};
use super::queue::WorkQueue;
use super::queue::sealed::Ours;
use super::state::PoolData;
use crate::executor::PoolState;
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::task::Task;

#[repr(align(128))] // so that submitters do not take the cache lines away that workers read for each task
pub(super) struct Inbox {
    /// The queue is first in, first out, so that tasks may come through the inbox and be claimed from a batch.
    in_use: bool,
    tray: Mutex<InboxState>,
}

/// How many tasks are in a piece: enough that making a batch of it costs each of them next to nothing, and few enough that it
/// stays in the caches. Under the models few make more than one piece.
const PIECE: usize = if cfg!(any(feature = "loom", feature = "shuttle")) { 2 } else { 512 };

/// What is in the inbox, in the order in which it came.
#[derive(Default)]
#[repr(C)] // what a push touches comes first, and lies in one cache line with the lock
pub(super) struct InboxState {
    /// How many tasks may still be left here by the short way; none while it is closed.
    room: usize,
    /// The piece that is being filled: the youngest tasks.
    slots: Vec<TaskSlot>,
    /// Pieces that are full, the oldest first.
    full: VecDeque<Vec<TaskSlot>>,
    /// Pieces that were used up.
    empty: Vec<Vec<TaskSlot>>,
}

impl Inbox {
    /// Makes one that is closed.
    pub(super) fn new(in_use: bool) -> Self {
        Self { in_use, tray: Mutex::default() }
    }

    pub(super) fn in_use(&self) -> bool {
        self.in_use
    }

    /// Leaves a task here, or gives it back if the inbox is closed. `enter` is called before the task can be seen.
    #[inline]
    pub(super) fn try_push(&self, task: Task, enter: impl FnOnce(&Task)) -> Result<(), Task> {
        let mut tray = self.tray.lock();
        if tray.room == 0 {
            return Err(task);
        }
        tray.room -= 1;
        enter(&task);
        tray.push(task);
        Ok(())
    }

    /// Puts in a task that came the long way.
    pub(super) fn push(&self, task: Task) {
        self.tray.lock().push(task);
    }

    /// Lets the next task come the short way if there would be nothing to decide. The inbox is closed before.
    pub(super) fn open(&self, state: &mut PoolData) {
        // Only threads that are there count: one that was ordered may not come.
        let has_its_threads = state.live >= state.settings.grows_to().max(1);
        let need_not_wake = state.idle == 0 || state.searching;
        if state.phase == PoolState::Running && has_its_threads && need_not_wake && self.in_use {
            let room = self.room(state);
            self.tray.lock().room = room;
        }
    }

    /// Makes submitters come to the state again. True if there are tasks in the queue, the batch or the inbox.
    pub(super) fn close(&self, state: &PoolData) -> bool {
        if !self.in_use {
            return false;
        }
        let mut tray = self.tray.lock();
        tray.room = 0;
        tray.len() + state.unclaimed() > 0
    }

    /// How many more tasks a queue of ours takes.
    pub(super) fn room(&self, state: &mut PoolData) -> usize {
        let elsewhere = self.tray.lock().len() + state.batches.remaining();
        state.queue.as_fifo(Ours).map_or(0, |queue| queue.room().saturating_sub(elsewhere))
    }

    /// How many tasks are in the queue, the batch and the inbox. Nothing comes in while this looks, so that it was so at
    /// the moment in which it looked at the batch.
    pub(super) fn waiting(&self, state: &PoolData) -> usize {
        let tray = self.tray.lock();
        tray.len() + state.unclaimed()
    }

    /// Sees to it that there is a batch to claim from, if anything waits that can be claimed.
    pub(super) fn refill<'a>(&self, state: &'a mut PoolData) -> Option<&'a Arc<Batch>> {
        if !self.in_use {
            return None;
        }
        if state.batches.remaining() == 0
            && let Some(queue) = state.queue.as_fifo(Ours)
        {
            if queue.is_empty() {
                let mut tray = self.tray.lock();
                if tray.len() > 0 {
                    state.batches.refill(|slots| tray.give_piece(slots));
                }
            } else {
                state.batches.refill(|slots| slots.extend(queue.drain().map(TaskSlot::new)));
            }
        }
        state.batches.current()
    }

    /// Puts all that waits into the queue, so that it can be seen and changed task by task.
    pub(super) fn reclaim(&self, state: &mut PoolData) {
        self.hold().reclaim(state);
    }

    /// What is here. While it is held, nothing comes in.
    pub(super) fn hold(&self) -> MutexGuard<'_, InboxState> {
        self.tray.lock()
    }

    /// Gives back the memory that a burst needed.
    pub(super) fn shrink(&self, kept: usize) {
        let mut tray = self.tray.lock();
        if tray.slots.is_empty() && tray.slots.capacity() > kept {
            tray.slots = Vec::new();
        }
        tray.empty.truncate(kept / PIECE);
        tray.empty.shrink_to(kept / PIECE);
        tray.full.shrink_to(kept / PIECE);
    }
}

impl InboxState {
    pub(super) fn len(&self) -> usize {
        self.full.len() * PIECE + self.slots.len()
    }

    #[inline]
    fn push(&mut self, task: Task) {
        if self.slots.len() == PIECE {
            self.begin_piece();
        }
        self.slots.push(TaskSlot::new(task));
    }

    #[cold]
    fn begin_piece(&mut self) {
        let next = self.empty.pop().unwrap_or_else(|| Vec::with_capacity(PIECE));
        self.full.push_back(std::mem::replace(&mut self.slots, next));
    }

    /// Changes the oldest piece for an empty one.
    fn give_piece(&mut self, slots: &mut Vec<TaskSlot>) {
        let Some(oldest) = self.full.pop_front() else { return std::mem::swap(&mut self.slots, slots) };
        let empty = std::mem::replace(slots, oldest);
        if empty.capacity() == PIECE {
            self.empty.push(empty);
        }
    }

    /// Puts all that waits into the queue: first what is left of the batch, last what is here.
    pub(super) fn reclaim(&mut self, state: &mut PoolData) {
        if let Some(queue) = state.queue.as_fifo(Ours) {
            let here = self.full.drain(..).flatten().chain(self.slots.drain(..));
            queue.surround(state.batches.reclaim(), here.map(TaskSlot::into_task));
        }
    }
}
