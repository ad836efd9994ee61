//! Runs one task at a time, in the order of submission, on the threads of any executor.
//!
//! For tasks that must not overlap: the tasks of one account, one file, one client. A pool of one thread does
//! that, too, but it keeps its thread while it has no task. A strand needs a thread only while it has tasks,
//! and any number of strands can share a pool.
//!
//! The page of [`strand`](super::strand) says how a strand moves, and what always holds. This file adds a
//! lock, a queue owner and an executor.

use std::fmt;
use std::task::Waker;

use super::lifecycle::{InFlight, Lifecycle, Underlying, rest_of_service};
use super::strand::{Joined, Lender, Strand, StrandOwner, StrandState, Turns, reclaim_drains};
use crate::cancel::CancelToken;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{QueueId, TaskId};
use crate::sync::process::OnceLock;
use crate::sync::{Arc, Mutex};
use crate::task::Task;
use crate::task::tombstones::Tombstones;
use crate::waiting::awaited::{Awaited, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};
use crate::waiting::wait::{Deadline, Look, Ticket, wait_for};

/// Runs tasks one at a time and in the order of their submission, on the threads of the executor below.
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
/// Each task sees what the tasks before it did, on whatever threads they ran. A task that panics does not
/// stop the strand; its panic goes to the [panic handler of the process](crate::panics) if no caller reads
/// it. The strand keeps its thread until the strand is empty. A strand that is never empty never gives the
/// thread back, unless it is told to [take turns](Self::turns_of).
///
/// The executor below is given one task for the whole strand, the strand's *drain task*. If it refuses the
/// drain task, the submission of the first task fails. If it drops the accepted drain task, as
/// [`Discard`](crate::Discard) does, the tasks that are in the strand then are dropped and their handles
/// completed as cancelled. If it hands that out, as its
/// [`shutdown_now`](crate::ExecutorService::shutdown_now) does, the user gets one task, which runs the
/// strand. Tasks of a [`scope`](crate::ExecutorExt::scope) are dropped then, since the scope waits for them.
///
/// # What the executor below sees
/// It sees the drain task. While the drain task waits, it has the highest [priority](Task::priority) of the
/// tasks that have come into the strand since it was given to the executor: a
/// [`PriorityQueue`](crate::PriorityQueue) raises it when a more urgent task comes. The order in the strand
/// stays the same, so the urgent task carries along the tasks before it. The priority of the drain task does
/// not fall when the urgent task is cancelled or taken out. Before each turn the drain task takes the highest
/// priority of the tasks that are still in the strand.
///
/// ```
/// use executor::{Latch, PriorityQueue, SerialExecutor, Task, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// let pool = ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new()).build()?;
/// let gate = Arc::new(Latch::new(1));
/// let until = Arc::clone(&gate);
/// pool.execute(move || until.wait().unwrap())?; // so that all of it waits in the queue
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
/// A [snapshot](crate::ThreadPoolExecutor::snapshot) shows the drain task as the task of the strand that it
/// runs, or would run first. [Hooks](crate::Hooks), and a comparator or a queue of your own, see its id,
/// which is its own, and no name: it stands for many tasks, and its outcome is that of none of them. The pool
/// counts it as one task.
///
/// An executor that runs a task on the submitting thread runs the strand there. Tasks that come meanwhile do
/// not hang below that submitter's token.
///
/// # Its end
/// Made with [`over`](Self::over) it ends alone. After [`shutdown`](ExecutorService::shutdown) it refuses new
/// tasks and runs those that it has. [`shutdown_now`](ExecutorService::shutdown_now) hands back the tasks
/// that wait, and cancels the token of the task that runs. It is terminated when its last task has ended. (It
/// is not terminated while a user keeps the drain task that the executor below has handed out.) Made with
/// [`owning`](Self::owning) it ends the service below, too. The drop of a serial executor that was made with
/// `over` neither waits nor cancels: the accepted tasks are run. A serial executor that owns a service drops
/// the service.
///
/// # Blocking
/// `execute` and `submit` wait while another thread brings the strand's first task to the executor below,
/// until that executor has accepted or refused it. A task that waits for a later task of its own strand could
/// wait without end: the wait fails and [says so](crate::Starvation).
pub struct SerialExecutor<E> {
    inner: Underlying<Lender<E>>,
    strand: Arc<Strand<Serial>>,
}

/// The owner of the one strand.
struct Serial {
    registration: QueueRegistration,
    tombstones: Tombstones,
    turns: OnceLock<Turns>,
    life: Arc<Lifecycle>,
    /// The stay, while the strand is not idle. This lock is taken around the lock of the strand.
    stay: Mutex<Option<InFlight>>,
}

