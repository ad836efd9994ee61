//! Runs one task at a time, in the order of submission, on the threads of any executor.
//!
//! Use a serial executor for tasks that must not run at the same time: for example, the tasks of one account,
//! of one file or of one client. A pool of one thread keeps the order, too, but the pool occupies its thread
//! even while it has no task. A strand uses a thread only while it has tasks, and any number of strands can
//! share a pool.
//!
//! The module [`strand`](super::strand) describes the states and the invariants of a strand. This file adds
//! three parts: a lock, an implementation of `QueueOwner`, and an executor.

use std::cell::Cell;
use std::fmt;
use std::task::Waker;

use super::lifecycle::{InFlight, Lifecycle, Underlying, rest_of_service};
use super::strand::{Lender, Strand, StrandOwner, StrandState, Turns, reclaim_drains};
use crate::cancel::CancelToken;
use crate::cancel::reason::CancelKind;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{QueueId, TaskId};
use crate::panics::{OnDrop, UserCode};
use crate::sync::process::OnceLock;
use crate::sync::{Arc, Mutex};
use crate::task::Task;
use crate::task::tombstones::Tombstones;
use crate::waiting::awaited::{Awaited, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};
use crate::waiting::wait::{Deadline, look_and_wait};

/// Runs tasks one at a time and in the order of their submission, on the threads of the underlying executor.
///
/// ```
/// use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// let pool = ThreadPoolExecutor::fixed(4);
/// let account = SerialExecutor::over(&pool);
/// let log = Arc::new(Mutex::new(Vec::new()));
/// for n in 0..3 {
///     let log = Arc::clone(&log);
///     account.execute(move || log.lock().unwrap().push(n))?;
/// }
/// account.submit(|| ())?.join().unwrap(); // the last in the strand
/// assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each task sees all effects of the earlier tasks, even if these tasks ran on other threads. A task that
/// panics does not stop the strand; its panic goes to the [panic handler of the process](crate::panics) if no
/// caller reads the panic. The strand keeps its thread until the strand is empty. So a strand that always has
/// tasks never releases its thread, unless the strand [has turns](Self::turns_of).
///
/// The underlying executor gets one task for the whole strand, the strand's *drain task*. If that executor
/// refuses the drain task, the submission of the strand's first task fails. If that executor drops the drain
/// task later, as [`Discard`](crate::Discard) does, all tasks in the strand are dropped, and their handles
/// are cancelled. If that executor hands the drain task out, as its
/// [`shutdown_now`](crate::ExecutorService::shutdown_now) does, the user gets one task, and this task runs
/// the tasks of the strand. If the strand then contains tasks of a [`scope`](crate::ExecutorExt::scope),
/// these tasks are dropped, because the scope must not wait for that user.
///
/// # What the underlying executor sees
/// The underlying executor sees only the drain task. While the drain task waits, its
/// [priority](Task::priority) is the highest priority of the tasks that have joined the strand since the
/// drain task was submitted. If a more urgent task joins the strand, a
/// [`PriorityQueue`](crate::PriorityQueue) moves the drain task forward. The order in the strand stays the
/// same, so the tasks before the urgent task run earlier, too. If the urgent task is cancelled or removed,
/// the drain task keeps its priority. Before each later turn, the drain task gets the highest priority of the
/// tasks that are still in the strand.
///
/// ```
/// use executor::{Latch, PriorityQueue, SerialExecutor, Task, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// let pool = ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new()).build()?;
/// let gate = Arc::new(Latch::new(1));
/// let until = Arc::clone(&gate);
/// pool.execute(move || until.wait().unwrap())?; // so that all later tasks wait in the queue
///
/// let order = Arc::new(Mutex::new(Vec::new()));
/// let note = |what: &'static str, priority| {
///     let order = Arc::clone(&order);
///     Task::new(move || order.lock().unwrap().push(what)).named(what).prioritized(priority)
/// };
/// let account = SerialExecutor::over(&pool);
/// account.execute(note("booking", 1))?;
/// pool.execute(note("report", 5))?;
/// account.execute(note("urgent booking", 9))?;
/// assert_eq!(pool.snapshot().queued, ["booking", "report"]); // the strand goes first now
/// gate.count_down();
/// pool.close();
/// assert_eq!(*order.lock().unwrap(), ["booking", "urgent booking", "report"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A [snapshot](crate::ThreadPoolExecutor::snapshot) shows a task of the strand instead of the drain task:
/// the task that the drain task is running, or the task that the drain task will run first.
/// [Hooks](crate::Hooks), comparators and your own queues see the drain task itself. The drain task has an id
/// of its own, and no name. The drain task runs many tasks, and its outcome is not the outcome of any of
/// them. The pool counts the drain task as one task.
///
/// If the underlying executor runs tasks on the submitting thread, the submitter of the first task runs the
/// strand. The token of this submitter is a parent of the first task's token only, not of the tokens of tasks
/// that are submitted while the strand runs.
///
/// # Its end
/// A serial executor that was made with [`over`](Self::over) does not end its underlying executor. After
/// [`shutdown`](ExecutorService::shutdown), the serial executor refuses new tasks, and runs the accepted
/// tasks. [`shutdown_now`](ExecutorService::shutdown_now) returns the waiting tasks, and cancels the token of
/// the running task. The serial executor is terminated when its last task has ended. While a user keeps the
/// drain task that the underlying executor has handed out, the serial executor is not terminated. A serial
/// executor that was made with [`owning`](Self::owning) also ends the underlying service, and the drop of the
/// serial executor drops the service. The drop of a serial executor that was made with `over` does not wait,
/// and cancels no task: the accepted tasks are run.
///
/// # Blocking
/// If another thread is submitting the drain task to the underlying executor, `execute` and `submit` wait
/// until that executor has accepted or refused the drain task. A task that waits for a later task of its own
/// strand can never continue. So this wait fails, and the error [describes the wait](crate::Starvation).
pub struct SerialExecutor<E> {
    inner: Underlying<Lender<E>>,
    strand: Arc<Strand<Serial>>,
}

