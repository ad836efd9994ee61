//! A strand of tasks that run one at a time, in order, on the threads of an executor below.
//!
//! A [`SerialExecutor`](crate::SerialExecutor) has one strand; a [`StripedExecutor`](crate::StripedExecutor)
//! has one strand for each key.
//!
//! # How a strand moves
//!
//! ```text
//!          first task             accepted              begins            last task done
//!   gone ─────────────▶ offered ────────────▶ accepted ────────▶ runs ─────────────────────▶ gone
//!     ▲                    │ refused, dropped    │ dropped       │  ▲
//!     └────────────────────┴─────────────────────┘               │  │ refused, dropped, run inside of the call
//!                                                ▲               ▼  │
//!                                                └─accepted── hands over   (turn is over, more tasks wait)
//! ```
//!
//! The strand gives the executor below one task, its *drain task*, which runs the tasks of the strand one
//! after the other until none is left. So only the submission of the first task can be refused. In the
//! classic listing each task submits the next task. If one of these submissions is refused, the rest of the
//! strand is never run.
//!
//! At the end of its turn, a drain task submits a successor to the executor below, and returns. The successor
//! waits behind the tasks that other submitters have submitted. If the successor is refused, the drain task
//! itself goes on, because the tasks in the strand were accepted. An executor can run the successor before
//! the call returns, as [`CallerRuns`](crate::CallerRuns) does. A successor that runs within that call
//! returns at once, and the drain task goes on. So the stack does not grow with the number of tasks.
//!
//! The drain task is not a closure that has captured the strand. The drain task shares its state with the
//! strand, as a task shares its state with its handle. So the strand knows in which queue the drain task is,
//! and no memory is allocated for a drain task.
//!
//! # How a drain task rises
//!
//! While a drain task waits, its priority is the highest priority of the tasks that have come into the strand
//! meanwhile. When a more urgent task comes, the drain task already has its place in the queue below. It
//! would be wrong to take the drain task out and submit it again: the executor could refuse it, or
//! `shutdown_now` could miss it. So the submitter asks the queue to
//! [raise](crate::waiting::queue_owner::QueueOwner::raise) the drain task, and the queue does so under its
//! own lock, in one step.
//!
//! The submitter does not pass the priority: the queue asks the strand for it, under the lock of the queue.
//! So two submitters can raise the drain task at the same time: the request that comes later finds the higher
//! of their two priorities. If the drain task already has a successor, the queue gets the priority of the
//! successor.
//!
//! The priority of a drain task can rise while the drain task is being put into a queue. The queue first
//! notes the queue's id in the drain task, and then reads the priority, under the lock of the strand. Under
//! the same lock, a submitter sets the priority and reads the id of the queue. So the queue finds the new
//! priority, or the submitter finds the queue.
//!
//! The priority of a drain task never falls. The successor starts with the highest priority of the tasks that
//! are in the strand then.
//!
//! # Invariants
//!
//! 1. At any time, at most one drain task is waiting to begin, and at most one drain task is running tasks.
//!    The drain task or a successor will run every task in the strand. If the drain task is dropped without
//!    being run, every task in the strand is dropped, too.
//! 2. While the first drain task is being offered, other submitters wait: no submitter relies on a drain task
//!    that can still be refused.
//! 3. No user code runs under the lock.
//! 4. The lock of the strand can be taken under the lock of the queue in which the drain task waits. So the
//!    lock of that queue must never be taken under the lock of the strand.

mod state;
mod fairness;

pub(crate) use fairness::{Lender, Turns};
pub(crate) use state::StrandState;

use std::collections::BTreeSet;
use std::task::Waker;

use crate::cancel::reason::CancelReason;
use crate::cancel::{CancelToken, RunningTask};
use crate::executor::{Executor, RejectedExecution};
use crate::ids::{Location, QueueId, TaskId, this_thread};
use crate::panics::{OnDrop, contain};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex};
use crate::task::outcome::Outcome;
use crate::task::tombstones::Tombstones;
use crate::task::{HandleCell, StrandDrain, Task, TaskLabel, TaskState};
use crate::wait_graph::{drain_for, look_again_at};
use crate::waiting::awaited::{ComesFrom, Source};
use crate::waiting::wait::Ticket;
use crate::waiting::worker_context::runs_part;
use state::{DrainState, Remains};