impl<E: Executor> SerialExecutor<E> {
    /// Makes an empty strand over an executor.
    pub fn over(executor: E) -> Self {
        Self::new(Underlying::over(Lender::new(executor)))
    }

    /// Makes an empty strand over `service`, and ends `service` when it ends itself.
    ///
    /// ```
    /// use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let account = SerialExecutor::owning(ThreadPoolExecutor::single());
    /// account.execute(|| println!("the last one"))?;
    /// account.close(); // and the pool
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

    /// Has the strand let others go first after each turn of `tasks` tasks. If the strand has more tasks
    /// then, it goes to the end of the queue of the executor below. It goes on when a thread takes it from
    /// there.
    ///
    /// The executor must be one that a task can own: a pool, or an [`Arc`] of a pool.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use executor::{Latch, SerialExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = Arc::new(ThreadPoolExecutor::single());
    /// let gate = Arc::new(Latch::new(1));
    /// let until = Arc::clone(&gate);
    /// pool.execute(move || until.wait().unwrap())?; // so that all of it waits in the queue
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
    /// If the executor below refuses the strand at the end of a turn, as a pool does that was shut down, the
    /// strand goes on where it is. An executor that makes submitters wait for room makes the strand wait,
    /// too, and the strand keeps its thread meanwhile. When this executor is dropped, a strand that waits
    /// goes on where it is.
    ///
    /// # Panics
    /// If `tasks` is zero.
    pub fn turns_of(self, tasks: usize) -> Self
    where
        E: 'static,
    {
        assert!(tasks > 0, "a turn is one task at least");
        let _ = self.strand.owner.turns.set(self.inner.executor().turns(tasks)); // the first call counts
        self
    }

    /// Returns how many tasks wait in the strand, without the task that runs.
    pub fn waiting(&self) -> usize {
        self.strand.with(|state| state.len()).saturating_sub(self.strand.owner.tombstones.count())
    }

    /// Returns the executor below.
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }
}

impl<E: Executor> Executor for SerialExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let id = task.id();
        let mut entry = StrandSubmission { strand: &self.strand, task: Some(task), ticket: None };
        let reason = match wait_for(Deadline::NEVER, &mut entry) {
            Ok(Some(joined)) => {
                joined.announce();
                return self.strand.see_to_drain(&joined, self.inner.executor(), id);
            }
            Ok(None) => RejectReason::Shutdown,
            Err(why) => why.into(),
        };
        let task = entry.task.take().expect("it has not joined the strand");
        Err(RejectedExecution { reason, task })
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
        // A drain task that has not begun will find no task, so the life need not wait for it.
        let ended = if self.strand.with(|state| state.is_running()) { None } else { stay.take() };
        drop(stay);
        drop((cancelled, ended));
        reclaim_drains(self.strand.drain_in().into_iter().collect(), self.inner.life().root());
        self.inner.life().cancel_running();
        let others = self.inner.stop_service().into_iter();
        tasks.extend(others.filter(|task| !task.drains_strand_under(self.inner.life().root())));
        Task::hand_out(tasks)
    }

    rest_of_service!(self.inner);
}

/// A submitter that brings a task to the strand.
struct StrandSubmission<'a> {
    strand: &'a Arc<Strand<Serial>>,
    task: Option<Task>,
    ticket: Option<Ticket>,
}

impl Look for &mut StrandSubmission<'_> {
    /// How the task has joined; `None` if the executor was shut down.
    type Found = Option<Joined>;

    fn look(&mut self, waker: &Waker) -> Option<Option<Joined>> {
        if let Some(ticket) = self.ticket.take() {
            self.strand.leave(ticket);
        }
        let Serial { life, stay, .. } = &self.strand.owner;
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
        match self.strand.join(&mut self.task, waker) {
            Ok(joined) => Some(Some(joined)),
            Err(ticket) => {
                self.ticket = Some(ticket);
                None
            }
        }
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::clone(self.strand) as Arc<dyn Source>))
    }
}

impl Drop for StrandSubmission<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.strand.leave(ticket);
        }
    }
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
        drop(ended); // when the lock is free: this wakes the threads that wait for the end
        result
    }
}

impl QueueOwner for Strand<Serial> {
    fn cancelled_in_queue(&self, _queue: QueueId) {
        let tombstones = &self.owner.tombstones;
        if tombstones.has_come() && tombstones.are_many(|| self.with(|state| state.len())) {
            drop(self.clear_out());
        }
    }

    fn tombstone_dropped(&self) {} // a task that leaves the strand is counted before it is dropped

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
