//! The inbox, in which submitters leave their tasks while they need not wake a worker.
//!
//! Without the inbox, each submission would need the lock of the state, and submitters and workers would
//! contend for it. Most of the time a submitter has no decision to make: the pool is running and has its
//! threads, no worker must be woken, and the queue has room. As long as there is no decision to make,
//! submitters leave their tasks in the inbox, which has a lock of its own. A worker that finds no other task
//! makes a *batch* of the oldest tasks in the inbox, in one step. The inbox keeps the order of submission, so
//! only a pool with a [`FifoQueue`](crate::FifoQueue) uses it.
//!
//! # Pieces
//!
//! The inbox consists of *pieces*, each a list of [`PIECE`] tasks, and a batch is made of one piece. Without
//! pieces, a batch would contain all tasks: workers would claim from one long list while submitters filled
//! another long list. Two long lists take twice the memory, and do not fit into the caches. A few pieces fit
//! into the caches, because submitters soon fill a used-up piece again.
//!
//! # Open and closed
//!
//! The inbox is open while it has `room`. A submitter that finds the inbox closed must take the *long way*,
//! with the lock of the state. On the long way, the submitter puts its task into the inbox, too. Then the
//! submitter opens the inbox, if the next submitter will have no decision to make. A worker that searches
//! also opens the inbox. A thread closes the inbox, under the lock of the state, when there is something to
//! decide:
//!
//! | closed by | because the next submitter must |
//! |---|---|
//! | a submitter that must decide | decide, too, until the inbox is open again |
//! | a worker that is about to sleep, or wakes another worker | wake a worker |
//! | a worker that leaves, a worker that is dropped before it starts, a setter | start a thread |
//! | a shutdown | be refused |
//!
//! # Invariants
//!
//! 1. A thread takes the lock of the state before the lock of the inbox. A thread that opens, closes or
//!    empties the inbox holds both locks.
//! 2. While the inbox is open, the pool is running, and has so many threads that it queues each new task.
//!    Also, no worker sleeps, or at least one live worker is searching for a task. Before a worker sleeps, it
//!    closes the inbox and makes sure that no task is in it.
//! 3. Tasks in the inbox were submitted after the tasks in the batch and in the queue.
//! 4. The inbox never has room for more tasks than the queue would accept if it held all waiting tasks.

use std::collections::VecDeque;

use super::batch::{Batch, TaskSlot};
use super::queue::WorkQueue;
use super::queue::sealed::Ours;
use super::state::PoolData;
use crate::executor::PoolState;
use crate::sync::{Arc, Mutex, MutexGuard};
use crate::task::Task;

#[repr(align(128))] // so that submitters do not write to cache lines that workers read for each task
pub(super) struct Inbox {
    /// True if the queue is a `FifoQueue`, so that tasks can go through the inbox and the batch.
    in_use: bool,
    has_hooks: bool,
    tasks: Mutex<InboxState>,
}

/// The number of tasks in a piece. The number is high enough that making a batch takes almost no time per
/// task, and low enough that a piece stays in the caches. Under a model checker the number is lower, so that
/// a few tasks fill two pieces.
const PIECE: usize = if cfg!(any(feature = "loom", feature = "shuttle")) { 2 } else { 512 };

/// The tasks in the inbox, in the order of their submission.
#[derive(Default)]
#[repr(C)] // the fields that a push uses come first, in one cache line with the lock
pub(super) struct InboxState {
    /// The number of further tasks that can be left in the inbox; 0 while the inbox is closed. Always 0 if the
    /// pool has hooks: a submitter finds out about hooks where it finds out that the inbox is closed.
    room: usize,
    /// The piece that is being filled, with the youngest tasks.
    slots: Vec<TaskSlot>,
    /// The pieces that are full, from the oldest to the youngest.
    full: VecDeque<Vec<TaskSlot>>,
    /// Pieces that were used up.
    empty: Vec<Vec<TaskSlot>>,
    /// The same as `room`, for a submitter that calls the hooks of the pool.
    room_with_hooks: usize,
}

impl Inbox {
    /// Makes a closed inbox.
    pub(super) fn new(in_use: bool, has_hooks: bool) -> Self {
        Self { in_use, has_hooks, tasks: Mutex::default() }
    }

    pub(super) fn in_use(&self) -> bool {
        self.in_use
    }

    /// Puts a task into the inbox, or gives the task back if the inbox is closed. Calls `enter` before other
    /// threads can see the task.
    #[inline]
    pub(super) fn try_push(&self, task: Task, enter: impl FnOnce(&Task)) -> Result<(), Task> {
        let mut tasks = self.tasks.lock();
        if tasks.room == 0 {
            return Err(task);
        }
        tasks.room -= 1;
        enter(&task);
        tasks.push(task);
        Ok(())
    }