/// The owner of a strand: the part of a serial or striped executor that its strand calls.
pub(crate) trait StrandOwner: Sized + Send + Sync + 'static {
    /// Returns the id of the queue in which the strand's tasks wait.
    fn queue_id(&self) -> QueueId;

    fn tombstones(&self) -> &Tombstones;

    /// Returns the length of a turn, and the executor for the successors. Returns `None` if a drain task
    /// runs until the strand is empty.
    fn turns(&self) -> Option<&Turns>;

    /// Returns a token that is a parent of the tokens of the strand's tasks. Their other parent is the token
    /// of the thread that runs the tasks.
    fn root(&self) -> &CancelToken;

    /// Calls `change` with the state of a strand; `change` may leave the strand idle. Takes the owner's lock
    /// before the lock of the strand. The owner's lock is also held while a task comes into the strand.
    fn change<R>(strand: &Arc<Strand<Self>>, change: impl FnOnce(&mut StrandState) -> R) -> R;
}

pub(crate) struct Strand<K> {
    state: Mutex<StrandState>,
    /// The id that all drain tasks of the strand have. Only one drain task of a strand is in a queue at a
    /// time.
    drain: TaskId,
    /// The number of the queue in which the drain task is; 0 if the drain task is in no queue.
    queue: AtomicU64,
    /// The number of tasks of the strand that have ended.
    completed: AtomicU64,
    pub(crate) owner: K,
}

impl<K: StrandOwner> Strand<K> {
    pub(crate) fn new(owner: K) -> Self {
        Self {
            state: Mutex::new(StrandState::new()),
            drain: TaskId::next(),
            queue: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            owner,
        }
    }

