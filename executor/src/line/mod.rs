//! A line of tasks: one at a time, in order, on the threads of an executor below.
//!
//! [`SerialExecutor`](crate::SerialExecutor) is one line, [`StripedExecutor`](crate::StripedExecutor) one for each key.
//!
//! # How a line moves
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
//! The line gives the executor below one task, its *head*, which runs the tasks of the line one after the other until none is
//! left. So the executor can refuse only when the line is empty, and the refusal is the answer to the one whose task it was.
//! In the classic listing each task submits the next one: refused in the middle, the rest of the line stays where it is for
//! ever.
//!
//! A head that has run for long enough gives the executor a successor, behind what others have submitted, and returns. If that
//! is refused, it goes on itself, since the tasks behind it were accepted. An executor may run the successor before the call
//! returns, as [`CallerRuns`](crate::CallerRuns) does: then the successor returns at once and the head goes on, so the stack
//! does not grow with the line.
//!
//! The head is no closure that has captured the line. It shares its state with the line as a task does with its handle: so the
//! line knows in which queue the head is, and no memory is allocated for a head.
//!
//! # How a head rises
//!
//! To the executor below, a head is as urgent as the most urgent task that has come into the line while it waits. A task that
//! comes later may be more urgent, and the queue below has ordered the head by then. To take the head out and submit it again
//! would be wrong: meanwhile it could be refused, or `shutdown_now` could miss it. So the queue is asked to
//! [raise](crate::watcher::QueueWatcher::raise) it, and does so under its own lock, in one step.
//!
//! The priority is not told but asked for, under that lock. So of two submitters that have the head raised at the same time, the
//! second finds what the first has done or more, and a head that is another one by now has the priority that it should have.
//! A head that is on its way into the queue is in none yet. The queue asks for its priority when it has said that the
//! head is in there: whichever comes first under the lock of the line, the submitter or the queue, the other one knows of it.
//!
//! The order in the line stays as it is: what is urgent carries along what is before it. A head never falls: what has made it
//! urgent may be cancelled, but its submitter has had the place. Its successor begins anew, with what is in the line then.
//!
//! # Invariants
//!
//! 1. At most one head has not begun, and at most one runs tasks. While there is one, every task in the line will be run by it
//!    or a successor, or be dropped with it.
//! 2. While the first head is being offered, other submitters wait: nobody counts on a head that may be refused.
//! 3. No user code runs under the lock.
//! 4. The lock may be taken under that of the queue in which the head waits, so never the other way round.

mod state;
mod turns;

pub(crate) use state::LineState;
pub(crate) use turns::{Lender, Turns};

use std::collections::BTreeSet;
use std::task::Waker;

use crate::awaited::{ComesFrom, Source};
use crate::cancel::{CancelToken, RunningTask};
use crate::executor::{Executor, RejectedExecution};
use crate::ids::{Place, TaskId, WatcherId, this_thread};
use crate::outcome::Outcome;
use crate::panics::contain;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex};
use crate::task::{HandleCell, LineHead, Task, TaskLabel, TaskState};
use crate::tombstones::Tombstones;
use crate::wait::Ticket;
use crate::wait_graph::{look_again_at, see_to};
use crate::worker_context::runs_part;
use state::{ForTheHead, Head, Next, Remains};

/// Who keeps a line.
pub(crate) trait Keeper: Sized + Send + Sync + 'static {
    /// The watcher of the line's tasks.
    fn watcher(&self) -> WatcherId;

    fn tombstones(&self) -> &Tombstones;

    /// How long a head runs before others have their turn; `None` if it runs until the line is empty.
    fn turns(&self) -> Option<&Turns>;

    /// The token above the line's tasks, beside that of the thread.
    fn root(&self) -> &CancelToken;

    /// Changes a line in a way after which it may be idle. Takes the keeper's lock, which is also held while a task comes in,
    /// around the line's.
    fn change<R>(line: &Arc<Line<Self>>, change: impl FnOnce(&mut LineState) -> R) -> R;
}

