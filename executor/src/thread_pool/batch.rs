//! The batch: tasks that workers claim one at a time, without the lock of the state, and the worker slots in which they
//! note it.
//!
//! If each worker took the lock of the state for each task, the workers would fight for it. So a worker that finds nothing
//! makes a batch of a piece of the inbox, in one step, and every worker claims from it: a claim is one addition to a
//! counter, whose old value is the place of a task. No two workers get the same value.
//!
//! ```text
//!    submitter ──▶ inbox ──a piece, when the batch is used up────▶ batch ─one by one─▶ workers
//!                                                                  │ ▲
//!                                                           reclaim ▼ │ refill
//!                                                                 queue
//! ```
//!
//! A worker never holds a task that it has not begun. A private batch would be faster still, and wrong: two tasks that
//! wait for each other can run on two threads only if neither lies in the batch of the thread that runs the other.
//!
//! # Stopping the claims
//!
//! A thread that has to see or change all that waits *reclaims* the batch: it puts the counter beyond the last place, and
//! what was not claimed until then goes back into the queue, in order. For the counts it is enough to *freeze* the batch for
//! a moment, and to put the counter back afterwards (*resume*).
//!
//! # Worker slots
//!
//! Each worker has a *worker slot*, in which it alone writes what it has claimed, begun and completed. One count for all
//! workers would be a cache line for which they fight, task by task. A thread that wants the counts adds the worker
//! slots up, under the lock of the state and while the batch is frozen: then no task begins, and since ends are counted
//! one by one, the sum is what was true at some moment of the adding.
//!
//! A claim takes effect when the counter moves. A moment later the worker notes it in its worker slot. Until all claims are
//! noted, the worker slots are behind the counter, so a thread that freezes the batch waits for that moment
//! ([`WorkerSlots::wait_for_claims`]).
//!
//! # Without a lock
//!
//! A place is an `UnsafeCell`. A lock for each, which nobody ever fights for, would take 15 % more processor time per tiny
//! task. That no place is touched twice is what the models of `executor/model/tests/cores/run` show: two that claim, one
//! that freezes, one that reclaims, and a batch that is filled again; loom knows of each access to a place.
//!
//! # Invariants
//!
//! 1. A batch does not change while a worker refers to it, apart from the counter and the contents of the places. So it is
//!    filled again only when nobody but the pool has it.
//! 2. The batch and the queue are never both in use: a batch is made only when the one before is used up, and of all that is
//!    in the queue, or, if that is empty, of the oldest piece of the inbox. So tasks start in the order of their submission.
//! 3. Batches are made, reclaimed and frozen under the lock of the state.
//! 4. What a worker slot counts outlives its worker: the next worker in the worker slot counts on.

#![allow(unsafe_code, reason = "a claimed place is touched without a lock")]

use crate::ids::TaskId;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, UnsafeCell, thread};
use crate::task::{Task, TaskLabel};
use crate::waiting::worker_context::PoolWorker;

/// A place for one task, from which it is taken once, by the one party that has claimed the place.
pub(super) struct TaskSlot(UnsafeCell<Option<Task>>);

// SAFETY: a shared slot is only ever touched by `take`, whose callers see to it that no two of them touch the same one. A
// task may go from thread to thread.
unsafe impl Sync for TaskSlot {}

impl TaskSlot {
    #[inline]
    pub(super) fn new(task: Task) -> Self {
        Self(UnsafeCell::new(Some(task)))
    }

    /// # Safety
    /// No other thread takes from this place, now or later.
    #[inline]
    unsafe fn take(&self) -> Option<Task> {
        // SAFETY: the caller is the only one to touch it.
        self.0.with_mut(|task| unsafe { (*task).take() })
    }

    /// Before it is in a batch, the place has its task.
    pub(super) fn into_task(self) -> Task {
        self.0.into_inner().expect("nobody has claimed it")
    }
}