    /// Does the same as [`try_push`](Self::try_push) for a submitter that calls the hooks of the pool.
    pub(super) fn try_push_with_hooks(&self, task: Task, enter: impl FnOnce(&Task)) -> Result<(), Task> {
        let mut tasks = self.tasks.lock();
        if tasks.room_with_hooks == 0 {
            return Err(task);
        }
        tasks.room_with_hooks -= 1;
        enter(&task);
        tasks.push(task);
        Ok(())
    }

    /// Puts a task into the inbox for a submitter that holds the lock of the state.
    pub(super) fn push(&self, task: Task) {
        self.tasks.lock().push(task);
    }

    /// Opens the inbox if the submitter of the next task will have nothing to decide. The inbox must be
    /// closed before this call.
    pub(super) fn open(&self, state: &mut PoolData) {
        // Counts only live threads, because a thread that was requested may fail to start.
        let has_its_threads = state.live >= state.settings.grows_to().max(1);
        let need_not_wake = state.idle == 0 || state.searching;
        if state.phase == PoolState::Running && has_its_threads && need_not_wake && self.in_use {
            let room = self.room(state);
            let mut tasks = self.tasks.lock();
            *(if self.has_hooks { &mut tasks.room_with_hooks } else { &mut tasks.room }) = room;
        }
    }

    /// Closes the inbox. True if a task waits in the inbox, the queue or the batch.
    pub(super) fn close(&self, state: &PoolData) -> bool {
        if !self.in_use {
            return false;
        }
        let mut tasks = self.tasks.lock();
        (tasks.room, tasks.room_with_hooks) = (0, 0);
        tasks.len() + state.unclaimed() > 0
    }

    /// Returns the number of further tasks that can wait if the queue is a `FifoQueue`, and 0 for any other
    /// queue.
    pub(super) fn room(&self, state: &mut PoolData) -> usize {
        let elsewhere = self.tasks.lock().len() + state.batches.remaining();
        state.queue.as_fifo(Ours).map_or(0, |queue| queue.room().saturating_sub(elsewhere))
    }

    /// Returns the number of tasks in the queue, the batch and the inbox. No task enters the inbox during the
    /// addition, so the sum was correct at the moment when the batch was read.
    pub(super) fn waiting(&self, state: &PoolData) -> usize {
        let tasks = self.tasks.lock();
        tasks.len() + state.unclaimed()
    }

    /// Returns a batch from which tasks can be claimed, and makes a batch if necessary. Returns `None` if no
    /// task can be claimed.
    pub(super) fn refill<'a>(&self, state: &'a mut PoolData) -> Option<&'a Arc<Batch>> {
        if !self.in_use {
            return None;
        }
        if state.batches.remaining() == 0
            && let Some(queue) = state.queue.as_fifo(Ours)
        {
            if queue.is_empty() {
                let mut tasks = self.tasks.lock();
                if tasks.len() > 0 {
                    state.batches.refill(|slots| tasks.give_piece(slots));
                }
            } else {
                state.batches.refill(|slots| slots.extend(queue.drain().map(TaskSlot::new)));
            }
        }
        state.batches.current()
    }

    /// Puts all waiting tasks into the queue, so that the caller can see and change each of them.
    pub(super) fn reclaim(&self, state: &mut PoolData) {
        self.hold().reclaim(state);
    }

    /// Locks the inbox, so that no task enters it.
    pub(super) fn hold(&self) -> MutexGuard<'_, InboxState> {
        self.tasks.lock()
    }

    /// Frees the memory that a burst of tasks needed.
    pub(super) fn shrink(&self, kept: usize) {
        let mut tasks = self.tasks.lock();
        if tasks.slots.is_empty() && tasks.slots.capacity() > kept {
            tasks.slots = Vec::new();
        }
        tasks.empty.truncate(kept / PIECE);
        tasks.empty.shrink_to(kept / PIECE);
        tasks.full.shrink_to(kept / PIECE);
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

    /// Exchanges the caller's empty piece for the oldest piece of the inbox.
    fn give_piece(&mut self, slots: &mut Vec<TaskSlot>) {
        let Some(oldest) = self.full.pop_front() else { return std::mem::swap(&mut self.slots, slots) };
        let empty = std::mem::replace(slots, oldest);
        if empty.capacity() == PIECE {
            self.empty.push(empty);
        }
    }

    /// Puts all waiting tasks into the queue: the rest of the batch before the queued tasks, and the tasks of
    /// the inbox behind the queued tasks.
    pub(super) fn reclaim(&mut self, state: &mut PoolData) {
        if let Some(queue) = state.queue.as_fifo(Ours) {
            let here = self.full.drain(..).flatten().chain(self.slots.drain(..));
            queue.surround(state.batches.reclaim(), here.map(TaskSlot::into_task));
        }
    }
}