    /// Calls `f` with the state, under the lock. `f` must not make the strand idle.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut StrandState) -> R) -> R {
        f(&mut self.state.lock())
    }

    // ----- the way in -----

    /// Puts a task into the strand. If the drain task can still be refused, the task stays in `task` and the
    /// waker joins the wait list. A task for which a scope would wait for ever stays in `task`, too.
    pub(crate) fn join(&self, task: &mut Option<Task>, waker: &Waker) -> Result<Joined, Ticket> {
        let me = this_thread();
        let mut state = self.state.lock();
        if state.is_undecided_for(me) {
            return Err(state.wait(waker));
        }
        if state.would_strand(task.as_ref()) {
            // The caller drops the task.
            return Ok(Joined { offer: None, raise_in: None, drain: Location::Elsewhere });
        }
        let task = task.take().expect("it has not joined a strand");
        let is_first = state.is_idle();
        let rises = state.join(task, me, self.owner.queue_id(), self.owner.tombstones());
        let offer = is_first.then_some(state.priority);
        Ok(Joined { offer, raise_in: self.raise_in(rises), drain: self.place(&state) })
    }

    /// Returns the queue that must raise the drain task, if the drain task `rises` and is in a queue. Must be
    /// called under the lock: if the drain task comes into a queue later, that queue finds the priority in
    /// the strand.
    fn raise_in(&self, rises: bool) -> Option<QueueId> {
        if rises { self.queue() } else { None }
    }

    /// Updates the drain task after the task `id` has joined: gives the drain task to the executor below, or
    /// raises it there. The caller must hold no lock.
    pub(crate) fn see_to_drain(
        self: &Arc<Self>,
        joined: &Joined,
        executor: &(impl Executor + ?Sized),
        id: TaskId,
    ) -> Result<(), RejectedExecution> {
        if let Some(priority) = joined.offer {
            return self.offer(executor, id, priority);
        }
        self.raise_drain(joined.raise_in);
        Ok(())
    }

    fn raise_drain(&self, queue: Option<QueueId>) {
        if let Some((queue, queue_id)) = queue.and_then(|queue| Some((queue, queue.owner()?))) {
            queue_id.raise(queue, self.drain, &|| self.priority());
        }
    }

    /// Notes that the task `id` has a higher priority now. The task is in this strand, and is the drain task
    /// of another strand.
    pub(crate) fn raise_task(&self, id: TaskId, priority: &dyn Fn() -> i32) {
        let raise_in = self.with(|state| self.raise_in(state.raise(id, priority())));
        self.raise_drain(raise_in);
    }

    /// Removes from the wait list a submitter that no longer waits.
    pub(crate) fn leave(&self, ticket: Ticket) {
        self.state.lock().submitters.leave(ticket);
    }

    /// Gives the drain task to the executor below, on behalf of the task `first`.
    fn offer(
        self: &Arc<Self>,
        executor: &(impl Executor + ?Sized),
        first: TaskId,
        priority: i32,
    ) -> Result<(), RejectedExecution> {
        let _settles_offer = OnDrop(|| self.with(|state| state.is_accepted(this_thread())).settle());
        let refused = executor.execute_task(self.new_drain(priority));
        refused.or_else(|RejectedExecution { reason, task: drain }| {
            let own = self.remove(first);
            drop(drain); // empties the strand, and wakes the submitters that wait
            match own {
                Some((task, false)) => Err(RejectedExecution { reason, task }),
                _ => Ok(()), // the task was cancelled meanwhile, or taken out
            }
        })
    }

    fn new_drain(self: &Arc<Self>, priority: i32) -> Task {
        Task::with_handle(Arc::clone(self) as Arc<dyn HandleCell>, self.drain).prioritized(priority)
    }

    // ----- the drain task -----

    fn run_drain(self: &Arc<Self>) {
        let (queue_id, tombstones) = (self.owner.queue_id(), self.owner.tombstones());
        let mut cancelled = Vec::new(); // dropped when the lock is free
        let me = this_thread();
        let begun = self.with(|state| {
            let is_inline = state.is_offered_by(me);
            let remains = state.begin(me)?;
            Some((remains, is_inline, state.next(queue_id, tombstones, &mut cancelled)))
        });
        let Some((remains, is_inline, first)) = begun else { return };
        remains.settle();
        let root = self.owner.root();
        root.also_above_tasks(|| {
            drop(cancelled);
            match first {
                Some((task, _)) if is_inline => self.run_task(task, &mut false),
                first => self.run_tasks(first),
            }
        });
        if is_inline {
            // The first task came from the submitter on this thread, so that task was also below that
            // submitter's token. The later tasks may have come from other submitters.
            root.above_tasks(|| self.run_tasks(None));
        }
    }

    fn run_tasks(self: &Arc<Self>, first: Option<(Task, bool)>) {
        let turn = self.owner.turns().map_or(usize::MAX, Turns::length);
        let (mut left, mut is_named) = (turn, false);
        let mut next = first.or_else(|| self.next_or_end());
        while let Some((task, is_last)) = next {
            self.run_task(task, &mut is_named);
            left -= 1;
            if left == 0 {
                if self.hand_over() {
                    return;
                }
                left = turn;
            }
            next = if is_last { self.next_or_end() } else { self.next() };
        }
    }

    /// Runs a task of the strand. Notes in `is_named` whether the drain task is shown under the name of that
    /// task.
    fn run_task(&self, task: Task, is_named: &mut bool) {
        let label = task.label();
        let was_named = std::mem::replace(is_named, label.name().is_some() || task.drains_a_strand());
        if was_named || *is_named {
            runs_part(self.drain, &label);
        }
        let _job = drain_for(self.drain, label.clone());
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), None);
            }
            // Only drain tasks write this counter, one after the other. A thread that has joined the task
            // finds the task counted.
            self.completed.store(self.completed() + 1, Ordering::Relaxed);
        });
    }

    /// Takes the next task, or ends the drain task. Called if the strand had another task a moment ago.
    fn next(self: &Arc<Self>) -> Option<(Task, bool)> {
        let mut cancelled = Vec::new(); // dropped when the lock is free
        let (queue_id, tombstones) = (self.owner.queue_id(), self.owner.tombstones());
        let next = self.with(|state| state.next(queue_id, tombstones, &mut cancelled));
        next.or_else(|| self.next_or_end())
    }

    /// Takes the next task, or ends the drain task, under the owner's lock. Called when the strand is
    /// probably empty.
    fn next_or_end(self: &Arc<Self>) -> Option<(Task, bool)> {
        let mut cancelled = Vec::new(); // dropped when the locks are free
        let (queue_id, tombstones) = (self.owner.queue_id(), self.owner.tombstones());
        K::change(self, |state| {
            let next = state.next(queue_id, tombstones, &mut cancelled);
            if next.is_none() {
                state.end();
            }
            next
        })
    }

    /// Submits a successor, so that other tasks can run first. Returns false if the drain task must go on.
    fn hand_over(self: &Arc<Self>) -> bool {
        let me = this_thread();
        let submit_successor = |executor: &dyn Executor| {
            let priority = self.with(|state| state.begin_to_hand_over(me))?;
            // A refused successor is dropped here, as if the executor had dropped it. A panic of the executor
            // is caught, and dropped when the borrow has ended.
            Some(contain(|| drop(executor.execute_task(self.new_drain(priority)))))
        };
        let answer = self.owner.turns().and_then(|turns| turns.lend(submit_successor));
        let is_answered = answer.flatten().is_some();
        is_answered && !self.with(|state| state.goes_on(me))
    }

    /// Notes that the drain task was dropped and will not be run.
    fn drain_is_dropped(self: &Arc<Self>) {
        let remains = K::change(self, |state| state.abandon(self.owner.queue_id(), self.owner.tombstones()));
        remains.settle();
    }

    pub(crate) fn place_of_drain(&self) -> Location {
        self.place(&self.state.lock())
    }

    fn place(&self, state: &StrandState) -> Location {
        match state.drain {
            DrainState::Gone => Location::Elsewhere,
            DrainState::Offered(thread) | DrainState::Runs(thread) | DrainState::HandsOver(thread) => {
                Location::On(thread)
            }
            DrainState::Accepted => self.queue().map_or(Location::Elsewhere, Location::In),
        }
    }

    // ----- out of the strand -----

    /// Takes a task out of the strand. Returns the task, and whether it was cancelled in the strand.
    pub(crate) fn remove(&self, id: TaskId) -> Option<(Task, bool)> {
        self.with(|state| state.take_out(id, self.owner.queue_id(), self.owner.tombstones()))
    }

    /// Takes out the wanted tasks. Returns two lists: the tasks that can still be run, and the cancelled
    /// tasks. The caller must drop the cancelled tasks without locks.
    pub(crate) fn remove_all(&self, wanted: impl Fn(&Task) -> bool) -> (Vec<Task>, Vec<Task>) {
        self.with(|state| state.take_all(self.owner.queue_id(), self.owner.tombstones(), wanted))
    }

    /// Takes out all tasks, so that no further task begins. Returns the two lists of
    /// [`remove_all`](Self::remove_all).
    pub(crate) fn stop(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(|_| true)
    }

    /// Returns the queue below in which the drain task waits, if it waits in a queue.
    pub(crate) fn drain_in(&self) -> Option<QueueId> {
        self.queue()
    }

    /// Takes out the cancelled tasks. Returns the two lists of [`remove_all`](Self::remove_all).
    pub(crate) fn clear_out(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(Task::is_cancelled)
    }

    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Relaxed)
    }

    /// Returns the number of tasks of the strand that have ended, and resets the count to zero. Must be
    /// called while no drain task writes the count.
    pub(crate) fn take_completed(&self) -> u64 {
        self.completed.swap(0, Ordering::Relaxed)
    }
}

