//! An executor that runs each task at the moment that a test chooses.
//!
//! A test of code that uses an executor must check the state *between* two tasks. The test must also try
//! different orders of the tasks, and tasks that are refused or dropped. With a pool, a test can choose the
//! order only with latches, or by luck. On a manual executor, no task runs by itself. Tasks wait in a list
//! until the test runs them, on the test's own thread. So a test defines a schedule in a few lines, and the
//! schedule is the same every time.
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
//! 1. No task runs under the lock. So a task can submit tasks to its own executor, and run other tasks of
//!    that executor.
//! 2. A cancelled task does not stay in the list: the thread that cancels the task removes it.

use std::collections::VecDeque;
use std::fmt;

use super::lifecycle::{InFlight, Lifecycle};
use crate::cancel::reason::CancelKind;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{Location, QueueId, TaskId};
use crate::panics::UserCode;
use crate::sync::{Arc, Duration, Mutex};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::waiting::error::RejectReason;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};
use crate::waiting::starvation::TaskRef;

/// An executor for tests: it runs a task when the test asks for it, on the thread of the test.
///
/// A test decides when each task runs, and checks the state between two tasks:
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
/// assert_eq!(prices.shown(), "loading"); // every time: no task runs by itself
/// executor.run_next();
/// assert_eq!(prices.shown(), "42");
///
/// let (prices, executor) = (Prices::default(), ManualExecutor::new());
/// executor.refuse_next(executor::RejectReason::Saturated);
/// prices.load(&executor);
/// assert_eq!((prices.shown().as_str(), executor.pending().len()), ("loading", 0));
/// ```
///
/// A test can [run](Self::run) tasks in any order, [take](Self::take) them out, [discard](Self::discard_next)
/// them, and [refuse](Self::refuse_next) submissions. Other executors, which add a bound, strands or
/// tracking, can be built on a manual executor. If a strand is built on a manual executor, the list shows the
/// strand's drain task, with the drain task's own id and the name of the next task of the strand.
///
/// The task's handle reports a panic in the task. If the handle was dropped, the panic goes to the [panic
/// handler of the process](crate::panics). As on any executor, the panic never reaches the caller that runs
/// the task. When the executor is dropped, its pending tasks are dropped, and their handles are cancelled.
///
/// # Blocking
/// A submission never blocks. A task that waits for a pending task waits until *another* thread runs that
/// pending task. The library does not report this wait as [starvation](crate::Starvation), because any thread
/// can run the pending task.
///
/// # Its end
/// After [`shutdown`](ExecutorService::shutdown), the executor is terminated when no task is pending and no
/// task is running. [`close`](ExecutorService::close) runs the pending tasks on the calling thread, and then
/// waits for the tasks that other threads are running.
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
    /// The reasons with which the next submissions are refused.
    refusals: VecDeque<RejectReason>,
}

impl ManualExecutor {
    /// Makes a manual executor without tasks.
    ///
    /// ```
    /// use executor::ManualExecutor;
    ///
    /// assert!(ManualExecutor::new().pending().is_empty());
    /// ```
    pub fn new() -> Self {
        let new = |me: &_| ManualShared {
            state: Mutex::default(),
            life: Lifecycle::new(),
            registration: QueueRegistration::new(me),
        };
        Self { shared: Arc::new_cyclic(new) }
    }

