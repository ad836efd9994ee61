//! The numbers of a pool at one moment, and the list of its tasks.
//!
//! A task moves from the inbox to the queue or the batch, and then to a worker slot. If a thread read the
//! counts of inbox, queue, batch and slots at different moments, it would miss some tasks or count them
//! twice. So a thread that reads them all takes three steps:
//!
//! 1. Lock the state and the inbox, so that no task enters the pool.
//! 2. Freeze the batch, so that no task is claimed and no task begins. Wait until each worker has noted its
//!    earlier claims.
//! 3. Add up the numbers, and resume the batch. During the addition, tasks may end. The count of each worker
//!    slot changes in one step, so the sum was correct at some moment during the addition.
//!
//! A snapshot reclaims the batch first, so that it shows the tasks in the order of the queue.

use std::fmt;

use super::ThreadPoolExecutor;
use super::inbox::InboxState;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::executor::PoolState;
use crate::task::{Task, TaskLabel};

/// The numbers of a pool, all taken at the same moment.
///
/// ```
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// assert!(pool.submit(|| panic!("no such page"))?.join().is_err());
/// pool.close();
/// let stats = pool.stats();
/// assert_eq!((stats.completed, stats.panicked, stats.peak_threads), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// # How the counts add up
///
/// [`task_count`](Self::task_count) is the sum of `queued`, `active` and `completed`. The tasks of
/// `cancelled_in_queue` are not in this sum. `completed` includes the tasks that panicked, and the tasks that
/// were cancelled after a thread had taken them: these are `cancelled - cancelled_in_queue` tasks. `cancelled`
/// includes `timed_out`. A task that [`remove`](ThreadPoolExecutor::remove), `shutdown_now` or a rejection
/// handler has taken out of the queue is in no count.
///
/// For the pool, the tasks of a [`SerialExecutor`](crate::SerialExecutor) or of a stripe are part of a drain
/// task, which always completes normally. So these tasks are in none of the counts of cancelled and panicked
/// tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolStats {
    /// The name of the pool: the name that its thread factory gives to its threads. See
    /// [`ThreadPoolBuilder::name`](crate::ThreadPoolBuilder::name).
    pub name: Option<String>,
    /// The phase of the pool.
    pub state: PoolState,
    /// The core size: a pool with fewer threads starts a thread for a new task, even if the queue has room.
    pub core_threads: usize,
    /// The maximum size: the largest number of threads that the pool may have.
    pub maximum_threads: usize,
    /// The number of threads, including threads that are starting.
    #[doc(alias = "getPoolSize")]
    pub threads: usize,
    /// The largest number of threads that the pool has had so far.
    #[doc(alias = "getLargestPoolSize")]
    pub peak_threads: usize,
    /// The number of tasks that run now, or for which a thread is starting.
    #[doc(alias = "getActiveCount")]
    pub active: usize,
    /// The number of tasks that wait for a thread.
    pub queued: usize,
    /// The number of tasks that a thread has taken and that have ended: the task has returned, has panicked
    /// or was cancelled. A task that was cancelled while it waited does not count. A task counts if it was
    /// cancelled after a thread had taken it, even before its body began.
    #[doc(alias = "getCompletedTaskCount")]
    pub completed: u64,
    /// The number of completed tasks that panicked.
    pub panicked: u64,
    /// The number of tasks that a request, a deadline or a stop of the pool has cancelled, in the queue or
    /// later. If the body of a task has returned or panicked, the task does not count, even if it was
    /// cancelled before its body ended.
    pub cancelled: u64,
    /// The number of cancelled tasks that were cancelled while they waited in the queue. Their bodies never
    /// began.
    pub cancelled_in_queue: u64,
    /// The number of cancelled tasks that were cancelled because a deadline had passed. See
    /// [`CancelKind::Deadline`](crate::CancelKind::Deadline).
    pub timed_out: u64,
    /// The number of tasks that the pool did not accept at once, and for which the pool has called its
    /// [rejection handler](crate::RejectionHandler). A task counts once, whatever the handler does. If the
    /// handler waits until the pool accepts the task, as [`Block`](crate::Block) does, the task is in the
    /// other counts, too.
    #[doc(alias = "getRejectedExecutionCount")]
    pub refused: u64,
    /// The number of waits of the pool's threads that failed because they could never have ended:
    /// see [`OnStarvation`](crate::OnStarvation).
    pub starved: u64,
    /// The number of completed tasks that a waiting thread ran on top of its own task.
    pub helped: u64,
    /// The number of threads that the pool may now have beyond the maximum; tasks that wait for each other
    /// need these threads to go on.
    pub spare_threads: usize,
}