/// What comes before the first place is claimed, and what has been claimed stays claimed.
#[derive(Default)]
pub(super) struct Batch {
    /// The place that is claimed next; from the number of places on, there is none.
    next: Counter,
    slots: Vec<TaskSlot>,
}

/// What all workers write to, in a cache line without anything that they only read.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

/// Where the counter of a frozen batch stands. Each worker that looks adds one, so there is room above it.
const FROZEN: usize = usize::MAX / 2;

impl Batch {
    /// Claims the next task. `None` if the batch is used up or frozen; then the caller goes to the state.
    ///
    /// All operations on the counter are sequentially consistent: with the flag of the waiting submitters, each side
    /// writes its own and then reads the other's.
    #[inline]
    pub(super) fn claim(&self) -> Option<Task> {
        let place = self.next.0.fetch_add(1, Ordering::SeqCst);
        let slot = self.slots.get(place)?;
        // SAFETY: the counter gives each place to one claim, and after a reclaim or a freeze none at all until it is put back
        // to where it was. So nobody else has this place.
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

    /// Ends all claims, and says how many there were.
    fn freeze(&self) -> usize {
        self.next.0.swap(FROZEN, Ordering::SeqCst).min(self.slots.len())
    }

    fn resume(&self, claimed: usize) {
        self.next.0.swap(claimed, Ordering::SeqCst); // a swap, since loom takes a store for older than additions beside it
    }
}

/// The current batch and those before it; part of the state.
#[derive(Default)]
pub(super) struct Batches {
    current: Arc<Batch>,
    /// Used up. They are filled again when no worker refers to them any more, so that a busy pool asks for no memory.
    spent: Vec<Arc<Batch>>,
    /// How many tasks were claimed from those.
    claimed_before: u64,
}

impl Batches {
    /// How many tasks wait in the batch. Claims can make it fewer at any time, nothing can make it more without the lock of
    /// the state.
    pub(super) fn remaining(&self) -> usize {
        self.current.remaining()
    }

    /// The batch to claim from, if there is anything in it.
    pub(super) fn current(&self) -> Option<&Arc<Batch>> {
        (self.remaining() > 0).then_some(&self.current)
    }

    /// Makes a new batch of what `fill` puts in. The current one is used up.
    pub(super) fn refill(&mut self, fill: impl FnOnce(&mut Vec<TaskSlot>)) {
        let free = self.spent.iter_mut().position(|batch| Arc::get_mut(batch).is_some());
        let mut batch = free.map_or_else(Arc::default, |place| self.spent.swap_remove(place));
        let filled = Arc::get_mut(&mut batch).expect("no worker refers to it");
        filled.slots.clear();
        filled.next = Counter::default();
        fill(&mut filled.slots);
        self.retire(batch);
    }

    /// Ends the claims for good and gives back what was not claimed, in order.
    pub(super) fn reclaim(&mut self) -> Vec<Task> {
        if self.remaining() == 0 {
            return Vec::new();
        }
        let batch = Arc::clone(&self.current);
        let claimed = batch.freeze();
        self.claimed_before += claimed as u64;
        let spent = std::mem::take(&mut self.current);
        self.spent.push(spent);
        // SAFETY: nobody has claimed these places, and the counter stays where nobody can.
        batch.slots[claimed..].iter().filter_map(|slot| unsafe { slot.take() }).collect()
    }

    fn retire(&mut self, next: Arc<Batch>) {
        let spent = std::mem::replace(&mut self.current, next);
        self.claimed_before += spent.claimed() as u64;
        self.spent.push(spent);
    }

    /// Ends the claims until the result is given to [`resume`](Self::resume).
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

