//! The batch and the worker slots: workers claim tasks from the batch, and count their tasks in the worker
//! slots. Workers claim tasks from the batch without the lock of the state.
//!
//! If each worker took the lock of the state for each task, the workers would contend for that lock. So a
//! worker that finds no task makes a *batch* of many tasks from the inbox, in one step. All workers claim
//! tasks from this batch, one at a time. A claim is one addition to a counter; the counter's old value is the
//! place of the task. So two workers never get the same place.
//!
//! ```text
//!    submitter ──▶ inbox ──a piece, when the batch is used up────▶ batch ─one by one─▶ workers
//!                                                                  │ ▲
//!                                                           reclaim ▼ │ refill
//!                                                                 queue
//! ```
//!
//! A worker never holds a task that it has not begun. A private batch for each worker is faster, but wrong: a
//! task can wait for another task in the same private batch, and then neither task ever ends.
//!
//! # Stopping the claims
//!
//! A thread that must see or change all waiting tasks *reclaims* the batch. To reclaim, the thread sets the
//! counter beyond the last place, and then puts the unclaimed tasks back into the queue, in order. A thread
//! that only wants the counts *freezes* the batch for a moment, and sets the counter back afterwards
//! (*resume*).
//!
//! # Worker slots
//!
//! Each worker has a *worker slot*. Only that worker writes to the slot: it counts the tasks that it has
//! claimed, begun and completed. If all workers wrote to one count, the workers would contend for the cache
//! line of that count. A thread that wants the counts adds up the worker slots, under the lock of the state
//! and while the batch is frozen. During the addition, no task begins; a task that ends raises only one of
//! the counts. So the sum was correct at some moment during the addition.
//!
//! A worker first moves the counter, and a moment later notes the claim in its slot. So a thread that freezes the
//! batch waits until all claims are noted ([`WorkerSlots::wait_for_claims`]).
//!
//! # Without a lock
//!
//! A place is an `UnsafeCell`. A lock for each place is too slow: a tiny task would need 15 % more processor
//! time, even if no thread ever waited for the lock. The models of `executor/model/tests/cores/batch` check
//! that no place is accessed twice. In these models two threads claim tasks, one thread freezes the batch,
//! one thread reclaims the batch, and a batch is filled again.
//!
//! # Invariants
//!
//! 1. A batch is filled again only when no worker refers to it. While a worker refers to the batch, only the
//!    counter and the contents of the places change.
//! 2. A batch is made only when the previous batch is used up. The new batch gets all tasks of the queue or,
//!    if the queue is empty, the oldest piece of the inbox. So the batch and the queue are never both in use,
//!    and tasks start in the order of submission.
//! 3. Batches are made, reclaimed and frozen under the lock of the state.
//! 4. A worker that leaves does not reset the counts of its slot: the next worker in the slot continues these
//!    counts.

#![allow(unsafe_code, reason = "a claimed place is touched without a lock")]

use crate::ids::{TaskId, ThreadKey, this_thread};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, CachePadded, Mutex, UnsafeCell, thread};
use crate::task::{Task, TaskLabel};
use crate::waiting::worker_context::PoolWorker;

/// A place for one task. Only the thread that has claimed the place takes the task out, and takes it out only
/// once.
pub(super) struct TaskSlot(UnsafeCell<Option<Task>>);

// SAFETY: only `take` accesses a shared place, and only one caller takes from each place. A task is `Send`.
unsafe impl Sync for TaskSlot {}

impl TaskSlot {
    #[inline]
    pub(super) fn new(task: Task) -> Self {
        Self(UnsafeCell::new(Some(task)))
    }

    /// # Safety
    /// The caller must make sure that no other thread takes from this place, now or later.
    #[inline]
    unsafe fn take(&self) -> Option<Task> {
        // SAFETY: only the caller accesses this place.
        self.0.with_mut(|task| unsafe { (*task).take() })
    }

    /// Returns the task in a place that is not yet part of a batch.
    pub(super) fn into_task(self) -> Task {
        self.0.into_inner().expect("a place in no batch has its task")
    }
}

/// Tasks that workers claim in order, each task once.
#[derive(Default)]
pub(super) struct Batch {
    /// The place of the task that the next claim gets. If the counter is not below the number of places,
    /// there is no task to claim. All workers write this counter, so the counter has a cache line of its own.
    next: CachePadded<AtomicUsize>,
    slots: Vec<TaskSlot>,
}

/// The counter's value in a frozen batch. Each claim that fails still adds one to the counter. The value is
/// so far below the maximum that these additions do not overflow the counter.
const FROZEN: usize = usize::MAX / 2;

impl Batch {
    /// Claims the next task. Returns `None` if the batch is used up or frozen; the caller then looks at
    /// the state.
    ///
    /// All operations on the counter are sequentially consistent, because of the flag `submitter_waits`: a
    /// worker writes the counter and then reads the flag, and a submitter writes the flag and then reads the
    /// counter.
    #[inline]
    pub(super) fn claim(&self) -> Option<Task> {
        let place = self.next.0.fetch_add(1, Ordering::SeqCst);
        let slot = self.slots.get(place)?;
        // SAFETY: the counter gives each place to only one claim. After the batch is reclaimed or frozen, no
        // claim gets a place until the counter is set back to its old value. So only this claim has this
        // place.
        let task = unsafe { slot.take() };
        debug_assert!(task.is_some(), "a place is claimed once");
        task
    }

