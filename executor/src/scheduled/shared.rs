//! The state that the executor, its sleeper and its series share: the schedule with its lock, and the pool
//! for tasks that are due.
//!
//! The [schedule](super::schedule) makes the decisions, under the lock of this file, and returns the tasks
//! and series that this file must hand over or drop. This file first releases the lock and then drops the
//! returned tasks and series, because their drop runs user code.
//!
//! # The sleeper
//!
//! ```text
//!                 plan: starts the thread            nothing is due
//!   None (no entry yet) ───────────────▶ Awake ─────────────────────▶ Asleep(until the first entry)
//!                                          ▲                                │
//!                                          └── the time has come, or ───────┘
//!                                              plan() with an earlier one
//! ```
//!
//! The sleeper is woken only if a new entry is due before all others, or if the schedule is over. When an
//! entry is removed, the sleeper still wakes up at the time of that entry. If the sleeper then finds no entry
//! that is due, it sleeps again. So the removal of an entry needs no system call.
//!
//! # Why the sleeper has its own thread and does not use the timer's thread
//!
//! The timer of the process runs the library's jobs and must not be delayed. But it takes time to hand many
//! tasks to a pool, and the pool may call a user's thread factory. Meanwhile the timer would need another
//! thread to watch the time. If the system cannot start a thread, the two differ: the timer keeps the
//! deadline until a thread can be started, and this executor must refuse the task.
//!
//! # Invariants
//!
//! 1. While the schedule has an entry, the sleeper is awake, or sleeps at most until the time of that entry.
//!    There is one exception: the system may refuse to start the sleeper's thread. Then the submission is
//!    refused, and the next submission tries again to start the sleeper.
//! 2. A task is in the schedule, in the pool, or with the sleeper, which then hands the task over to the
//!    pool. While the sleeper has tasks, `handing` is set. `shutdown_now` waits until `handing` is `None`, so
//!    it finds every task.
//! 3. The pool is shut down when three things are true: the executor was shut down, the schedule is over, and
//!    `handing` is `None`. Any thread that sees these three things shuts the pool down. So a planned task
//!    finds the pool closed only after `shutdown_now`.
//! 4. Locks are taken in this order: schedule, life of a task, cell of a task. No lock is held while the pool
//!    is called.

use std::io;

use super::rule::{Rule, later};
use super::schedule::{AfterRun, AfterShutdown, Due, Schedule};
use super::series::{Planner, SeriesEnd, SeriesShared};
use super::series_task;
use super::slack;
use crate::cancel::reason::CancelKind;
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{Location, QueueId, TaskId, ThreadKey, this_thread};
use crate::panics::{Panic, UserCode, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, MutexGuard, Weak, thread};
use crate::task::Task;
use crate::thread_pool::ThreadPoolExecutor;
use crate::waiting::error::RejectReason;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};

/// The upper limit for the number of entries that are handed over at once. The number is low, so that
/// `shutdown_now` does not wait for long.
const BATCH: usize = 64;

/// If the pool had no thread for a task, the sleeper tries again after this time.
const RETRY: Duration = Duration::from_millis(10);

pub(super) struct ScheduledShared {
    pub(super) pool: ThreadPoolExecutor,
    state: Mutex<ScheduledData>,
    /// Notified to wake the sleeper: a new entry is due before all others, or no entry will come any more.
    changed: Condvar,
    /// Notified when `handing` is `None` again.
    handed: Condvar,
    /// A copy of the schedule's shutdown flag, written under the lock. Submissions without a delay read this
    /// copy without the lock.
    is_shutdown: AtomicBool,
    /// True if the pool has started all its threads, so that no more threads can be started in advance.
    has_threads: AtomicBool,
    name: String,
    registration: QueueRegistration,
    me: Weak<ScheduledShared>,
}

struct ScheduledData {
    plan: Schedule<Task, Arc<SeriesShared>>,
    sleeper: Sleeper,
    /// The sleeper's thread, while the sleeper has entries that are neither in the schedule nor in the pool.
    handing: Option<ThreadKey>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sleeper {
    None,
    Awake,
    /// The time at which the sleeper wakes up by itself. With `None`, the sleeper sleeps until it is woken.
    Asleep(Option<Instant>),
}

impl ScheduledShared {
    pub(super) fn new(pool: ThreadPoolExecutor, name: String) -> Arc<Self> {
        let state = ScheduledData { plan: Schedule::new(), sleeper: Sleeper::None, handing: None };
        Arc::new_cyclic(|me| Self {
            pool,
            state: Mutex::new(state),
            changed: Condvar::new(),
            handed: Condvar::new(),
            is_shutdown: AtomicBool::new(false),
            has_threads: AtomicBool::new(false),
            name,
            registration: QueueRegistration::new(me),
            me: me.clone(),
        })
    }