impl PoolStats {
    /// Returns the number of accepted tasks: waiting, running and ended. Tasks that were cancelled while they
    /// waited do not count.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let handles: Vec<_> = (0..5).map(|n| pool.submit(move || n)).collect::<Result<_, _>>()?;
    /// assert_eq!(pool.stats().task_count(), 5); // whether they have run or not
    /// # drop(handles);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getTaskCount")]
    pub fn task_count(&self) -> u64 {
        self.queued as u64 + self.active as u64 + self.completed
    }

    /// Returns the number of waiting tasks minus the number of idle threads, or zero if there are more idle
    /// threads than waiting tasks.
    ///
    /// Even in a pool of idle threads, a new task waits for a moment, until a thread has woken up. So if
    /// `queued` is above zero, the pool may still have enough threads, but if the backlog is above zero,
    /// threads are missing. If idle connections occupy the threads of a server, the server should look at the
    /// backlog.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let busy = Arc::new(Latch::new(1));
    /// for _ in 0..5 {
    ///     let until = Arc::clone(&busy);
    ///     pool.execute(move || until.wait().unwrap())?;
    /// }
    /// assert_eq!(pool.stats().backlog(), 3);
    /// busy.count_down();
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    pub fn backlog(&self) -> usize {
        let idle = self.threads.saturating_sub(self.active);
        self.queued.saturating_sub(idle)
    }
}

impl fmt::Display for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core_threads: core, maximum_threads: maximum, .. } = self;
        if let Some(name) = &self.name {
            write!(f, "{name}, ")?;
        }
        write!(f, "{}: {} ", self.state, self.threads)?;
        match *maximum {
            usize::MAX => write!(f, "threads (core {core}, no maximum), ")?,
            maximum if maximum == *core => write!(f, "of {maximum} threads, ")?,
            maximum => write!(f, "threads (core {core}, maximum {maximum}), ")?,
        }
        write!(f, "{} active, {} queued, ", self.active, self.queued)?;
        write!(f, "{} completed ({} panicked)", self.completed, self.panicked)?;
        for (count, what) in [
            (self.cancelled, "cancelled"),
            (self.timed_out, "timed out"),
            (self.refused, "refused"),
            (self.starved, "starved"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// The tasks of a pool: the running tasks and the waiting tasks. `Display` shows a list, in which a task
/// without a name appears by its id. A [`SerialExecutor`](crate::SerialExecutor) or a stripe appears as one
/// of its tasks: the task that it runs, or will run first.
///
/// ```
/// use executor::{Latch, Task, ThreadPoolExecutor, prelude::*};
/// # use std::sync::Arc;
///
/// let pool = ThreadPoolExecutor::fixed(1);
/// # let end = Arc::new(Latch::new(1));
/// # let until = Arc::clone(&end);
/// # let keep_busy = move || until.wait().unwrap();
/// pool.execute(Task::new(keep_busy).named("import"))?;
/// pool.execute(Task::new(|| ()).named("report"))?;
/// let snapshot = pool.snapshot();
/// assert_eq!((snapshot.running, snapshot.queued), (vec!["import".to_owned()], vec!["report".to_owned()]));
/// # end.count_down();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PoolSnapshot {
    /// The numbers of the pool at the moment of the snapshot.
    pub stats: PoolStats,
    /// The running tasks, and the tasks for which a thread is starting.
    pub running: Vec<String>,
    /// The waiting tasks, as nearly as possible in the order in which they will run.
    pub queued: Vec<String>,
}

impl fmt::Display for PoolSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stats)?;
        for task in &self.running {
            write!(f, "\n  running {task}")?;
        }
        for task in &self.queued {
            write!(f, "\n  queued  {task}")?;
        }
        Ok(())
    }
}