    fn claimed(&self) -> usize {
        self.next.0.load(Ordering::SeqCst).min(self.slots.len())
    }

    fn remaining(&self) -> usize {
        self.slots.len() - self.claimed()
    }

    /// Stops the claims, and returns the number of tasks that were claimed.
    fn freeze(&self) -> usize {
        self.next.0.swap(FROZEN, Ordering::SeqCst).min(self.slots.len())
    }

    fn resume(&self, claimed: usize) {
        self.next.0.swap(claimed, Ordering::SeqCst); // loom would treat a store as older than the additions
    }
}

/// The current batch and the earlier batches of a pool, as a part of the pool's state.
#[derive(Default)]
pub(super) struct Batches {
    current: Arc<Batch>,
    /// Batches that are used up. The pool fills these batches again and again, so a busy pool allocates no
    /// memory for batches.
    spent: Vec<Arc<Batch>>,
    /// The number of tasks that were claimed from earlier batches.
    claimed_before: u64,
}

impl Batches {
    /// Returns the number of tasks that wait in the batch. A claim can lower the number at any time. Only a
    /// thread that holds the state's lock can raise the number.
    pub(super) fn remaining(&self) -> usize {
        self.current.remaining()
    }

    /// Returns the current batch, if it still has a task to claim.
    pub(super) fn current(&self) -> Option<&Arc<Batch>> {
        (self.remaining() > 0).then_some(&self.current)
    }

    /// Makes a new batch of the tasks that `fill` puts into it. The current batch must be used up.
    pub(super) fn refill(&mut self, fill: impl FnOnce(&mut Vec<TaskSlot>)) {
        let free = self.spent.iter_mut().position(|batch| Arc::get_mut(batch).is_some());
        let mut batch = free.map_or_else(Arc::default, |place| self.spent.swap_remove(place));
        let filled = Arc::get_mut(&mut batch).expect("no worker refers to it");
        filled.slots.clear();
        filled.next = CachePadded::default();
        fill(&mut filled.slots);
        self.retire(batch);
    }

    /// Ends the claims of this batch and returns the unclaimed tasks, in order.
    pub(super) fn reclaim(&mut self) -> Vec<Task> {
        if self.remaining() == 0 {
            return Vec::new();
        }
        let batch = Arc::clone(&self.current);
        let claimed = batch.freeze();
        self.claimed_before += claimed as u64;
        let spent = std::mem::take(&mut self.current);
        self.spent.push(spent);
        // SAFETY: no thread has claimed these places, and the counter stays beyond them.
        batch.slots[claimed..].iter().filter_map(|slot| unsafe { slot.take() }).collect()
    }

    fn retire(&mut self, next: Arc<Batch>) {
        let spent = std::mem::replace(&mut self.current, next);
        self.claimed_before += spent.claimed() as u64;
        self.spent.push(spent);
    }

    /// Stops the claims until the caller passes the result to [`resume`](Self::resume).
    pub(super) fn freeze(&self) -> Frozen {
        let claimed = self.current.freeze();
        Frozen { claimed, in_all: self.claimed_before + claimed as u64 }
    }

    pub(super) fn remaining_when(&self, frozen: &Frozen) -> usize {
        self.current.slots.len() - frozen.claimed
    }

    pub(super) fn resume(&self, frozen: &Frozen) {
        self.current.resume(frozen.claimed);
    }

    /// Frees the memory that a burst of tasks needed. No task waits, so the current batch is used up.
    pub(super) fn shrink(&mut self, kept: usize) {
        debug_assert_eq!(self.remaining(), 0);
        if self.current.slots.capacity() > kept {
            self.retire(Arc::default());
        }
        self.spent.retain(|batch| batch.slots.capacity() <= kept);
    }
}

/// The counts of a frozen batch.
pub(super) struct Frozen {
    claimed: usize,
    /// The number of all claims in this pool so far.
    pub(super) in_all: u64,
}

/// The counts of one worker, and the task that it runs.
#[repr(align(128))] // so no two workers write to one cache line, or to two lines that are fetched together
#[derive(Default)]
pub(super) struct WorkerSlot {
    /// The number of claims that the worker has noted: for each claim, the worker has begun the task or found
    /// the task cancelled.
    noted: AtomicU64,
    begun: AtomicU64,
    completed: AtomicU64,
    /// The id of the task that was begun last. If the worker has begun more tasks than it has completed, it
    /// still runs this task.
    task: AtomicU64,
    /// The last task with a name that the worker has begun. Most tasks have no name, and the worker takes no
    /// lock for these tasks.
    named: Mutex<Option<TaskLabel>>,
}

