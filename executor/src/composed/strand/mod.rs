//! A strand of tasks: one at a time, in order, on the threads of an executor below.
//!
//! [`SerialExecutor`](crate::SerialExecutor) is one strand, [`StripedExecutor`](crate::StripedExecutor) one
//! for each key.
//!
//! # How a strand moves
//!
//! ```text
//!          first task             accepted              begins            last task done
//!   gone ─────────────▶ offered ────────────▶ accepted ────────▶ runs ─────────────────────▶ gone
//!     ▲                    │ refused, dropped    │ dropped       │  ▲
//!     └────────────────────┴─────────────────────┘               │  │ refused, dropped, run inside of the call
//!                                                ▲               ▼  │
//!                                                └─accepted── hands over   (after so many tasks, if there are more)
//! ```
//!
//! The strand gives the executor below one task, its *drain task*, which runs the tasks of the strand one
//! after the other until none is left. So the executor can refuse only when the strand is empty, and the
//! refusal is the answer to the one whose task it was. In the classic listing each task submits the next one:
//! refused in the middle, the rest of the strand stays where it is for ever.
//!
//! A drain task that has run for long enough gives the executor a successor, behind what others have
//! submitted, and returns. If that is refused, it goes on itself, since the tasks behind it were accepted. An
//! executor may run the successor before the call returns, as [`CallerRuns`](crate::CallerRuns) does: then
//! the successor returns at once and the drain task goes on, so the stack does not grow with the strand.
//!
//! The drain task is no closure that has captured the strand. It shares its state with the strand as a task
//! does with its handle: so the strand knows in which queue the drain task is, and no memory is allocated for
//! a drain task.
//!
//! # How a drain task rises
//!
//! To the executor below, a drain task is as urgent as the most urgent task that has come into the strand
//! while it waits. A task that comes later may be more urgent, and the queue below has ordered the drain task
//! by then. To take the drain task out and submit it again would be wrong: meanwhile it could be refused, or
//! `shutdown_now` could miss it. So the queue is asked to
//! [raise](crate::waiting::queue_owner::QueueOwner::raise) it, and does so under its own lock, in one step.
//!
//! The priority is not told but asked for, under that lock. So of two submitters that have the drain task
//! raised at the same time, the second finds what the first has done or more, and a drain task that is
//! another one by now has the priority that it should have. A drain task that is on its way into the queue is
//! in none yet. The queue asks for its priority when it has said that the drain task is in there: whichever
//! comes first under the lock of the strand, the submitter or the queue, the other one knows of it.
//!
//! The order in the strand stays as it is: what is urgent carries along what is before it. A drain task never
//! falls: what has made it urgent may be cancelled, but its submitter has had the place. Its successor begins
//! anew, with what is in the strand then.
//!
//! # Invariants
//!
//! 1. At most one drain task has not begun, and at most one runs tasks. While there is one, every task in the
//!    strand will be run by it or a successor, or be dropped with it.
//! 2. While the first drain task is being offered, other submitters wait: nobody counts on a drain task that
//!    may be refused.
//! 3. No user code runs under the lock.
//! 4. The lock may be taken under that of the queue in which the drain task waits, so never the other way
//!    round.

mod state;
mod fairness;

pub(crate) use fairness::{Lender, Turns};
pub(crate) use state::StrandState;

use std::collections::BTreeSet;
use std::task::Waker;

use crate::cancel::{CancelToken, RunningTask};
use crate::executor::{Executor, RejectedExecution};
use crate::ids::{Location, QueueId, TaskId, this_thread};
use crate::panics::contain;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex};
use crate::task::outcome::Outcome;
use crate::task::tombstones::Tombstones;
use crate::task::{HandleCell, StrandDrain, Task, TaskLabel, TaskState};
use crate::wait_graph::{drain_for, look_again_at};
use crate::waiting::awaited::{ComesFrom, Source};
use crate::waiting::wait::Ticket;
use crate::waiting::worker_context::runs_part;
use state::{DrainState, ForTheDrain, NextInStrand, Remains};

/// The owner of a strand.
pub(crate) trait StrandOwner: Sized + Send + Sync + 'static {
    /// The queue owner of the strand's tasks.
    fn queue_id(&self) -> QueueId;

    fn tombstones(&self) -> &Tombstones;

    /// How long a drain task runs before others have their turn; `None` if it runs until the strand is empty.
    fn turns(&self) -> Option<&Turns>;

    /// The token above the strand's tasks, beside that of the thread.
    fn root(&self) -> &CancelToken;

    /// Changes a strand in a way after which it may be idle. Takes the owner's lock, which is also held while
    /// a task comes in, around the strand's.
    fn change<R>(strand: &Arc<Strand<Self>>, change: impl FnOnce(&mut StrandState) -> R) -> R;
}