/// Takes the drain tasks of strands under `root` out of their queues, and drops these drain tasks, because
/// their strands have no tasks any more.
pub(crate) fn reclaim_drains(queues: BTreeSet<QueueId>, root: &CancelToken) {
    for queue in queues.into_iter().filter_map(QueueId::owner) {
        drop(queue.take_out_all(&|task| task.drains_strand_under(root)));
    }
}

/// Tells a submitter what it must do after its task has joined a strand.
#[must_use = "it must be announced"]
pub(crate) struct Joined {
    /// The priority of the drain task that the submitter must offer, if there was no drain task.
    offer: Option<i32>,
    raise_in: Option<QueueId>,
    drain: Location,
}

impl Joined {
    /// Returns whether the caller must call [`see_to_drain`](Strand::see_to_drain). If the result is false,
    /// there already is a drain task, which will run the new task.
    pub(crate) fn concerns_the_drain(&self) -> bool {
        self.offer.is_some() || self.raise_in.is_some()
    }

    /// Makes the detector look again at the waits for the task. Must be called without locks. A thread
    /// may have waited for the task before the task joined the strand; at that time the detector found
    /// no thread to run the task.
    pub(crate) fn announce(&self) {
        look_again_at(self.drain);
    }
}

impl Remains {
    #[inline]
    fn settle(self) {
        if !self.waiting.is_empty() {
            self.waiting.into_iter().for_each(Waker::wake);
        }
        drop(self.tasks);
    }
}