    /// Returns this object as a planner for a series.
    pub(super) fn planner(&self) -> Weak<dyn Planner> {
        self.me.clone()
    }

    pub(super) fn is_shutdown(&self) -> bool {
        // Acquire: pairs with the Release in `mark_shutdown`, so that a refused submitter sees everything
        // that was done before the shutdown.
        self.is_shutdown.load(Ordering::Acquire)
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        self.state.lock().plan.counts()
    }

    // ----- the way in -----

    pub(super) fn plan_task(&self, at: Instant, task: Task) -> Result<(), RejectedExecution> {
        self.start_a_thread();
        let id = task.id();
        let mut state = self.state.lock();
        if state.plan.is_shutdown() {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        let slot = state.plan.plan_task(at, task);
        let lane = self.registration.id().with_lane(slot as u64);
        if !state.plan.task(slot).is_some_and(|task| task.enter_queue(lane)) {
            let cancelled = Self::take(&mut state, slot, |_| true); // the task was cancelled before this call
            drop(state);
            discard(cancelled);
            return Ok(());
        }
        let Err((error, mut state)) = self.wake_for(state, at) else { return Ok(()) };
        let taken = Self::take(&mut state, slot, |task| task.id() == id);
        drop(state);
        match taken {
            Some((task, false)) => Err(RejectedExecution { reason: RejectReason::NoThread(error), task }),
            cancelled => {
                discard(cancelled);
                Ok(())
            }
        }
    }

    pub(super) fn plan_series(
        &self,
        first: Instant,
        rule: Rule,
        series: &Arc<SeriesShared>,
    ) -> Result<(), RejectReason> {
        self.start_a_thread();
        let mut state = self.state.lock();
        if state.plan.is_shutdown() {
            return Err(RejectReason::Shutdown);
        }
        state.plan.add(series.id, first, rule, Arc::clone(series));
        let Err((error, mut state)) = self.wake_for(state, first) else { return Ok(()) };
        state.plan.remove(series.id); // the caller has the series, too, so this call does not drop it
        Err(RejectReason::NoThread(error))
    }

    /// Makes the pool start one more thread, unless the pool has all its threads. The executor starts a
    /// thread with each new entry, so that no thread must be started when a task is due.
    fn start_a_thread(&self) {
        // Relaxed: a stale value only makes the executor ask the pool once more.
        if !self.has_threads.load(Ordering::Relaxed) && !self.pool.prestart_core_thread() {
            self.has_threads.store(true, Ordering::Relaxed);
        }
    }

    /// Makes sure that the sleeper is awake at the given time. Fails if there is no sleeper and the sleeper's
    /// thread cannot be started. The error contains the guard of the lock.
    fn wake_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, ScheduledData>,
        at: Instant,
    ) -> Result<(), (io::Error, MutexGuard<'a, ScheduledData>)> {
        if state.sleeper != Sleeper::None {
            self.wake_sooner(state, at);
            return Ok(());
        }
        state.sleeper = Sleeper::Awake;
        drop(state);
        let me = self.me.upgrade().expect("it is called by reference");
        let thread = thread::Builder::new().name(self.name.clone());
        let started = thread.spawn(move || me.sleep_and_hand_over());
        started.map(drop).map_err(|error| {
            let mut state = self.state.lock();
            state.sleeper = Sleeper::None;
            (error, state)
        })
    }

    /// Wakes the sleeper if its sleep ends after the given time.
    fn wake_sooner(&self, mut state: MutexGuard<'_, ScheduledData>, at: Instant) {
        if let Sleeper::Asleep(until) = state.sleeper
            && until.is_none_or(|until| at < until)
        {
            state.sleeper = Sleeper::Awake;
            drop(state);
            self.changed.notify_one();
        }
    }

    // ----- the sleeper -----