pub(crate) struct Strand<K> {
    state: Mutex<StrandState>,
    /// Of each of its drain tasks, of which only one is in a queue at a time.
    drain: TaskId,
    /// The number of the queue in which the drain task is; 0 if it is in none.
    queue: AtomicU64,
    /// How many of its tasks have ended.
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

    /// Looks at the strand, or changes it in a way that does not leave it idle.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut StrandState) -> R) -> R {
        f(&mut self.state.lock())
    }

    // ----- the way in -----

    /// Puts a task into the strand. If it is not yet known whether the drain task is accepted, the task stays
    /// where it is and the waker is left. A task that a scope would wait for without end stays where it is,
    /// too.
    pub(crate) fn join(&self, task: &mut Option<Task>, waker: &Waker) -> Result<Joined, Ticket> {
        let me = this_thread();
        let mut state = self.state.lock();
        if state.is_undecided_for(me) {
            return Err(state.wait(waker));
        }
        if state.would_strand(task.as_ref()) {
            return Ok(Joined { offer: None, raise_in: None, drain: Location::Elsewhere }); // the caller drops it
        }
        let task = task.take().expect("it has not joined a line");
        let for_the_drain = state.join(task, me, self.owner.queue_id(), self.owner.tombstones());
        let offer = (for_the_drain == ForTheDrain::Offer).then_some(state.priority);
        Ok(Joined { offer, raise_in: self.raise_in(for_the_drain), drain: self.place(&state) })
    }

    /// The queue that has to raise the drain task, if it is in one. To be asked under the lock: a drain task
    /// that comes into a queue after that finds its priority there.
    fn raise_in(&self, what: ForTheDrain) -> Option<QueueId> {
        if what == ForTheDrain::Raise { self.queue() } else { None }
    }

    /// Does what is to be done for the drain task because the task `id` has joined: gives it to the executor
    /// below, or has it raised there. Without locks.
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

    /// A task in the strand, the drain task of another one, has a higher priority now.
    pub(crate) fn raise_task(&self, id: TaskId, priority: &dyn Fn() -> i32) {
        let raise_in = self.with(|state| self.raise_in(state.raise(id, priority())));
        self.raise_drain(raise_in);
    }

    /// A submitter waits no more.
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
        /// Also if the executor panics.
        struct Offering<'a, K: StrandOwner>(&'a Strand<K>);
        impl<K: StrandOwner> Drop for Offering<'_, K> {
            fn drop(&mut self) {
                let remains = self.0.state.lock().is_accepted(this_thread());
                remains.settle();
            }
        }

        let _offering = Offering(self);
        let refused = executor.execute_task(self.new_drain(priority));
        refused.or_else(|RejectedExecution { reason, task: drain }| {
            let own = self.remove(first);
            drop(drain); // the strand is empty now, and those who wait try for themselves
            match own {
                Some((task, false)) => Err(RejectedExecution { reason, task }),
                _ => Ok(()), // cancelled meanwhile, or taken out
            }
        })
    }

    fn new_drain(self: &Arc<Self>, priority: i32) -> Task {
        Task::with_handle(Arc::clone(self) as Arc<dyn HandleCell>, self.drain).prioritized(priority)
    }

    // ----- the drain task -----

    /// The drain task's body.
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
                Some(NextInStrand { task, .. }) if is_inline => self.run_task(task, &mut false),
                first => self.run_tasks(first),
            }
        });
        if is_inline {
            // The first task was the submitter's, and so hangs below its token, too. Others may be anybody's.
            root.above_tasks(|| self.run_tasks(None));
        }
    }

    fn run_tasks(self: &Arc<Self>, first: Option<NextInStrand>) {
        let turn = self.owner.turns().map_or(usize::MAX, Turns::length);
        let (mut left, mut is_named) = (turn, false);
        let mut next = first.or_else(|| self.next_or_end());
        while let Some(NextInStrand { task, is_last }) = next {
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

    /// Whether the drain task is shown under the name of a task, is noted in `is_named`.
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
            // Only drain tasks write here, each after the one before it. Whoever has joined the task finds it
            // counted.
            self.completed.store(self.completed() + 1, Ordering::Relaxed);
        });
    }

    /// The next task, or the end of the strand. For when there was one more.
    fn next(self: &Arc<Self>) -> Option<NextInStrand> {
        let mut cancelled = Vec::new(); // dropped when the lock is free
        let (queue_id, tombstones) = (self.owner.queue_id(), self.owner.tombstones());
        let next = self.with(|state| state.next(queue_id, tombstones, &mut cancelled));
        next.or_else(|| self.next_or_end())
    }

    /// The same, under the lock that an end needs. For when there was no other task.
    fn next_or_end(self: &Arc<Self>) -> Option<NextInStrand> {
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

    /// Lets others go first. False if the drain task is to go on.
    fn hand_over(self: &Arc<Self>) -> bool {
        let Some(loan) = self.owner.turns().and_then(Turns::borrow) else { return false };
        let me = this_thread();
        let Some(priority) = self.with(|state| state.begin_to_hand_over(me)) else { return false };
        // A drain task that comes back is dropped here, as one that the executor drops. So is a panic of the
        // executor's.
        let answer = contain(|| drop(loan.execute(self.new_drain(priority))));
        drop(loan);
        drop(answer);
        !self.with(|state| state.goes_on(me))
    }

    /// The drain task will not be run.
    fn drain_is_dropped(self: &Arc<Self>) {
        let remains = K::change(self, |state| state.abandon(self.owner.queue_id(), self.owner.tombstones()));
        remains.settle();
    }

    /// Where the drain task is.
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

    /// Takes a task out, if it is in the strand, and says whether it was cancelled there.
    pub(crate) fn remove(&self, id: TaskId) -> Option<(Task, bool)> {
        self.with(|state| state.take_out(id, self.owner.queue_id(), self.owner.tombstones()))
    }

    /// Takes out all those that are wanted. What was cancelled comes apart, here and below, to be dropped
    /// without locks.
    pub(crate) fn remove_all(&self, wanted: impl Fn(&Task) -> bool) -> (Vec<Task>, Vec<Task>) {
        self.with(|state| state.take_all(self.owner.queue_id(), self.owner.tombstones(), wanted))
    }

    /// Takes out all tasks, because no more are to begin.
    pub(crate) fn stop(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(|_| true)
    }

    /// The queue below in which the drain task waits, if it waits in one.
    pub(crate) fn drain_in(&self) -> Option<QueueId> {
        self.queue()
    }

    /// Takes out what was cancelled.
    pub(crate) fn clear_out(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(Task::is_cancelled)
    }

    /// How many of its tasks have ended.
    pub(crate) fn completed(&self) -> u64 {
        self.completed.load(Ordering::Relaxed)
    }

    /// The same, when no drain task writes it.
    pub(crate) fn take_completed(&self) -> u64 {
        self.completed.swap(0, Ordering::Relaxed)
    }
}