    /// Gives back the memory that a burst needed. Nothing waits, so the current batch is used up.
    pub(super) fn shrink(&mut self, kept: usize) {
        debug_assert_eq!(self.remaining(), 0);
        if self.current.slots.capacity() > kept {
            self.retire(Arc::default());
        }
        self.spent.retain(|batch| batch.slots.capacity() <= kept);
    }
}

/// A batch in which nothing is claimed for a moment.
pub(super) struct Frozen {
    claimed: usize,
    /// Claims there have ever been in this pool.
    pub(super) in_all: u64,
}

/// What one worker has done and is doing.
#[repr(align(128))] // so that no two workers write to the same cache line, or to two that are fetched together
#[derive(Default)]
pub(super) struct WorkerSlot {
    /// Claims that are noted here: each as begun, or as found to be cancelled.
    noted: AtomicU64,
    begun: AtomicU64,
    completed: AtomicU64,
    /// The id of the task that was begun last. It runs if more are begun than completed.
    task: AtomicU64,
    /// The last task that had a name. Most have none, and cost no lock here.
    named: Mutex<Option<TaskLabel>>,
}

impl WorkerSlot {
    /// The worker has taken a task and will run it.
    #[inline]
    pub(super) fn begin(&self, task: TaskLabel) {
        self.task.store(task.id().number(), Ordering::Relaxed); // published by the count
        if task.name().is_some() {
            *self.named.lock() = Some(task);
        }
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

    fn noted(&self) -> u64 {
        self.noted.load(Ordering::Acquire)
    }

    fn begun(&self) -> u64 {
        self.begun.load(Ordering::Acquire)
    }

    fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// The task that runs, if one does.
    fn running(&self) -> Option<TaskLabel> {
        if self.begun() == self.completed() {
            return None;
        }
        let id = TaskId::from_number(self.task.load(Ordering::Relaxed));
        let named = self.named.lock().clone().filter(|label| label.id() == id);
        Some(named.unwrap_or_else(|| TaskLabel::unnamed(id)))
    }
}

impl PoolWorker for WorkerSlot {
    fn runs(&self) -> Option<TaskLabel> {
        self.running()
    }

    fn runs_part(&self, strand: TaskId, part: &TaskLabel) {
        // Relaxed: it is this thread that writes it. Another one is there if the strand is run on top of a task that waits.
        if self.task.load(Ordering::Relaxed) == strand.number() {
            *self.named.lock() = Some(part.clone().for_task(strand));
        }
    }
}

/// Not an atomic addition, which would cost more: nobody else writes it.
#[inline]
fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

/// The worker slots of a pool; part of the state.
#[derive(Default)]
pub(super) struct WorkerSlots {
    /// Each with whether a worker has it. A worker keeps its worker slot for as long as it lives.
    all: Vec<(bool, Arc<WorkerSlot>)>,
    /// Claims that were made for no worker.
    claimed_otherwise: u64,
}

impl WorkerSlots {
    /// Gives a worker a worker slot, and the number by which it vacates it.
    pub(super) fn assign(&mut self) -> (usize, Arc<WorkerSlot>) {
        let free = self.all.iter().position(|(taken, _)| !taken);
        let number = free.unwrap_or_else(|| {
            self.all.push(Default::default());
            self.all.len() - 1
        });
        let (taken, worker_slot) = &mut self.all[number];
        *taken = true;
        (number, Arc::clone(worker_slot))
    }

    pub(super) fn vacate(&mut self, number: usize) {
        self.all[number].0 = false;
    }

    /// A task was claimed by a thread that is no worker.
    pub(super) fn note_claim_of_another(&mut self) {
        self.claimed_otherwise += 1;
    }

    /// Waits until the worker slots say what the counter of the frozen batch said.
    pub(super) fn wait_for_claims(&self, frozen: &Frozen) {
        // A worker that has claimed a task notes it at once and holds no lock that this thread wants meanwhile.
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

    /// The tasks that run.
    pub(super) fn running(&self) -> Vec<TaskLabel> {
        self.all.iter().filter_map(|(_, worker_slot)| worker_slot.running()).collect()
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