    /// Sleeps and hands over tasks until the schedule is over: the body of the sleeper's thread.
    fn sleep_and_hand_over(self: Arc<Self>) {
        slack::make_fine();
        let mut state = self.state.lock();
        while !state.plan.is_over() {
            let due = state.plan.take_due(Instant::now(), BATCH);
            if due.is_empty() {
                state = self.sleep(state);
                continue;
            }
            let (due, cancelled): (Vec<_>, Vec<_>) =
                due.into_iter().partition(|due| !matches!(due, Due::Task(task) if task.leave_queue()));
            state.handing = Some(this_thread());
            drop(state);
            discard(cancelled);
            let refused = self.hand_over(due);
            state = self.state.lock();
            for task in refused {
                let slot = state.plan.plan_task(later(Instant::now(), RETRY), task);
                let lane = self.registration.id().with_lane(slot as u64);
                // A task that was cancelled meanwhile is removed when it is due.
                state.plan.task(slot).map(|task| task.enter_queue(lane));
            }
            state.handing = None;
            self.handed.notify_all();
        }
        self.end_if_over(state);
    }

    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, ScheduledData>) -> MutexGuard<'a, ScheduledData> {
        let first = state.plan.first();
        state.sleeper = Sleeper::Asleep(first);
        let mut state = match first {
            Some(first) => self.changed.wait_until(state, &self.state, first).0,
            None => self.changed.wait(state),
        };
        state.sleeper = Sleeper::Awake;
        state
    }

    /// Gives tasks to the pool. Returns the tasks that the pool refused because it has no thread.
    fn hand_over(self: &Arc<Self>, due: Vec<Due<Task, Arc<SeriesShared>>>) -> Vec<Task> {
        let mut refused = Vec::new();
        for due in due {
            let task = match due {
                Due::Task(task) => task,
                Due::Run(series, run) => series_task::task(series, run, Arc::clone(self) as Arc<dyn Planner>),
            };
            match self.pool.execute_task(task) {
                Ok(()) => {}
                Err(RejectedExecution { reason: RejectReason::Shutdown, task }) => discard(task),
                Err(RejectedExecution { task, .. }) => refused.push(task),
            }
        }
        refused
    }

    // ----- the end -----

    /// Shuts the pool down if no entry will come any more.
    fn end_if_over(&self, state: MutexGuard<'_, ScheduledData>) {
        let is_over = state.plan.is_over() && state.handing.is_none();
        drop(state);
        if is_over {
            self.changed.notify_one();
            self.pool.shutdown();
        }
    }

    fn mark_shutdown(&self, _locked: &ScheduledData) {
        self.is_shutdown.store(true, Ordering::Release);
    }

    /// Shuts the schedule down. Drops the tasks and ends the series that must not go on after a shutdown.
    pub(super) fn shutdown(&self, after: AfterShutdown) {
        let mut state = self.state.lock();
        self.mark_shutdown(&state);
        let (tasks, series) = state.plan.shutdown(after);
        let (cancelled, tasks): (Vec<_>, Vec<_>) = tasks.into_iter().partition(Task::leave_queue);
        drop(state);
        for series in series {
            series.finish(SeriesEnd::Shutdown);
        }
        for task in cancelled.into_iter().chain(tasks) {
            task.left_out();
            discard(task);
        }
        self.end_if_over(self.state.lock());
    }

    /// Shuts the schedule down, ends the series and returns all tasks that have not begun.
    pub(super) fn shutdown_now(&self) -> Vec<Task> {
        let mut state = self.state.lock();
        self.mark_shutdown(&state);
        // Waits until the sleeper has handed over its tasks. The sleeper itself must not wait here:
        // it calls thread factories, and a factory may call `shutdown_now`.
        while state.handing.is_some_and(|sleeper| sleeper != this_thread()) {
            state = self.handed.wait(state);
        }
        let (tasks, series, runs) = state.plan.stop();
        let (cancelled, tasks): (Vec<_>, Vec<_>) = tasks.into_iter().partition(Task::leave_queue);
        drop(state);
        self.changed.notify_one();
        let is_run = |task: &Task| runs.contains(&task.id());
        let mut never_begun = self.pool.shutdown_now();
        never_begun.extend(Task::hand_out(tasks));
        let (of_series, never_begun) = never_begun.into_iter().partition(is_run);
        for series in series {
            series.call_off(SeriesEnd::Shutdown);
        }
        cancelled.into_iter().chain::<Vec<Task>>(of_series).for_each(discard);
        never_begun
    }

    // ----- tasks that leave -----

    /// Returns the slots of the tasks in the lane of this queue.
    fn in_lane(state: &ScheduledData, queue: QueueId) -> impl Iterator<Item = usize> + use<> {
        let lane = usize::try_from(queue.lane()).unwrap_or(usize::MAX);
        state.plan.slots_like(lane, QueueId::LANES)
    }

    /// Takes a task out of the schedule. Also returns whether the task was cancelled while it was in the
    /// schedule.
    fn take(state: &mut ScheduledData, slot: usize, wanted: impl Fn(&Task) -> bool) -> Option<(Task, bool)> {
        let task = state.plan.take_task(slot, wanted)?;
        let was_cancelled = task.leave_queue();
        Some((task, was_cancelled))
    }

    fn take_from(&self, queue: QueueId, wanted: impl Fn(&Task) -> bool) -> Option<(Task, bool)> {
        let mut state = self.state.lock();
        let taken = Self::in_lane(&state, queue).find_map(|slot| Self::take(&mut state, slot, &wanted));
        self.end_if_over(state);
        taken
    }
}