pub(crate) struct Line<K> {
    state: Mutex<LineState>,
    /// Of each of its heads, of which only one is in a queue at a time.
    head: TaskId,
    /// The number of the queue in which the head is; 0 if it is in none.
    queue: AtomicU64,
    /// How many of its tasks have ended.
    completed: AtomicU64,
    pub(crate) keeper: K,
}

impl<K: Keeper> Line<K> {
    pub(crate) fn new(keeper: K) -> Self {
        Self {
            state: Mutex::new(LineState::new()),
            head: TaskId::next(),
            queue: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            keeper,
        }
    }

    /// Looks at the line, or changes it in a way that does not leave it idle.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut LineState) -> R) -> R {
        f(&mut self.state.lock())
    }

    // ----- the way in -----

    /// Puts a task into the line. If it is not yet known whether the head is accepted, the task stays where it is and the waker
    /// is left. A task that a scope would wait for without end stays where it is, too.
    pub(crate) fn join(&self, task: &mut Option<Task>, waker: &Waker) -> Result<Joined, Ticket> {
        let me = this_thread();
        let mut state = self.state.lock();
        if state.is_undecided_for(me) {
            return Err(state.wait(waker));
        }
        if state.would_strand(task.as_ref()) {
            return Ok(Joined { offer: None, raise_in: None, head: Place::Elsewhere }); // the caller drops it
        }
        let task = task.take().expect("it has not joined a line");
        let for_the_head = state.join(task, me, self.keeper.watcher(), self.keeper.tombstones());
        let offer = (for_the_head == ForTheHead::Offer).then_some(state.priority);
        Ok(Joined { offer, raise_in: self.raise_in(for_the_head), head: self.place(&state) })
    }

    /// The queue that has to raise the head, if it is in one. To be asked under the lock: a head that comes into a queue after
    /// that finds its priority there.
    fn raise_in(&self, what: ForTheHead) -> Option<WatcherId> {
        if what == ForTheHead::Raise { self.queue() } else { None }
    }

    /// Does what is to be done for the head because the task `id` has joined: gives it to the executor below, or has it
    /// raised there. Without locks.
    pub(crate) fn see_to_head(
        self: &Arc<Self>,
        joined: &Joined,
        executor: &(impl Executor + ?Sized),
        id: TaskId,
    ) -> Result<(), RejectedExecution> {
        if let Some(priority) = joined.offer {
            return self.offer(executor, id, priority);
        }
        self.raise_head(joined.raise_in);
        Ok(())
    }

    fn raise_head(&self, queue: Option<WatcherId>) {
        if let Some((queue, watcher)) = queue.and_then(|queue| Some((queue, queue.watcher()?))) {
            watcher.raise(queue, self.head, &|| self.priority());
        }
    }

    /// A task in the line, the head of another one, has a higher priority now.
    pub(crate) fn raise_task(&self, id: TaskId, priority: &dyn Fn() -> i32) {
        let raise_in = self.with(|state| self.raise_in(state.raise(id, priority())));
        self.raise_head(raise_in);
    }

    /// A submitter waits no more.
    pub(crate) fn leave(&self, ticket: Ticket) {
        self.state.lock().submitters.leave(ticket);
    }

    /// Gives the head to the executor below, on behalf of the task `first`.
    fn offer(
        self: &Arc<Self>,
        executor: &(impl Executor + ?Sized),
        first: TaskId,
        priority: i32,
    ) -> Result<(), RejectedExecution> {
        /// Also if the executor panics.
        struct Offering<'a, K: Keeper>(&'a Line<K>);
        impl<K: Keeper> Drop for Offering<'_, K> {
            fn drop(&mut self) {
                let remains = self.0.state.lock().is_accepted(this_thread());
                remains.settle();
            }
        }

        let _offering = Offering(self);
        let refused = executor.execute_task(self.new_head(priority));
        refused.or_else(|RejectedExecution { reason, task: head }| {
            let own = self.remove(first);
            drop(head); // the line is empty now, and those who wait try for themselves
            match own {
                Some((task, false)) => Err(RejectedExecution { reason, task }),
                _ => Ok(()), // cancelled meanwhile, or taken out
            }
        })
    }

    fn new_head(self: &Arc<Self>, priority: i32) -> Task {
        Task::with_handle(Arc::clone(self) as Arc<dyn HandleCell>, self.head).prioritized(priority)
    }

    // ----- the head -----

    /// The head's body.
    fn run_head(self: &Arc<Self>) {
        let (watcher, tombstones) = (self.keeper.watcher(), self.keeper.tombstones());
        let mut cancelled = Vec::new(); // dropped when the lock is free
        let me = this_thread();
        let begun = self.with(|state| {
            let is_inline = state.is_offered_by(me);
            let remains = state.begin(me)?;
            Some((remains, is_inline, state.next(watcher, tombstones, &mut cancelled)))
        });
        let Some((remains, is_inline, first)) = begun else { return };
        remains.settle();
        let root = self.keeper.root();
        root.also_above_tasks(|| {
            drop(cancelled);
            match first {
                Some(Next { task, .. }) if is_inline => self.run_task(task, &mut false),
                first => self.run_tasks(first),
            }
        });
        if is_inline {
            // The first task was the submitter's, and so hangs below its token, too. Others may be anybody's.
            root.above_tasks(|| self.run_tasks(None));
        }
    }

    fn run_tasks(self: &Arc<Self>, first: Option<Next>) {
        let turn = self.keeper.turns().map_or(usize::MAX, Turns::length);
        let (mut left, mut is_named) = (turn, false);
        let mut next = first.or_else(|| self.next_or_end());
        while let Some(Next { task, is_last }) = next {
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

    /// Whether the head is shown under the name of a task, is noted in `is_named`.
    fn run_task(&self, task: Task, is_named: &mut bool) {
        let label = task.label();
        let was_named = std::mem::replace(is_named, label.name().is_some() || task.heads_a_line());
        if was_named || *is_named {
            runs_part(self.head, &label);
        }
        let _job = see_to(self.head, label.clone());
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), None);
            }
            // Only heads write here, each after the one before it. Whoever has joined the task finds it counted.
            self.completed.store(self.completed() + 1, Ordering::Relaxed);
        });
    }

    /// The next task, or the end of the line. For when there was one more.
    fn next(self: &Arc<Self>) -> Option<Next> {
        let mut cancelled = Vec::new(); // dropped when the lock is free
        let (watcher, tombstones) = (self.keeper.watcher(), self.keeper.tombstones());
        let next = self.with(|state| state.next(watcher, tombstones, &mut cancelled));
        next.or_else(|| self.next_or_end())
    }

    /// The same, under the lock that an end needs. For when there was no other task.
    fn next_or_end(self: &Arc<Self>) -> Option<Next> {
        let mut cancelled = Vec::new(); // dropped when the locks are free
        let (watcher, tombstones) = (self.keeper.watcher(), self.keeper.tombstones());
        K::change(self, |state| {
            let next = state.next(watcher, tombstones, &mut cancelled);
            if next.is_none() {
                state.end();
            }
            next
        })
    }

    /// Lets others go first. False if the head is to go on.
    fn hand_over(self: &Arc<Self>) -> bool {
        let Some(loan) = self.keeper.turns().and_then(Turns::borrow) else { return false };
        let me = this_thread();
        let Some(priority) = self.with(|state| state.begin_to_hand_over(me)) else { return false };
        // A head that comes back is dropped here, as one that the executor drops. So is a panic of the executor's.
        let answer = contain(|| drop(loan.execute(self.new_head(priority))));
        drop(loan);
        drop(answer);
        !self.with(|state| state.goes_on(me))
    }

    /// The head will not be run.
    fn head_is_dropped(self: &Arc<Self>) {
        let remains = K::change(self, |state| state.abandon(self.keeper.watcher(), self.keeper.tombstones()));
        remains.settle();
    }

    /// Where the head is.
    pub(crate) fn place_of_head(&self) -> Place {
        self.place(&self.state.lock())
    }

    fn place(&self, state: &LineState) -> Place {
        match state.head {
            Head::Gone => Place::Elsewhere,
            Head::Offered(thread) | Head::Runs(thread) | Head::HandsOver(thread) => Place::On(thread),
            Head::Accepted => self.queue().map_or(Place::Elsewhere, Place::In),
        }
    }

    // ----- out of the line -----

    /// Takes a task out, if it is in the line, and says whether it was cancelled there.
    pub(crate) fn remove(&self, id: TaskId) -> Option<(Task, bool)> {
        self.with(|state| state.take_out(id, self.keeper.watcher(), self.keeper.tombstones()))
    }

    /// Takes out all those that are wanted. What was cancelled comes apart, here and below, to be dropped without locks.
    pub(crate) fn remove_all(&self, wanted: impl Fn(&Task) -> bool) -> (Vec<Task>, Vec<Task>) {
        self.with(|state| state.take_all(self.keeper.watcher(), self.keeper.tombstones(), wanted))
    }

    /// Takes out all tasks, because no more are to begin.
    pub(crate) fn stop(&self) -> (Vec<Task>, Vec<Task>) {
        self.remove_all(|_| true)
    }

    /// The queue below in which the head waits, if it waits in one.
    pub(crate) fn head_in(&self) -> Option<WatcherId> {
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

    /// The same, when no head writes it.
    pub(crate) fn take_completed(&self) -> u64 {
        self.completed.swap(0, Ordering::Relaxed)
    }
}

