//! The run: tasks that workers claim one at a time, without the lock of the state.
//!
//! If each worker took the lock of the state for each task, the workers would fight for it. So a worker that finds nothing
//! makes a run of all that is in the inbox, in one step, and every worker claims from it: a claim is one addition to a
//! counter, whose old value is the place of a task. No two workers get the same value.
//!
//! ```text
//!    submitter ──▶ inbox ──all at once, when the run is used up──▶ run ──one by one──▶ workers
//!                                                                  │ ▲
//!                                                           recall ▼ │ refill
//!                                                                 queue
//! ```
//!
//! A worker never holds a task that it has not begun. A private batch would be faster still, and wrong: two tasks that
//! wait for each other can run on two threads only if neither lies in the batch of the thread that runs the other.
//!
//! # Stopping the claims
//!
//! Who has to see or change all that waits *recalls* the run: it puts the counter beyond the last place, and what was not
//! claimed until then goes back into the queue, in order. For the counts it is enough to *freeze* the run for a moment,
//! and to put the counter back.
//!
//! A claim takes effect when the counter moves. A moment later the worker notes in its seat that it has taken the task.
//! Until all claims are noted, the counts of the seats are behind; who freezes a run waits for that.
//!
//! # Invariants
//!
//! 1. A run does not change while a worker refers to it, apart from the counter and the contents of the places. So it is
//!    filled again only when nobody but the pool has it.
//! 2. The run and the queue are never both in use: a run is made only when the one before is used up, and of all that is
//!    in the queue, or, if that is empty, of all that is in the inbox. So tasks start in the order of their submission.
//! 3. Runs are made, recalled and frozen under the lock of the state.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex};
use crate::task::Task;

/// A place for one task. The lock is never fought for: each place is claimed once.
pub(super) struct Slot(Mutex<Option<Task>>);

impl Slot {
    pub(super) fn new(task: Task) -> Self {
        Self(Mutex::new(Some(task)))
    }

    fn take(&self) -> Option<Task> {
        self.0.lock().take()
    }

    /// Before it is in a run, the place has its task.
    pub(super) fn into_task(self) -> Task {
        self.take().expect("nobody has claimed it")
    }
}

/// What comes before the first place is claimed, and what has been claimed stays claimed.
#[derive(Default)]
pub(super) struct Run {
    /// The place that is claimed next; from the number of places on, there is none.
    next: AtomicUsize,
    slots: Vec<Slot>,
}

/// Where the counter of a frozen run stands. Each worker that looks adds one, so there is room above it.
const FROZEN: usize = usize::MAX / 2;

impl Run {
    /// Claims the next task. `None` if the run is used up or frozen; then the caller goes to the state.
    ///
    /// All operations on the counter are sequentially consistent: with the flag of the waiting submitters, each side
    /// writes its own and then reads the other's.
    #[inline]
    pub(super) fn claim(&self) -> Option<Task> {
        let place = self.next.fetch_add(1, Ordering::SeqCst);
        let task = self.slots.get(place)?.take();
        debug_assert!(task.is_some(), "a place is claimed once");
        task
    }

    fn claimed(&self) -> usize {
        self.next.load(Ordering::SeqCst).min(self.slots.len())
    }

    fn remaining(&self) -> usize {
        self.slots.len() - self.claimed()
    }

    /// Ends all claims, and says how many there were.
    fn freeze(&self) -> usize {
        self.next.swap(FROZEN, Ordering::SeqCst).min(self.slots.len())
    }

    fn resume(&self, claimed: usize) {
        self.next.swap(claimed, Ordering::SeqCst); // a swap, since loom takes a store for older than additions beside it
    }
}

/// The current run and those before it; part of the state.
#[derive(Default)]
pub(super) struct Runs {
    current: Arc<Run>,
    /// Used up. They are filled again when no worker refers to them any more, so that a busy pool asks for no memory.
    spent: Vec<Arc<Run>>,
    /// How many tasks were claimed from those.
    claimed_before: u64,
}

impl Runs {
    /// How many tasks wait in the run. Claims can make it fewer at any time, nothing can make it more without the lock of
    /// the state.
    pub(super) fn remaining(&self) -> usize {
        self.current.remaining()
    }

    /// The run to claim from, if there is anything in it.
    pub(super) fn current(&self) -> Option<&Arc<Run>> {
        (self.remaining() > 0).then_some(&self.current)
    }

    /// Makes a new run of what `fill` puts in. The current one is used up.
    pub(super) fn refill(&mut self, fill: impl FnOnce(&mut Vec<Slot>)) {
        let free = self.spent.iter_mut().position(|run| Arc::get_mut(run).is_some());
        let mut run = free.map_or_else(Arc::default, |place| self.spent.swap_remove(place));
        let filled = Arc::get_mut(&mut run).expect("no worker refers to it");
        filled.slots.clear();
        filled.next = AtomicUsize::new(0);
        fill(&mut filled.slots);
        self.retire(run);
    }

    /// Ends the claims for good and gives back what was not claimed, in order.
    pub(super) fn recall(&mut self) -> Vec<Task> {
        if self.remaining() == 0 {
            return Vec::new();
        }
        let run = Arc::clone(&self.current);
        let claimed = run.freeze();
        self.claimed_before += claimed as u64;
        let spent = std::mem::take(&mut self.current);
        self.spent.push(spent);
        run.slots[claimed..].iter().filter_map(Slot::take).collect()
    }

    fn retire(&mut self, next: Arc<Run>) {
        let spent = std::mem::replace(&mut self.current, next);
        self.claimed_before += spent.claimed() as u64;
        self.spent.push(spent);
    }

    /// Ends the claims until the result is given to [`thaw`](Self::thaw).
    pub(super) fn freeze(&self) -> Frozen {
        let claimed = self.current.freeze();
        Frozen { claimed, in_all: self.claimed_before + claimed as u64 }
    }

    pub(super) fn remaining_when(&self, frozen: &Frozen) -> usize {
        self.current.slots.len() - frozen.claimed
    }

    pub(super) fn thaw(&self, frozen: &Frozen) {
        self.current.resume(frozen.claimed);
    }

    /// Gives back the memory that a burst needed.
    pub(super) fn shrink(&mut self, kept: usize) {
        if self.remaining() == 0 && self.current.slots.capacity() > kept {
            self.retire(Arc::default());
        }
        self.spent.retain(|run| run.slots.capacity() <= kept);
    }
}

/// A run in which nothing is claimed for a moment.
pub(super) struct Frozen {
    claimed: usize,
    /// Claims there have ever been in this pool.
    pub(super) in_all: u64,
}