impl Planner for ScheduledShared {
    fn begin(&self, series: TaskId, run: u64) -> bool {
        self.state.lock().plan.begin(series, run)
    }

    fn ended(&self, series: &Arc<SeriesShared>, run: u64, panic: Option<&Panic>) {
        let mut state = self.state.lock();
        match state.plan.ended(series.id, run, Instant::now(), panic.is_some()) {
            AfterRun::At(at) => self.wake_sooner(state, at),
            AfterRun::Nothing => {}
            AfterRun::Gone => {
                drop(state);
                series.drop_body();
            }
            AfterRun::Stopped(series) => {
                drop(state);
                series.finish(panic.map_or(SeriesEnd::Shutdown, |panic| SeriesEnd::Panicked(panic.clone())));
                self.end_if_over(self.state.lock());
            }
            AfterRun::Over(series) => {
                drop(state);
                series.finish(SeriesEnd::Shutdown);
                self.end_if_over(self.state.lock());
            }
        }
    }

    fn remove(&self, series: TaskId) -> bool {
        let removed = self.state.lock().plan.remove(series);
        let Some(removed) = removed else { return false };
        removed.call_off(SeriesEnd::Cancelled);
        drop(self.pool.remove(series)); // a run that still waits for a thread would not begin anyway
        self.end_if_over(self.state.lock());
        true
    }

    fn pause(&self, series: TaskId) -> bool {
        self.state.lock().plan.pause(series)
    }

    fn resume(&self, series: TaskId) {
        let mut state = self.state.lock();
        if let Some(at) = state.plan.resume(series, Instant::now()) {
            self.wake_sooner(state, at);
        }
    }

    fn set_period(&self, series: TaskId, period: Duration) {
        let mut state = self.state.lock();
        if let Some(at) = state.plan.set_period(series, period, Instant::now()) {
            self.wake_sooner(state, at);
        }
    }

    fn next_run(&self, series: TaskId) -> Option<Instant> {
        self.state.lock().plan.next_run(series)
    }

    fn is_paused(&self, series: TaskId) -> bool {
        self.state.lock().plan.is_paused(series)
    }
}

impl QueueOwner for ScheduledShared {
    fn cancelled_in_queue(self: Arc<Self>, queue: QueueId, _by: CancelKind) -> Option<UserCode> {
        // Perhaps the slot has another task by now. That task is taken only if it was cancelled, too.
        drop(self.take_from(queue, Task::is_cancelled_in_queue));
        None
    }

    fn tombstone_dropped(&self) {} // a cancelled task leaves no tombstone

    fn take_out(&self, queue: QueueId, id: TaskId) -> Option<Task> {
        let (task, was_cancelled) = self.take_from(queue, |task| task.id() == id)?;
        (!was_cancelled).then_some(task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let mut state = self.state.lock();
        let tasks = state.plan.take_tasks(wanted);
        let (cancelled, tasks): (Vec<_>, Vec<_>) = tasks.into_iter().partition(Task::leave_queue);
        self.end_if_over(state);
        drop(cancelled);
        tasks
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    /// Returns `Elsewhere`: a task in the schedule waits for its time, and not for a thread.
    fn served_by(self: Arc<Self>, _queue: QueueId) -> ServedBy {
        ServedBy::DrainTask(Location::Elsewhere)
    }

    fn queued_of(&self, _queue: QueueId, collector: usize) -> usize {
        self.state.lock().plan.tasks().filter(|task| task.collector() == collector).count()
    }
}
