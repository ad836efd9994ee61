//! An executor that runs what it was given when it is told to: for tests.
//!
//! A test of code that uses an executor wants to see what happens *between* two tasks, in another order, when
//! a task is refused or dropped. On a pool that takes luck or latches. Here nothing runs by itself: tasks lie
//! in a list until the test names the one that runs now, on the test's own thread. So each schedule is a few
//! lines of a test, and the same every time.
//!
//! ```text
//!   execute ──refuse_next──▶ refused
//!      │
//!      ▼
//!   pending ──run_next, run, run_pending, run_all──▶ runs on the calling thread ──▶ ended
//!      │ ──take, take_next, shutdown_now───────────▶ in the caller's hands
//!      └ ──discard_next, cancelled, executor dropped ▶ dropped, its handle cancelled
//! ```
//!
//! # Invariants
//!
//! 1. A task runs outside the lock, so it may submit to its own executor, or run others there.
//! 2. No task that was cancelled is in the list: whoever cancels it takes it out.

use std::collections::VecDeque;
use std::fmt;

use super::lifecycle::{InFlight, Lifecycle};
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{Location, QueueId, TaskId};
use crate::sync::{Arc, Duration, Mutex};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::waiting::error::RejectReason;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};
use crate::waiting::starvation::TaskRef;

/// Runs tasks when it is told to, on the thread that tells it: for tests of code that uses an executor.
///
/// A test decides which task runs when, and looks at what has happened in between:
///
/// ```
/// use executor::{Executor, ManualExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// /// Prices, loaded in the background. This is what we test.
/// #[derive(Default)]
/// struct Prices(Arc<Mutex<Option<u32>>>);
///
/// impl Prices {
///     fn load(&self, executor: &dyn Executor) {
///         let price = Arc::clone(&self.0);
///         let _ = executor.execute(move || *price.lock().unwrap() = Some(42)); // refused: it stays as it is
///     }
///
///     fn shown(&self) -> String {
///         self.0.lock().unwrap().map_or("loading".to_owned(), |price| price.to_string())
///     }
/// }
///
/// let (prices, executor) = (Prices::default(), ManualExecutor::new());
/// prices.load(&executor);
/// assert_eq!(prices.shown(), "loading"); // every time: the task runs only when we say so
/// executor.run_next();
/// assert_eq!(prices.shown(), "42");
///
/// let (prices, executor) = (Prices::default(), ManualExecutor::new());
/// executor.refuse_next(executor::RejectReason::Saturated);
/// prices.load(&executor);
/// assert_eq!((prices.shown().as_str(), executor.pending().len()), ("loading", 0));
/// ```
///
/// Tasks can be [run](Self::run) in any order, [taken](Self::take) out and [discarded](Self::discard_next),
/// and [submissions refused](Self::refuse_next). It can be given a bound, strands or tracking by the
/// executors that are made over others. A ticket of such a strand is pending under its own id, and the name
/// of the task that it would run first.
///
/// A panic in a task goes to the holder of its handle, or to the [panic handler of the
/// process](crate::panics) if nobody has that: as on any executor, it never reaches the thread that runs the
/// task. Dropping the executor drops what is pending, which completes the handles as cancelled.
///
/// # Blocking
/// Submitting never blocks. A task that waits for a pending one waits until *another* thread runs that:
/// nothing is reported as [starvation](crate::Starvation), because any thread may.
///
/// # Its end
/// After [`shutdown`](ExecutorService::shutdown) it is terminated when nothing is pending or runs.
/// [`close`](ExecutorService::close) runs what is pending, on the calling thread, and waits for what other
/// threads run.
pub struct ManualExecutor {
    shared: Arc<ManualShared>,
}

struct ManualShared {
    state: Mutex<ManualData>,
    life: Arc<Lifecycle>,
    registration: QueueRegistration,
}

#[derive(Default)]
struct ManualData {
    pending: VecDeque<(Task, InFlight)>,
    /// What the next submissions are refused with.
    refusals: VecDeque<RejectReason>,
}

impl ManualExecutor {
    /// Makes one that has nothing to do.
    pub fn new() -> Self {
        let new = |me: &_| ManualShared {
            state: Mutex::default(),
            life: Lifecycle::new(),
            registration: QueueRegistration::new(me),
        };
        Self { shared: Arc::new_cyclic(new) }
    }

    /// The tasks that were submitted and not run, in the order of their submission.
    pub fn pending(&self) -> Vec<TaskRef> {
        let state = self.shared.state.lock();
        let shown = |task: &Task| TaskRef::new(task.id(), task.stands_for().name());
        state.pending.iter().map(|(task, _)| shown(task)).collect()
    }

    /// Runs the task that was submitted first, and says how it ended. `None` if none is pending.
    ///
    /// # Blocking
    /// Returns when the task has ended, as all that follow.
    pub fn run_next(&self) -> Option<Outcome> {
        let next = self.shared.take_if(|_| true)?;
        Some(self.shared.run(next))
    }

    /// Runs this task, out of its turn. `None` if it is not pending.
    pub fn run(&self, id: TaskId) -> Option<Outcome> {
        let task = self.shared.take_if(|task| task.id() == id)?;
        Some(self.shared.run(task))
    }