    /// Returns the pending tasks, in the order of their submission.
    ///
    /// ```
    /// use executor::{ManualExecutor, Task, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// executor.execute(Task::new(|| ()).named("report"))?;
    /// assert!(executor.pending()[0].to_string().starts_with("report"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pending(&self) -> Vec<TaskRef> {
        let state = self.shared.state.lock();
        let shown = |task: &Task| TaskRef::new(task.id(), task.stands_for().name());
        state.pending.iter().map(|(task, _)| shown(task)).collect()
    }

    /// Runs the pending task that was submitted first, and returns its outcome. Returns `None` if no
    /// task is pending.
    ///
    /// ```
    /// use executor::{ManualExecutor, Outcome, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let answer = executor.submit(|| 6 * 7)?;
    /// assert!(matches!(executor.run_next(), Some(Outcome::Completed)));
    /// assert_eq!(answer.join()?, 42);
    /// assert!(executor.run_next().is_none()); // no task is pending
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// This call, and the other methods that run tasks, return only when their tasks have ended.
    pub fn run_next(&self) -> Option<Outcome> {
        let next = self.shared.take_if(|_| true)?;
        Some(self.shared.run(next))
    }

    /// Runs the pending task with this id, even before older tasks. Returns `None` if the task is not
    /// pending.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let first = executor.submit(|| "first")?;
    /// let second = executor.submit(|| "second")?;
    /// assert!(executor.run(second.id()).is_some());
    /// assert!(second.is_finished() && !first.is_finished());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, id: TaskId) -> Option<Outcome> {
        let task = self.shared.take_if(|task| task.id() == id)?;
        Some(self.shared.run(task))
    }

    /// Runs the tasks that are pending now, in order. Tasks that are submitted during the call stay pending.
    /// Returns the number of tasks that this call has run. If one of the tasks cancels or runs another task,
    /// that other task is not counted.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let executor = Arc::new(ManualExecutor::new());
    /// let own = Arc::clone(&executor);
    /// executor.execute(move || own.execute(|| ()).unwrap())?;
    /// assert_eq!(executor.run_pending(), 1);
    /// assert_eq!(executor.pending().len(), 1); // the task that the first task has submitted
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_pending(&self) -> usize {
        let now: Vec<_> = self.pending().into_iter().map(|task| task.id).collect();
        now.into_iter().filter_map(|id| self.run(id)).count()
    }

    /// Runs the pending tasks, and the tasks that they submit, until no task is pending. Returns the number
    /// of tasks that the call has run. If each task submits a further task, the call never returns.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let executor = Arc::new(ManualExecutor::new());
    /// let own = Arc::clone(&executor);
    /// executor.execute(move || own.execute(|| ()).unwrap())?;
    /// assert_eq!(executor.run_all(), 2); // with the task that the first task has submitted
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_all(&self) -> usize {
        std::iter::from_fn(|| self.run_next()).count()
    }

    /// Removes and returns the pending task that was submitted first. The caller can run the task, keep it,
    /// or drop it.
    ///
    /// ```
    /// use executor::{ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let answer = executor.submit(|| 6 * 7)?;
    /// let task = executor.take_next().expect("one task is pending");
    /// std::thread::spawn(|| task.run()).join().unwrap();
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_next(&self) -> Option<Task> {
        self.shared.take_if(|_| true).map(|(task, _)| task.handed_out())
    }

    /// Removes and returns the pending task with this id. Returns `None` if the task is not pending.
    ///
    /// ```
    /// use executor::{JoinError, ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let answer = executor.submit(|| 6 * 7)?;
    /// drop(executor.take(answer.id()));
    /// assert!(matches!(answer.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(&self, id: TaskId) -> Option<Task> {
        self.shared.take_if(|task| task.id() == id).map(|(task, _)| task.handed_out())
    }

    /// Drops the pending task that was submitted first, and returns its id. With this method, a test can
    /// imitate an executor that discards accepted tasks.
    ///
    /// ```
    /// use executor::{JoinError, ManualExecutor, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// let answer = executor.submit(|| 6 * 7)?;
    /// assert_eq!(executor.discard_next(), Some(answer.id()));
    /// assert!(matches!(answer.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn discard_next(&self) -> Option<TaskId> {
        self.take_next().map(|task| task.id())
    }

    /// Refuses the next submission, for the given reason. Several calls refuse several submissions.
    ///
    /// ```
    /// use executor::{ManualExecutor, RejectReason, prelude::*};
    ///
    /// let executor = ManualExecutor::new();
    /// executor.refuse_next(RejectReason::Saturated);
    /// assert!(executor.submit(|| 6 * 7).is_err());
    /// assert!(executor.submit(|| 6 * 7).is_ok());
    /// ```
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
            drop((task, stay)); // the task was cancelled before it came into the list
        }
        Ok(())
    }

    /// Removes from the list the first task for which `wanted` returns true.
    fn take_if(&self, wanted: impl Fn(&Task) -> bool) -> Option<(Task, InFlight)> {
        loop {
            let mut state = self.state.lock();
            let place = state.pending.iter().position(|(task, _)| wanted(task))?;
            let taken = state.pending.remove(place)?;
            let was_cancelled = taken.0.leave_queue(); // if so, the canceller has not removed it yet
            drop(state);
            if !was_cancelled {
                return Some(taken);
            }
        }
    }

    /// Removes from the list all tasks for which `wanted` returns true.
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
    fn cancelled_in_queue(self: Arc<Self>, _queue: QueueId, _by: CancelKind) -> Option<UserCode> {
        drop(self.take_all(Task::is_cancelled));
        None
    }

    fn tombstone_dropped(&self) {} // no tombstone stays in the list

    fn take_out(&self, _queue: QueueId, id: TaskId) -> Option<Task> {
        self.take_if(|task| task.id() == id).map(|(task, _)| task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        self.take_all(wanted).into_iter().map(|(task, _)| task).collect()
    }

    fn name(&self) -> String {
        "a manual executor".to_owned()
    }

    /// Returns `Elsewhere`, because any thread can run any task at any time.
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