/// The drain task, as the executor below sees it.
impl<K: StrandOwner> HandleCell for Strand<K> {
    fn state(&self) -> TaskState {
        TaskState::Pending // it has no handle
    }

    fn is_finished(&self) -> bool {
        false
    }

    fn cancel(self: Arc<Self>, _stop_body: bool, _reason: CancelReason) -> bool {
        false
    }

    fn panic_message(&self) -> Option<String> {
        None
    }

    fn run(self: Arc<Self>, before_publish: &mut dyn FnMut(&Outcome)) -> Outcome {
        self.run_drain();
        before_publish(&Outcome::Completed);
        Outcome::Completed
    }

    fn abandon(self: Arc<Self>) {
        self.drain_is_dropped();
    }

    fn enter_queue(&self, queue_id: QueueId) -> bool {
        // Release: pairs with the Acquire in `queue`.
        self.queue.store(queue_id.number(), Ordering::Release);
        true
    }

    fn leave_queue(&self) -> bool {
        self.queue.store(0, Ordering::Release);
        false
    }

    fn queue(&self) -> Option<QueueId> {
        QueueId::from_number(self.queue.load(Ordering::Acquire))
    }

    fn will_be_cancelled(&self) {}

    fn as_drain(&self) -> Option<&dyn StrandDrain> {
        Some(self)
    }
}

impl<K: StrandOwner> StrandDrain for Strand<K> {
    fn is_under(&self, root: &CancelToken) -> bool {
        self.owner.root().is(root)
    }

    fn priority(&self) -> i32 {
        self.with(|state| state.priority)
    }

    fn first(&self) -> Option<TaskLabel> {
        self.with(|state| state.first())
    }

    fn handed_out(&self) -> Vec<Task> {
        self.with(|state| state.is_handed_out(self.owner.queue_id(), self.owner.tombstones()))
    }
}

/// The drain task as a running task. No token is ever made for the drain task: its body is not users' code.
impl<K: StrandOwner> RunningTask for Strand<K> {
    fn id(&self) -> TaskId {
        self.drain
    }

    fn collector(&self) -> usize {
        0
    }

    fn token_made(&self, _token: &CancelToken) {}

    fn why_to_stop(&self) -> Option<CancelReason> {
        None
    }

    fn is_limited(&self) -> bool {
        false
    }
}

/// Tells the detector that a submitter waits for the thread that offers the drain task.
impl<K: StrandOwner> Source for Strand<K> {
    fn comes_from(&self) -> ComesFrom {
        match self.state.lock().drain {
            DrainState::Offered(thread) => ComesFrom::Places(vec![Location::On(thread)]),
            _ => ComesFrom::Elsewhere,
        }
    }
}