/// Takes the heads of lines under this root out of the queues in which they wait: they would find nothing.
pub(crate) fn recall_heads(queues: BTreeSet<WatcherId>, root: &CancelToken) {
    for queue in queues.into_iter().filter_map(WatcherId::watcher) {
        drop(queue.take_out_all(&|task| task.heads_line_under(root)));
    }
}

/// A task has joined a line.
#[must_use = "it is to be announced"]
pub(crate) struct Joined {
    /// The priority of the head that is to be offered, if there was none.
    offer: Option<i32>,
    raise_in: Option<WatcherId>,
    head: Place,
}

impl Joined {
    /// Whether the caller has to [see to the head](Line::see_to_head). If not, there is one, which will come to the task.
    pub(crate) fn concerns_the_head(&self) -> bool {
        self.offer.is_some() || self.raise_in.is_some()
    }

    /// To be called without locks: somebody may have waited for the task before it came, and have looked who could run it.
    pub(crate) fn announce(&self) {
        look_again_at(self.head);
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

/// What the executor below sees of the head.
impl<K: Keeper> HandleCell for Line<K> {
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
        self.run_head();
        before_publish(&Outcome::Completed);
        Outcome::Completed
    }

    fn abandon(self: Arc<Self>) {
        self.head_is_dropped();
    }

    fn enter_queue(&self, watcher: WatcherId) -> bool {
        // Release: pairs with the Acquire in `queue`.
        self.queue.store(watcher.number(), Ordering::Release);
        true
    }

    fn leave_queue(&self) -> bool {
        self.queue.store(0, Ordering::Release);
        false
    }

    fn queue(&self) -> Option<WatcherId> {
        WatcherId::from_number(self.queue.load(Ordering::Acquire))
    }

    fn will_be_cancelled(&self) {}

    fn as_head(&self) -> Option<&dyn LineHead> {
        Some(self)
    }
}

impl<K: Keeper> LineHead for Line<K> {
    fn is_under(&self, root: &CancelToken) -> bool {
        self.keeper.root().is(root)
    }

    fn priority(&self) -> i32 {
        self.with(|state| state.priority)
    }

    fn first(&self) -> Option<TaskLabel> {
        self.with(|state| state.first())
    }

    fn handed_out(&self) -> Vec<Task> {
        self.with(|state| state.is_handed_out(self.keeper.watcher(), self.keeper.tombstones()))
    }
}

/// No token is ever made for the head: its body is no user's code.
impl<K: Keeper> RunningTask for Line<K> {
    fn id(&self) -> TaskId {
        self.head
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

/// For a submitter that waits until the head is accepted.
impl<K: Keeper> Source for Line<K> {
    fn comes_from(&self) -> ComesFrom {
        match self.state.lock().head {
            Head::Offered(thread) => ComesFrom::Places(vec![Place::On(thread)]),
            _ => ComesFrom::Elsewhere,
        }
    }
}