/// The owner of a serial executor's strand.
struct Serial {
    registration: QueueRegistration,
    tombstones: Tombstones,
    turns: OnceLock<Turns>,
    life: Arc<Lifecycle>,
    /// The strand's guard in the lifecycle; `None` while the strand is idle. This lock is taken before the
    /// lock of the strand.
    stay: Mutex<Option<InFlight>>,
}

impl<E: Executor> SerialExecutor<E> {
    /// Makes a serial executor over `executor`.
    ///
    /// ```
    /// use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(4);
    /// let (ada, grace) = (SerialExecutor::over(&pool), SerialExecutor::over(&pool));
    /// let booked = [ada.submit(|| "a"), ada.submit(|| "b"), grace.submit(|| "c")];
    /// assert_eq!(booked.map(|task| task.unwrap().join().unwrap()), ["a", "b", "c"]);
    /// ```
    pub fn over(executor: E) -> Self {
        Self::new(Underlying::over(Lender::new(executor)))
    }

    /// Makes a serial executor that owns `service`. When the serial executor ends, it also ends `service`.
    ///
    /// ```
    /// use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let account = SerialExecutor::owning(ThreadPoolExecutor::single());
    /// account.execute(|| println!("the last one"))?;
    /// account.close(); // closes the pool, too
    /// assert!(account.executor().is_terminated());
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    pub fn owning(service: E) -> Self
    where
        E: ExecutorService,
    {
        Self::new(Underlying::owning(Lender::new(service)))
    }

    fn new(inner: Underlying<Lender<E>>) -> Self {
        let strand = Arc::new_cyclic(|me| {
            Strand::new(Serial {
                registration: QueueRegistration::new(me),
                tombstones: Tombstones::new(),
                turns: OnceLock::new(),
                life: Arc::clone(inner.life()),
                stay: Mutex::new(None),
            })
        });
        Self { inner, strand }
    }

