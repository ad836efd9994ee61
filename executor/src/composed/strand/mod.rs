//! A strand: tasks that run one at a time, in order, on the threads of an underlying executor.
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
//! The strand gives the underlying executor one task, its *drain task*, which runs the tasks of the strand
//! one after the other until none is left. So only the submission of the first task can be refused. In the
//! usual implementation, each task submits the next task. If one of these submissions is refused, the
//! remaining tasks are never run.
//!
//! At the end of its turn, a drain task submits a successor to the underlying executor, and returns. The
//! successor waits behind the tasks of other submitters. If the successor is refused, the drain task itself
//! continues, because the tasks in the strand were accepted. An executor can run the successor before the
//! submission returns, as [`CallerRuns`](crate::CallerRuns) does. This successor returns at once, and the
//! drain task continues. So the stack does not grow with the number of tasks.
//!
//! The drain task is not a closure that has captured the strand. Instead, the drain task and the strand share
//! their state, like a task and its handle. So the strand knows in which queue the drain task is, and a drain
//! task needs no memory allocation.
//!
//! # How a drain task rises
//!
//! While a drain task waits, its priority is the highest priority of the tasks that have joined the strand
//! since the drain task was submitted. When a more urgent task joins the strand, the drain task is already in
//! the queue of the underlying executor. The submitter does not remove the drain task and submit it again,
//! because the executor could refuse the drain task, or `shutdown_now` could miss it. So the submitter asks
//! the queue to [raise](crate::waiting::queue_owner::QueueOwner::raise) the drain task, and the queue changes
//! the priority under its own lock, in one step.
//!
//! The submitter does not pass the priority to the queue. Instead, the queue asks the strand for the
//! priority, under the lock of the queue. So two submitters can raise the drain task at the same time: the
//! later request finds the higher of the two priorities. If the drain task already has a successor, the queue
//! gets the priority of the successor.
//!
//! The priority can also rise while the drain task is being put into a queue. First the queue writes its own
//! id into the drain task. Then the queue reads the priority, under the lock of the strand. Under the same
//! lock, a submitter sets the priority and reads the id of the queue. So either the queue finds the new
//! priority, or the submitter finds the queue.
//!
//! The priority of a drain task never falls. A successor begins with the highest priority of the tasks that
//! are then in the strand.
//!
//! # Invariants
//!
//! 1. At any time, at most one drain task is waiting to begin, and at most one drain task is running tasks.
//!    The drain task or a successor will run every task in the strand. If the drain task is dropped without
//!    having been run, every task in the strand is dropped, too.
//! 2. While the first drain task is being offered, other submitters wait, because a submitter must not rely
//!    on a drain task that can still be refused.
//! 3. No user code runs under the lock.
//! 4. A thread that holds the lock of the drain task's queue may take the lock of the strand. So a thread
//!    that holds the lock of the strand must not take the lock of that queue.

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

/// The owner of a strand: the part of a serial or striped executor that the strand calls.
pub(crate) trait StrandOwner: Sized + Send + Sync + 'static {
    /// Returns the id of the queue in which the strand's tasks wait.
    fn queue_id(&self) -> QueueId;

    fn tombstones(&self) -> &Tombstones;

    /// Returns the length of a turn, and the executor that runs the successors. Returns `None` if the strand
    /// has no turns: then a drain task runs until the strand is empty.
    fn turns(&self) -> Option<&Turns>;

    /// Returns the token that is a parent of the token of each task in the strand. The second parent is the
    /// token of the thread that runs the task.
    fn root(&self) -> &CancelToken;

    /// Calls `change` with the state of a strand; `change` may leave the strand idle. Takes the owner's lock
    /// before the lock of the strand. A submitter also holds the owner's lock while its task joins the
    /// strand.
    fn change<R>(strand: &Arc<Strand<Self>>, change: impl FnOnce(&mut StrandState) -> R) -> R;
}

pub(crate) struct Strand<K> {
    state: Mutex<StrandState>,
    /// The id of all drain tasks of this strand. At any time, at most one of these drain tasks is in a queue.
    drain: TaskId,
    /// The number of the drain task's queue, or 0 if the drain task is in no queue.
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

    /// Puts a task into the strand. If the drain task can still be refused, the task stays in `task`, and the
    /// waker of the submitter joins the wait list. The task also stays in `task` if a scope that waits for
    /// the task would wait for ever.
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

    /// Returns the queue of the drain task if `rises` is true and the queue must move the drain task forward.
    /// Must be called under the lock. If the drain task is put into a queue later, that queue reads the
    /// priority itself.
    fn raise_in(&self, rises: bool) -> Option<QueueId> {
        if rises { self.queue() } else { None }
    }