/// Takes the drain tasks of strands under this root out of the queues in which they wait: they would find
/// nothing.
pub(crate) fn reclaim_drains(queues: BTreeSet<QueueId>, root: &CancelToken) {
    for queue in queues.into_iter().filter_map(QueueId::owner) {
        drop(queue.take_out_all(&|task| task.drains_strand_under(root)));
    }
}

/// A task has joined a strand.
#[must_use = "it is to be announced"]
pub(crate) struct Joined {
    /// The priority of the drain task that is to be offered, if there was none.
    offer: Option<i32>,
    raise_in: Option<QueueId>,
    drain: Location,
}

impl Joined {
    /// Whether the caller has to [see to the drain task](Strand::see_to_drain). If not, there is one, which
    /// will come to the task.
    pub(crate) fn concerns_the_drain(&self) -> bool {
        self.offer.is_some() || self.raise_in.is_some()
    }

    /// To be called without locks: somebody may have waited for the task before it came, and have looked who
    /// could run it.
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

/// What the executor below sees of the drain task.
impl<K: StrandOwner> HandleCell for Strand<K> {
    fn state(&self) -> TaskState {
        TaskState::Pending // nobody has its handle
    }

    fn is_finished(&self) -> bool {
        false
    }

    fn cancel(self: Arc<Self>, _stop_body: bool) -> bool {
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

/// No token is ever made for the drain task: its body is no user's code.
impl<K: StrandOwner> RunningTask for Strand<K> {
    fn id(&self) -> TaskId {
        self.drain
    }

    fn collector(&self) -> usize {
        0
    }

    fn token_made(&self, _token: &CancelToken) {}

    fn was_cancelled(&self) -> bool {
        false
    }

    fn is_limited(&self) -> bool {
        false
    }
}

/// For a submitter that waits until the drain task is accepted.
impl<K: StrandOwner> Source for Strand<K> {
    fn comes_from(&self) -> ComesFrom {
        match self.state.lock().drain {
            DrainState::Offered(thread) => ComesFrom::Places(vec![Location::On(thread)]),
            _ => ComesFrom::Elsewhere,
        }
    }
}