    /// Makes the strand let other tasks run after each *turn*. A turn has `tasks` tasks. If the strand has
    /// more tasks after a turn, its drain task moves to the end of the queue of the underlying executor. The
    /// strand continues when a thread takes the drain task out of that queue.
    ///
    /// The underlying executor must not be a borrowed reference, because a task must be able to own the
    /// executor. For instance, the executor can be a pool or an [`Arc`] of a pool.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use executor::{Latch, SerialExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = Arc::new(ThreadPoolExecutor::single());
    /// let gate = Arc::new(Latch::new(1));
    /// let until = Arc::clone(&gate);
    /// pool.execute(move || until.wait().unwrap())?; // so that all later tasks wait in the queue
    ///
    /// let order = Arc::new(Mutex::new(Vec::new()));
    /// let note = |what| {
    ///     let order = Arc::clone(&order);
    ///     move || order.lock().unwrap().push(what)
    /// };
    /// let strand = SerialExecutor::over(Arc::clone(&pool)).turns_of(2);
    /// for what in ["1st", "2nd", "3rd"] {
    ///     strand.execute(note(what))?;
    /// }
    /// pool.execute(note("another's"))?;
    /// let last = strand.submit(|| ())?;
    /// gate.count_down();
    /// last.join()?;
    /// assert_eq!(*order.lock().unwrap(), ["1st", "2nd", "another's", "3rd"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the underlying executor refuses the drain task at the end of a turn, as a pool does after its
    /// shutdown, the strand continues at once, on the same thread. If the underlying executor makes
    /// submitters wait for room, the strand waits, too, and keeps its thread meanwhile. If the serial
    /// executor is dropped during this wait, the strand continues at once, on the same thread.
    ///
    /// # Panics
    /// Panics if `tasks` is zero.
    pub fn turns_of(self, tasks: usize) -> Self
    where
        E: 'static,
    {
        assert!(tasks > 0, "a turn is one task at least");
        let _ = self.strand.owner.turns.set(self.inner.executor().turns(tasks)); // the first call counts
        self
    }

    /// Returns the number of tasks that wait in the strand. The running task is not included.
    ///
    /// ```
    /// use executor::{ManualExecutor, SerialExecutor, prelude::*};
    ///
    /// let manual = ManualExecutor::new();
    /// let account = SerialExecutor::over(&manual);
    /// account.execute(|| ())?;
    /// account.execute(|| ())?;
    /// assert_eq!(account.waiting(), 2);
    /// manual.run_all();
    /// assert_eq!(account.waiting(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn waiting(&self) -> usize {
        self.strand.with(|state| state.len()).saturating_sub(self.strand.owner.tombstones.count())
    }

    /// Returns the underlying executor.
    ///
    /// ```
    /// use executor::{SerialExecutor, ThreadPoolExecutor};
    ///
    /// let account = SerialExecutor::over(ThreadPoolExecutor::fixed(4));
    /// assert_eq!(account.executor().maximum_threads(), 4);
    /// ```
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }
}

impl<E: Executor> Executor for SerialExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let (strand, id) = (&self.strand, task.id());
        let (mut task, ticket) = (Some(task), Cell::new(None));
        let leave_wait_list = || _ = ticket.take().map(|ticket| strand.leave(ticket));
        let _leaves = OnDrop(leave_wait_list);
        // Puts the task into the strand and returns what the submitter must do next, or `None` if this
        // executor was shut down.
        let look = |waker: &Waker| {
            leave_wait_list();
            let Serial { life, stay, .. } = &strand.owner;
            let mut stay = stay.lock();
            if stay.is_some() && life.is_shutdown() {
                return Some(None);
            }
            if stay.is_none() {
                *stay = life.begin_stay();
            }
            if stay.is_none() {
                return Some(None);
            }
            strand.join(&mut task, waker).map_err(|place| ticket.set(Some(place))).ok().map(Some)
        };
        let what = || Some(Awaited::Other(Arc::clone(strand) as Arc<dyn Source>));
        let reason = match look_and_wait(Deadline::NEVER, (look, what)) {
            Ok(Some(joined)) => {
                joined.announce();
                return strand.see_to_drain(&joined, self.inner.executor(), id);
            }
            Ok(None) => RejectReason::Shutdown,
            Err(why) => why.into(),
        };
        Err(RejectedExecution { reason, task: task.expect("it has not joined the strand") })
    }
}