    /// Submits the drain task, or raises the priority of the drain task in its queue, if this is necessary
    /// after the task `id` has joined the strand. The caller must hold no lock.
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

    /// Remembers that the task `id` of this strand now has a higher priority. The task is the drain task of
    /// another strand.
    pub(crate) fn raise_task(&self, id: TaskId, priority: &dyn Fn() -> i32) {
        let raise_in = self.with(|state| self.raise_in(state.raise(id, priority())));
        self.raise_drain(raise_in);
    }

    /// Removes from the wait list a submitter that no longer waits.
    pub(crate) fn leave(&self, ticket: Ticket) {
        self.state.lock().submitters.leave(ticket);
    }

    /// Submits the drain task to the underlying executor. If the drain task is refused, the submission of the
    /// task `first` fails.
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
                _ => Ok(()), // the task was cancelled or taken out meanwhile
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
            // The first task came from the submitter on this thread, so this submitter's token was a parent
            // of the first task's token. The later tasks may have come from other submitters.
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

    /// Runs a task of the strand. Stores in `is_named` whether a snapshot now shows the drain task with the
    /// name of that task.
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
            // Only drain tasks write this counter, one after the other. When the `join` of a task returns,
            // the task is already counted.
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

    /// Takes the next task, or ends the drain task, under the owner's lock. Called if the strand is probably
    /// empty.
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

    /// Submits a successor, so that other tasks can run first. Returns false if the drain task must continue.
    fn hand_over(self: &Arc<Self>) -> bool {
        let me = this_thread();
        let submit_successor = |executor: &dyn Executor| {
            let priority = self.with(|state| state.begin_to_hand_over(me))?;
            // If the successor is refused, it is dropped here, as if the executor had dropped it. If the
            // executor panics, the panic is caught, and dropped when the borrow has ended.
            Some(contain(|| drop(executor.execute_task(self.new_drain(priority)))))
        };
        let answer = self.owner.turns().and_then(|turns| turns.lend(submit_successor));
        let is_answered = answer.flatten().is_some();
        is_answered && !self.with(|state| state.goes_on(me))
    }

    /// Remembers that the drain task was dropped and will not be run.
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
    /// tasks. The caller must hold no lock when it drops the cancelled tasks.
    pub(crate) fn remove_all(&self, wanted: impl Fn(&Task) -> bool) -> (Vec<Task>, Vec<Task>) {
        self.with(|state| state.take_all(self.owner.queue_id(), self.owner.tombstones(), wanted))
    }

    /// Takes out all tasks, so that no further task begins. Returns the two lists of
    /// [`remove_all`](Self::remove_all).
    pub(crate) fn stop(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(|_| true)
    }

    /// Returns the queue in which the drain task waits, or `None` if the drain task is in no queue.
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

/// Removes the drain tasks with this root token from `queues`, and drops them, because their strands are
/// empty.
pub(crate) fn reclaim_drains(queues: BTreeSet<QueueId>, root: &CancelToken) {
    for queue in queues.into_iter().filter_map(QueueId::owner) {
        drop(queue.take_out_all(&|task| task.drains_strand_under(root)));
    }
}

/// What a submitter must do after its task has joined a strand.
#[must_use = "it must be announced"]
pub(crate) struct Joined {
    /// The priority of the drain task that the submitter must offer; `None` if there was already a drain
    /// task.
    offer: Option<i32>,
    raise_in: Option<QueueId>,
    drain: Location,
}

impl Joined {
    /// Returns whether the caller must call [`see_to_drain`](Strand::see_to_drain). If the result is false,
    /// there is already a drain task, which will run the new task.
    pub(crate) fn concerns_the_drain(&self) -> bool {
        self.offer.is_some() || self.raise_in.is_some()
    }

    /// Makes the starvation detector check the waits for the task again. The caller must hold no lock. A
    /// thread may have waited for the task before the task joined the strand; at that time the detector did
    /// not know which thread would run the task.
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

/// The drain task, as the underlying executor sees it.
impl<K: StrandOwner> HandleCell for Strand<K> {
    fn state(&self) -> TaskState {
        TaskState::Pending // a drain task has no handle
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

/// The drain task while a thread runs it. No token is made for a drain task, because its body is not a user's
/// code.
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

/// Tells the starvation detector that a submitter of this strand waits for the thread that offers the drain
/// task.
impl<K: StrandOwner> Source for Strand<K> {
    fn comes_from(&self) -> ComesFrom {
        match self.state.lock().drain {
            DrainState::Offered(thread) => ComesFrom::Places(vec![Location::On(thread)]),
            _ => ComesFrom::Elsewhere,
        }
    }
}