impl WorkerSlot {
    /// Records that the worker has taken a task and will run it.
    #[inline]
    pub(super) fn begin(&self, task: TaskLabel) {
        self.task.store(task.id().as_u64(), Ordering::Relaxed); // published by the count
        if task.name().is_some() {
            *self.named.lock() = Some(task);
        }
        add_one(&self.begun);
    }

    /// Notes a claim. The caller has counted the task as begun, or the task will not begin.
    #[inline]
    pub(super) fn note_claim(&self) {
        add_one(&self.noted);
    }

    #[inline]
    pub(super) fn complete(&self) {
        add_one(&self.completed);
    }

    /// Records that the worker's thread unwinds: the worker's task no longer counts as begun.
    pub(super) fn abandon(&self) {
        self.begun.store(self.completed(), Ordering::Release);
    }

    fn noted(&self) -> u64 {
        self.noted.load(Ordering::Acquire)
    }

    fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Returns the task that runs now, if any.
    fn running(&self) -> Option<TaskLabel> {
        if self.begun() == self.completed() {
            return None;
        }
        let id = TaskId::from(self.task.load(Ordering::Relaxed));
        let named = self.named.lock().clone().filter(|label| label.id() == id);
        Some(named.unwrap_or_else(|| TaskLabel::unnamed(id)))
    }
}

impl PoolWorker for WorkerSlot {
    fn runs(&self) -> Option<TaskLabel> {
        self.running()
    }

    fn runs_part(&self, strand: TaskId, part: &TaskLabel) {
        // Relaxed is enough: only this thread writes the id. If the strand runs on top of a task, the stored
        // id is the id of that task and not the id of the strand.
        if self.task.load(Ordering::Relaxed) == strand.as_u64() {
            *self.named.lock() = Some(part.clone().for_task(strand));
        }
    }
}

/// Adds one to a counter that only this thread writes. So a load and a store are enough, and take less time
/// than an atomic addition.
#[inline]
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

/// The thread of a worker.
pub(super) type SlotThread = (ThreadKey, thread::Thread);

/// The worker slots of a pool, as a part of the pool's state.
#[derive(Default)]
pub(super) struct WorkerSlots {
    /// The slots, each with the thread of the worker that uses the slot. A worker keeps its slot as long as
    /// it lives.
    all: Vec<(Option<SlotThread>, Arc<WorkerSlot>)>,
    /// The number of claims by threads without a worker slot.
    claimed_otherwise: u64,
}

impl WorkerSlots {
    /// Assigns a slot to the worker on the calling thread. Returns the slot, and the number that `vacate` needs.
    pub(super) fn assign(&mut self) -> (usize, Arc<WorkerSlot>) {
        let free = self.all.iter().position(|(thread, _)| thread.is_none());
        let number = free.unwrap_or_else(|| {
            self.all.push(Default::default());
            self.all.len() - 1
        });
        let (thread, worker_slot) = &mut self.all[number];
        *thread = Some((this_thread(), thread::current()));
        (number, Arc::clone(worker_slot))
    }

    pub(super) fn vacate(&mut self, number: usize) {
        self.all[number].0 = None;
    }

    /// Records that a thread without a worker slot has claimed a task.
    pub(super) fn note_claim_of_another(&mut self) {
        self.claimed_otherwise += 1;
    }

    /// Waits until all claims of the frozen batch are noted in the worker slots.
    pub(super) fn wait_for_claims(&self, frozen: &Frozen) {
        // A worker notes a claim at once: between the claim and the note, it takes no lock that the waiting
        // thread holds.
        while self.sum(WorkerSlot::noted) + self.claimed_otherwise < frozen.in_all {
            thread::yield_now();
        }
    }

    pub(super) fn begun(&self) -> u64 {
        self.sum(WorkerSlot::begun)
    }

    pub(super) fn completed(&self) -> u64 {
        self.sum(WorkerSlot::completed)
    }

    pub(super) fn running(&self) -> Vec<TaskLabel> {
        self.all.iter().filter_map(|(_, worker_slot)| worker_slot.running()).collect()
    }

    /// Returns four facts about each running task: the number of its worker slot, the number of tasks that
    /// were begun in this slot, the task's label and the task's thread. If a worker begins a task during the
    /// call, the numbers can still be the numbers of the worker's previous task.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, u64, TaskLabel, Option<&SlotThread>)> {
        self.all.iter().enumerate().filter_map(|(number, (thread, worker_slot))| {
            let begun = worker_slot.begun();
            Some((number, begun, worker_slot.running()?, thread.as_ref()))
        })
    }

    fn sum(&self, of: impl Fn(&WorkerSlot) -> u64) -> u64 {
        self.all.iter().map(|(_, worker_slot)| of(worker_slot)).sum()
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn a_seat_that_was_vacated_is_assigned_again() {
        let mut worker_slots = WorkerSlots::default();
        let mut assign = || worker_slots.assign().0;
        assert_eq!([assign(), assign(), assign()], [0, 1, 2]);
        worker_slots.vacate(1);
        assert_eq!([worker_slots.assign().0, worker_slots.assign().0], [1, 3]);
    }
}