impl<E: Executor> ExecutorService for SerialExecutor<E> {
    fn shutdown(&self) {
        self.inner.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        let owner = &self.strand.owner;
        self.inner.life().shutdown();
        let mut stay = owner.stay.lock();
        let (mut tasks, cancelled) = self.strand.stop();
        // If the drain task has not begun, it will find no task, so the lifecycle need not wait for the drain
        // task.
        let ended = if self.strand.with(|state| state.is_running()) { None } else { stay.take() };
        drop(stay);
        drop((cancelled, ended));
        reclaim_drains(self.strand.drain_in().into_iter().collect(), self.inner.life().root());
        self.inner.life().cancel_running();
        tasks.extend(self.inner.stop_service_beside_drains());
        Task::hand_out(tasks)
    }

    rest_of_service!(self.inner);
}

impl StrandOwner for Serial {
    fn queue_id(&self) -> QueueId {
        self.registration.id()
    }

    fn tombstones(&self) -> &Tombstones {
        &self.tombstones
    }

    fn turns(&self) -> Option<&Turns> {
        self.turns.get()
    }

    fn root(&self) -> &CancelToken {
        self.life.root()
    }

    fn change<R>(strand: &Arc<Strand<Self>>, change: impl FnOnce(&mut StrandState) -> R) -> R {
        let mut stay = strand.owner.stay.lock();
        let (result, is_idle) = strand.with(|state| (change(state), state.is_idle()));
        let ended = if is_idle { stay.take() } else { None };
        drop(stay);
        drop(ended); // without the lock, because this wakes the threads that wait for the end
        result
    }
}

impl QueueOwner for Strand<Serial> {
    fn cancelled_in_queue(self: Arc<Self>, _queue: QueueId, _by: CancelKind) -> Option<UserCode> {
        let tombstones = &self.owner.tombstones;
        if tombstones.has_come() && tombstones.are_many(|| self.with(|state| state.len())) {
            drop(self.clear_out());
        }
        None
    }

    fn tombstone_dropped(&self) {} // a task is counted when it leaves the strand, before it is dropped

    fn take_out(&self, _queue: QueueId, id: TaskId) -> Option<Task> {
        let (task, was_cancelled) = self.remove(id)?;
        (!was_cancelled).then_some(task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let (tasks, _cancelled) = self.remove_all(wanted);
        tasks
    }

    fn raise(&self, _queue: QueueId, id: TaskId, priority: &dyn Fn() -> i32) {
        self.raise_task(id, priority);
    }

    fn name(&self) -> String {
        "a serial executor".to_owned()
    }

    fn served_by(self: Arc<Self>, _queue: QueueId) -> ServedBy {
        ServedBy::DrainTask(self.place_of_drain())
    }

    fn queued_of(&self, _queue: QueueId, collector: usize) -> usize {
        self.with(|state| state.tasks().filter(|task| task.collector() == collector).count())
    }
}

impl<E: fmt::Debug> fmt::Debug for SerialExecutor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting =
            self.strand.with(|state| state.len()).saturating_sub(self.strand.owner.tombstones.count());
        f.debug_struct("SerialExecutor")
            .field("waiting", &waiting)
            .field("executor", &**self.inner.executor())
            .finish()
    }
}