impl ThreadPoolExecutor {
    /// Returns the numbers of the pool, all taken at one moment.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// pool.submit(|| 6 * 7)?.join()?;
    /// pool.close();
    /// assert_eq!(pool.stats().completed, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> PoolStats {
        let state = self.shared.state.lock();
        let held = self.shared.inbox.hold();
        let now = self.shared.stats_of(&state, &held);
        drop(held);
        drop(state);
        self.shared.report_kept();
        now
    }

    /// Returns the tasks of the pool one by one. The call takes time in proportion to the length of the
    /// queue.
    ///
    /// ```
    /// use executor::{Latch, Task, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// pool.execute(Task::new(|| ()).named("report"))?;
    /// assert!(pool.snapshot().to_string().ends_with("queued  report"));
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> PoolSnapshot {
        let shared = &self.shared;
        let mut state = shared.state.lock();
        let mut held = shared.inbox.hold();
        held.reclaim(&mut state);
        let mut queued = Vec::new();
        let mut look = |task: &Task| {
            if !task.is_cancelled() {
                queued.push(task.stands_for().to_string());
            }
        };
        ask(|| state.queue.for_each(&mut look));
        let (now, mut running) = loop {
            let now = shared.stats_of(&state, &held);
            let running = state.worker_slots.running();
            if state.worker_slots.completed() + state.helped == now.completed {
                break (now, running); // no task has ended meanwhile
            }
        };
        running.extend(state.first_tasks.iter().map(Task::label));
        drop(held);
        drop(state);
        running.sort_by_key(TaskLabel::id); // so a submitter's tasks appear in the order in which it made them
        let running = running.iter().map(ToString::to_string).collect();
        shared.report_kept();
        PoolSnapshot { stats: now, running, queued }
    }

    /// Returns the number of tasks that wait for a thread. Tasks that were cancelled while they waited do
    /// not count.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// pool.execute(|| ())?;
    /// assert_eq!(pool.queued(), 1);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getQueue")]
    pub fn queued(&self) -> usize {
        self.stats().queued // `stats` reads both numbers, waiting and cancelled tasks, at one moment
    }
}

impl PoolShared {
    /// Returns the numbers of one moment: while the state and the inbox are locked and the batch is frozen,
    /// no task is accepted or begins.
    fn stats_of(&self, state: &PoolData, held: &InboxState) -> PoolStats {
        let frozen = state.batches.freeze();
        state.worker_slots.wait_for_claims(&frozen);
        let ended = state.worker_slots.completed();
        let active = state.worker_slots.begun() - ended;
        let queued = (held.len() + state.unclaimed_when(&frozen)).saturating_sub(self.tombstones.count());
        state.batches.resume(&frozen);
        let (refused, cancelled_in_queue, timed_out_in_queue) = self.never_taken.counts();
        PoolStats {
            name: state.settings.name.as_deref().map(str::to_owned),
            state: state.phase,
            core_threads: state.settings.core,
            maximum_threads: state.settings.maximum,
            threads: state.workers(),
            peak_threads: state.peak,
            active: usize::try_from(active).expect("no more than there are threads")
                + state.first_tasks.len(),
            queued,
            completed: ended + state.helped,
            panicked: state.failures.panicked,
            cancelled: state.failures.cancelled + cancelled_in_queue,
            cancelled_in_queue,
            timed_out: state.failures.timed_out + timed_out_in_queue,
            refused,
            starved: state.starved,
            helped: state.helped,
            spare_threads: state.spares,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backlog_is_what_waits_beyond_the_idle_threads() {
        for (threads, active, queued, backlog) in
            [(2, 2, 0, 0), (2, 2, 3, 3), (2, 0, 2, 0), (2, 1, 2, 1), (4, 1, 2, 0), (0, 0, 1, 1), (1, 2, 1, 1)]
        {
            let stats = PoolStats {
                name: None,
                state: PoolState::Running,
                core_threads: 2,
                maximum_threads: 2,
                threads,
                peak_threads: 4,
                active,
                queued,
                completed: 0,
                panicked: 0,
                cancelled: 0,
                cancelled_in_queue: 0,
                timed_out: 0,
                refused: 0,
                starved: 0,
                helped: 0,
                spare_threads: 0,
            };
            assert_eq!(stats.backlog(), backlog, "{stats}");
        }
    }
}