    /// Runs what is pending now, in order. What these tasks submit stays pending. Returns how many have run:
    /// without those that one of the others has cancelled or run.
    pub fn run_pending(&self) -> usize {
        let now: Vec<_> = self.pending().into_iter().map(|task| task.id).collect();
        now.into_iter().filter_map(|id| self.run(id)).count()
    }

    /// Runs what is pending, and what that submits, until nothing is. Returns how many have run. A task that
    /// submits itself anew each time keeps this going for ever.
    pub fn run_all(&self) -> usize {
        std::iter::from_fn(|| self.run_next()).count()
    }

    /// Takes the task out that was submitted first. Run it, keep it, or drop it.
    pub fn take_next(&self) -> Option<Task> {
        self.shared.take_if(|_| true).map(|(task, _)| task.handed_out())
    }

    /// Takes this task out. `None` if it is not pending.
    pub fn take(&self, id: TaskId) -> Option<Task> {
        self.shared.take_if(|task| task.id() == id).map(|(task, _)| task.handed_out())
    }

    /// Drops the task that was submitted first, as an executor does that discards what it has accepted.
    /// Returns which it was.
    pub fn discard_next(&self) -> Option<TaskId> {
        self.take_next().map(|task| task.id())
    }

    /// Refuses the next submission with this reason. Called again, it refuses one more.
    pub fn refuse_next(&self, reason: RejectReason) {
        self.shared.state.lock().refusals.push_back(reason);
    }
}

impl Default for ManualExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl ManualShared {
    fn admit(&self, task: Task) -> Result<(), RejectedExecution> {
        let mut state = self.state.lock();
        let Some(stay) = self.life.begin_stay() else {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        };
        if let Some(reason) = state.refusals.pop_front() {
            drop(state);
            return Err(RejectedExecution { reason, task });
        }
        if task.enter_queue(self.registration.id()) {
            state.pending.push_back((task, stay));
        } else {
            task.leave_queue();
            drop(state);
            drop((task, stay)); // it was cancelled before it came
        }
        Ok(())
    }

    /// Takes the first task out that is wanted.
    fn take_if(&self, wanted: impl Fn(&Task) -> bool) -> Option<(Task, InFlight)> {
        loop {
            let mut state = self.state.lock();
            let place = state.pending.iter().position(|(task, _)| wanted(task))?;
            let taken = state.pending.remove(place)?;
            let was_cancelled = taken.0.leave_queue(); // just now, or whoever cancels it would have taken it out
            drop(state);
            if !was_cancelled {
                return Some(taken);
            }
        }
    }

    /// Takes all out that are wanted.
    fn take_all(&self, wanted: impl Fn(&Task) -> bool) -> Vec<(Task, InFlight)> {
        let mut state = self.state.lock();
        let (taken, kept) = state.pending.drain(..).partition(|(task, _)| wanted(task));
        state.pending = kept;
        let taken: VecDeque<(Task, InFlight)> = taken;
        let (cancelled, taken): (Vec<_>, _) = taken.into_iter().partition(|(task, _)| task.leave_queue());
        drop(state);
        drop(cancelled);
        taken
    }

    fn run(&self, (task, _stay): (Task, InFlight)) -> Outcome {
        self.life.root().also_above_tasks(|| task.run())
    }
}

impl Executor for ManualExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.shared.admit(task)
    }
}

impl ExecutorService for ManualExecutor {
    fn shutdown(&self) {
        self.shared.life.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.shared.life.shutdown();
        let tasks = Task::hand_out(self.shared.take_all(|_| true).into_iter().map(|(task, _)| task));
        self.shared.life.cancel_running();
        tasks
    }

    fn is_shutdown(&self) -> bool {
        self.shared.life.is_shutdown()
    }

    fn is_terminated(&self) -> bool {
        self.shared.life.is_over()
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.shared.life.await_end(timeout)
    }

    fn close(&self) {
        self.shutdown();
        if !self.shared.life.waits_for_this_thread() {
            self.run_all();
        }
        self.shared.life.close(|| self.shutdown_now());
    }
}

impl QueueOwner for ManualShared {
    fn cancelled_in_queue(&self, _queue: QueueId) {
        drop(self.take_all(Task::is_cancelled));
    }

    fn tombstone_dropped(&self) {} // none stays

    fn take_out(&self, _queue: QueueId, id: TaskId) -> Option<Task> {
        self.take_if(|task| task.id() == id).map(|(task, _)| task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        self.take_all(wanted).into_iter().map(|(task, _)| task).collect()
    }

    fn name(&self) -> String {
        "a manual executor".to_owned()
    }

    /// Any thread may run any task at any time.
    fn served_by(self: Arc<Self>, _queue: QueueId) -> ServedBy {
        ServedBy::DrainTask(Location::Elsewhere)
    }

    fn queued_of(&self, _queue: QueueId, collector: usize) -> usize {
        self.state.lock().pending.iter().filter(|(task, _)| task.collector() == collector).count()
    }
}

impl fmt::Debug for ManualExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending: Vec<_> = self.pending().iter().map(ToString::to_string).collect();
        f.debug_struct("ManualExecutor").field("pending", &pending).finish()
    }
}
