//! What a pool and its workers share: the state, and every way in which it changes.

use std::collections::VecDeque;
use std::task::Waker;

use super::PoolState;
use super::factory::{ThreadFactory, Worker};
use super::hooks::Hooks;
use super::rejection::RejectionHandler;
use super::stats::{PoolSnapshot, PoolStats};
use super::worker;
use crate::cancel::{CancelToken, check_current};
use crate::error::{RejectReason, WaitError, contain};
use crate::executor::RejectedExecution;
use crate::panics::{self, PanicHandler};
use crate::queue::WorkQueue;
use crate::sync::{Arc, Condvar, Duration, Mutex, MutexGuard, Weak};
use crate::task::{Outcome, QueueWatcher, Task, TaskId, TaskLabel};
use crate::wait::{Deadline, Latch, wait};

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    /// There is something for a worker to see to: a task, a changed size, the pool's end.
    pub(super) work: Condvar,
    /// A worker that was being started has begun, or will not come.
    pub(super) started: Condvar,
    pub(super) terminated: Latch,
    /// Above the tokens of all the tasks that run here.
    pub(super) root: CancelToken,
    pub(super) hooks: Box<dyn Hooks>,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
    pub(super) threads_first: bool,
    /// This, for the tasks in the queue, which tell it when they are cancelled.
    pub(super) me: Weak<Shared>,
}

pub(super) struct State {
    pub(super) phase: PoolState,
    pub(super) queue: Box<dyn WorkQueue>,
    /// Tasks for which a worker is being started. They are taken before those in the queue.
    pub(super) handed: VecDeque<Task>,
    /// Tasks in the queue that were cancelled there, give or take those whose cancelling is under way on another thread:
    /// a canceller adds one, taking such a task out subtracts one, in whichever order.
    pub(super) tombstones: isize,

    pub(super) settings: Settings,

    /// Threads that have begun and may still take a task.
    pub(super) live: usize,
    /// Threads that were ordered and have not begun.
    pub(super) starting: usize,
    pub(super) largest: usize,
    /// Live workers that sleep or are about to be woken.
    pub(super) idle: usize,
    /// A worker was woken and has not looked at the queue yet.
    pub(super) searching: bool,
    /// Submitters inside the thread factory. Each of them sees to its own task if the thread does not come.
    ordering: usize,
    /// What each worker is doing. A worker keeps its seat for as long as it lives.
    pub(super) seats: Vec<Seat>,
    pub(super) active: usize,
    pub(super) completed: u64,
    pub(super) panicked: u64,

    /// Submitters that wait for room, in the order in which they came.
    submitters: VecDeque<Waker>,
}

/// What can be changed while the pool runs.
pub(super) struct Settings {
    pub(super) core: usize,
    pub(super) maximum: usize,
    pub(super) keep_alive: Duration,
    pub(super) core_timeout: bool,
    pub(super) factory: Arc<dyn ThreadFactory>,
    pub(super) rejection: Arc<dyn RejectionHandler>,
}

pub(super) enum Seat {
    Free,
    Idle,
    Running(TaskLabel),
}

impl State {
    pub(super) fn new(queue: Box<dyn WorkQueue>, settings: Settings) -> Self {
        Self {
            phase: PoolState::Running,
            queue,
            handed: VecDeque::new(),
            tombstones: 0,
            settings,
            live: 0,
            starting: 0,
            largest: 0,
            idle: 0,
            searching: false,
            ordering: 0,
            seats: Vec::new(),
            active: 0,
            completed: 0,
            panicked: 0,
            submitters: VecDeque::new(),
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.live + self.starting
    }

    pub(super) fn take_seat(&mut self) -> usize {
        let free = self.seats.iter().position(|seat| matches!(seat, Seat::Free));
        let seat = free.unwrap_or_else(|| {
            self.seats.push(Seat::Free);
            self.seats.len() - 1
        });
        self.seats[seat] = Seat::Idle;
        seat
    }

    /// Whether a worker may end because it has been idle for the keep-alive time.
    pub(super) fn may_time_out(&self) -> bool {
        self.settings.core_timeout || self.workers() > self.settings.core
    }

    /// Tasks that wait, without those that were cancelled.
    pub(super) fn queued(&self) -> usize {
        self.length().saturating_sub(self.dead())
    }

    fn length(&self) -> usize {
        ask(|| self.queue.len()).unwrap_or(0)
    }

    fn dead(&self) -> usize {
        usize::try_from(self.tombstones).unwrap_or(0)
    }

    /// Whether a task is in the queue, as far as the queue tells.
    fn holds(&self, id: TaskId) -> bool {
        let mut found = false;
        ask(|| self.queue.for_each(&mut |task| found |= task.id() == id));
        found
    }

    /// Takes the task to be run next and what is to be dropped, outside the lock, of those cancelled before it.
    pub(super) fn take(&mut self) -> (Option<Task>, Vec<Task>) {
        match self.handed.pop_front() {
            Some(task) => (Some(task), Vec::new()),
            None => self.take_queued(),
        }
    }

    /// The same, of those in the queue.
    fn take_queued(&mut self) -> (Option<Task>, Vec<Task>) {
        let mut cancelled = Vec::new();
        while let Some(task) = ask(|| self.queue.take()).flatten() {
            let was_cancelled = self.leave_queue(&task);
            self.wake_submitter();
            if was_cancelled {
                cancelled.push(task);
            } else {
                return (Some(task), cancelled);
            }
        }
        (None, cancelled)
    }

    /// Counts a task that is out of the queue, or did not get in. True if it was cancelled while it was in.
    fn leave_queue(&mut self, task: &Task) -> bool {
        let cancelled = task.leave_queue();
        if cancelled {
            self.tombstones -= 1;
        }
        cancelled
    }

    /// Takes cancelled tasks out of the queue; what comes back is to be dropped outside the lock.
    pub(super) fn purge(&mut self) -> Vec<Task> {
        let Some(removed) = ask(|| self.queue.remove(&mut Task::is_cancelled)) else { return Vec::new() };
        for task in &removed {
            self.leave_queue(task);
        }
        self.tombstones = self.tombstones.min(0); // more would be those that a user's own queue has dropped
        if !removed.is_empty() {
            self.wake_submitter();
        }
        removed
    }

    pub(super) fn stats(&self) -> PoolStats {
        PoolStats {
            state: self.phase,
            core_pool_size: self.settings.core,
            maximum_pool_size: self.settings.maximum,
            pool_size: self.workers(),
            largest_pool_size: self.largest,
            active: self.active + self.handed.len(),
            queued: self.queued(),
            completed: self.completed,
            panicked: self.panicked,
        }
    }

    pub(super) fn wake_submitter(&self) {
        // Under the lock, but not user code: only threads wait here, each on its parker.
        if let Some(first) = self.submitters.front() {
            first.wake_by_ref();
        }
    }

    pub(super) fn wake_all_submitters(&self) {
        self.submitters.iter().for_each(Waker::wake_by_ref);
    }
}

/// Calls the queue, which may be a user's own. If it panics, there is no answer; [`Shared::report_kept`] is to be called
/// when the lock is free.
fn ask<R>(call: impl FnOnce() -> R) -> Option<R> {
    contain(call).map_err(panics::keep).ok()
}

/// Why a task was not admitted, and the task.
type Refused = (RejectReason, Task);

impl Shared {
    // ----- the way in -----

    // ANCHOR: admit
    /// Accepts a task by the rules of the pool, or gives it back with the reason.
    ///
    /// The order is: a thread below core size, a place in the queue, a thread below maximum size; or threads first and
    /// then the queue, if the builder was told so.
    pub(super) fn admit(self: &Arc<Self>, mut task: Task) -> Result<(), Refused> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.state.lock();
        loop {
            if state.phase != PoolState::Running {
                return Err((RejectReason::Shutdown, task));
            }
            let grow_to = if self.threads_first { state.settings.maximum } else { state.settings.core };
            // A pool of core size zero needs a thread as well: without one nobody would look into its queue.
            if state.workers() < grow_to || state.workers() == 0 {
                return self.start_worker(state, task);
            }
            if state.live == 0 {
                // Every thread there is to be is only ordered yet. If none of them comes, a task in the queue would be
                // stranded, so wait the moment until that is known.
                state = self.started.wait(state);
                continue;
            }
            match self.offer(&mut state, task) {
                Ok(()) => return Ok(()),
                Err(Some(refused)) => task = refused,
                Err(None) => {
                    drop(state);
                    self.report_kept();
                    return Ok(());
                }
            }
            if state.tombstones > 0 {
                let purged = state.purge();
                if !purged.is_empty() {
                    cancelled.extend(purged);
                    continue; // there is room now
                }
            }
            if state.workers() < state.settings.maximum {
                return self.start_worker(state, task);
            }
            drop(state);
            self.report_kept(); // a comparator may have panicked
            return Err((RejectReason::Saturated, task));
        }
    }
    // ANCHOR_END: admit

    /// Puts a task into the queue, if it may wait there, and sees to it that somebody takes it. A queue that panics gives
    /// nothing back: it has the task, or has dropped it by unwinding.
    fn offer(&self, state: &mut MutexGuard<'_, State>, task: Task) -> Result<(), Option<Task>> {
        let (id, cell) = (task.id(), task.cell());
        let waiting = state.idle;
        let result = match ask(|| state.queue.offer(task, waiting)) {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => return Err(Some(refused)),
            None if state.holds(id) => Err(None),
            None => return Err(None),
        };
        if let Some(cell) = cell
            && let Some(watcher) = self.me.upgrade()
            && !cell.enter_queue(watcher)
        {
            state.tombstones += 1; // it was cancelled before it could tell us
        }
        self.wake_one(state);
        result
    }

    /// Admits a task as soon as there is room.
    pub(super) fn admit_when_room(
        self: &Arc<Self>,
        task: Task,
        deadline: Deadline,
    ) -> Result<(), RejectedExecution> {
        let mut task = Some(task);
        if check_current().is_err() {
            let task = task.take().expect("put there above");
            return Err(RejectedExecution { reason: RejectReason::Interrupted, task });
        }
        let mut me: Option<Waker> = None;
        let result = wait(deadline, |waker| {
            if me.is_none() {
                // First the waker and then the look, so that room made in between is not missed.
                self.state.lock().submitters.push_back(waker.clone());
                me = Some(waker.clone());
            }
            match self.admit(task.take()?) {
                Ok(()) => Some(Ok(())),
                Err((RejectReason::Saturated, back)) => {
                    task = Some(back);
                    None
                }
                Err((reason, task)) => Some(Err(RejectedExecution { reason, task })),
            }
        });
        if let Some(me) = me {
            let mut state = self.state.lock();
            state.submitters.retain(|other| !other.will_wake(&me));
            state.wake_submitter(); // there may be room for the next one, or we had its wake-up
        }
        result.unwrap_or_else(|why| {
            let reason = match why {
                WaitError::TimedOut => RejectReason::TimedOut,
                WaitError::Cancelled => RejectReason::Interrupted,
            };
            let task = task.take().expect("an unfinished wait has put it back");
            Err(RejectedExecution { reason, task })
        })
    }

    // ----- workers come and go -----

    /// Starts a worker for a task.
    fn start_worker(self: &Arc<Self>, mut state: MutexGuard<'_, State>, task: Task) -> Result<(), Refused> {
        let id = task.id();
        state.handed.push_back(task);
        let Err(error) = self.order_worker(state) else { return Ok(()) };

        let mut state = self.state.lock();
        let Some(index) = state.handed.iter().position(|task| task.id() == id) else {
            return Ok(()); // another worker has taken it meanwhile
        };
        let Some(task) = state.handed.remove(index) else { unreachable!("its index was just found") };
        // Those there are will have to do, or those that others have ordered.
        while state.phase == PoolState::Running && state.live == 0 && state.starting > 0 {
            state = self.started.wait(state);
        }
        if state.phase == PoolState::Running && state.live > 0 {
            let offered = self.offer(&mut state, task);
            drop(state); // before the error is, which is the factory's, or its panic
            self.report_kept();
            return match offered {
                Ok(()) | Err(None) => Ok(()),
                Err(Some(task)) => Err((RejectReason::NoThread(error), task)),
            };
        }
        self.see_to_stranded(state);
        Err((RejectReason::NoThread(error), task))
    }

    /// Has the factory start a thread, outside the lock.
    fn order_worker(self: &Arc<Self>, mut state: MutexGuard<'_, State>) -> std::io::Result<()> {
        state.starting += 1;
        state.ordering += 1;
        let factory = Arc::clone(&state.settings.factory);
        drop(state);
        self.report_kept();
        let shared = Arc::clone(self);
        let worker = Worker::new(move |comes| {
            if comes {
                worker::run(&shared);
            } else {
                shared.worker_does_not_come();
            }
        });
        let result = contain(|| factory.start(worker)).unwrap_or_else(|panic| {
            panic.set_origin(None, self.panic_handler.clone());
            Err(std::io::Error::other(panic))
        });
        let mut state = self.state.lock();
        state.ordering -= 1;
        if result.is_ok() {
            state.largest = state.largest.max(state.workers());
            self.see_to_stranded(state); // the factory may have dropped the worker already
        }
        result
    }

    fn worker_does_not_come(&self) {
        let mut state = self.state.lock();
        state.starting -= 1;
        self.started.notify_all();
        state.wake_submitter(); // another may be started in its place
        self.wake_one(&mut state);
        self.see_to_stranded(state);
    }

    /// A submitter whose thread does not come usually takes its task back. A factory that said it had started a thread,
    /// and drops it later, leaves nobody to do that: drops the tasks that no thread will come for.
    fn see_to_stranded(&self, mut state: MutexGuard<'_, State>) {
        let nobody_comes = state.workers() == 0 && state.ordering == 0;
        let stranded = if nobody_comes { std::mem::take(&mut state.handed) } else { VecDeque::new() };
        self.terminate_if_done(state);
        drop(stranded);
    }

    /// Starts a worker that has no task yet, if there are fewer than core size. True if one was started.
    pub(super) fn prestart(self: &Arc<Self>) -> bool {
        let state = self.state.lock();
        if state.phase != PoolState::Running || state.workers() >= state.settings.core {
            return false;
        }
        let started = self.order_worker(state).is_ok();
        if !started {
            self.see_to_stranded(self.state.lock());
        }
        started
    }

    /// Wakes a sleeping worker if there is something to take, unless one is on its way.
    pub(super) fn wake_one(&self, state: &mut MutexGuard<'_, State>) {
        let has_tasks =
            |state: &State| !state.handed.is_empty() || !ask(|| state.queue.is_empty()).unwrap_or(false);
        if state.idle > 0 && !state.searching && has_tasks(state) {
            state.searching = true;
            self.work.notify_one();
        }
    }

    // ----- the way out -----

    pub(super) fn shutdown(&self) {
        let mut state = self.state.lock();
        if state.phase == PoolState::Running {
            state.phase = PoolState::ShuttingDown;
            self.announce_end(&state);
            self.terminate_if_done(state);
        }
    }

    pub(super) fn shutdown_now(&self) -> Vec<Task> {
        let mut state = self.state.lock();
        if state.phase < PoolState::Stopping {
            state.phase = PoolState::Stopping;
            self.announce_end(&state);
        }
        let mut never_begun: Vec<Task> = state.handed.drain(..).collect();
        let mut cancelled = Vec::new();
        while let Some(task) = ask(|| state.queue.take()).flatten() {
            if state.leave_queue(&task) { cancelled.push(task) } else { never_begun.push(task) }
        }
        self.terminate_if_done(state);
        drop(cancelled);
        self.report_kept();
        self.root.cancel();
        never_begun
    }

    /// Has everybody who waits look at the phase.
    fn announce_end(&self, state: &State) {
        self.work.notify_all();
        self.started.notify_all();
        state.wake_all_submitters();
    }

    /// Ends the pool's life if it was shut down and the last worker is gone.
    pub(super) fn terminate_if_done(&self, mut state: MutexGuard<'_, State>) {
        let ending = matches!(state.phase, PoolState::ShuttingDown | PoolState::Stopping);
        if !ending || state.workers() > 0 || !state.handed.is_empty() {
            return;
        }
        state.phase = PoolState::Tidying; // so that this happens once
        drop(state);
        self.call_hook(|hooks| hooks.terminated());
        self.state.lock().phase = PoolState::Terminated;
        self.terminated.count_down();
    }

    /// Runs a refused task on the calling thread. It is no task of the pool's, so no hook is called and nothing counted,
    /// but a panic in it that nobody reads is reported where the submitter expects it.
    pub(super) fn run_here(&self, task: Task) {
        let label = task.label();
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
            }
        });
    }

    /// Calls user code; a panic in it is reported and goes no further.
    pub(super) fn call_hook(&self, call: impl FnOnce(&dyn Hooks)) {
        if let Err(panic) = contain(|| call(&*self.hooks)) {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Reports panics of the queue.
    pub(super) fn report_kept(&self) {
        for panic in panics::take_kept() {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    // ----- looking in -----

    pub(super) fn stats(&self) -> PoolStats {
        let stats = self.state.lock().stats();
        self.report_kept();
        stats
    }

    pub(super) fn is_shutdown(&self) -> bool {
        self.state.lock().phase > PoolState::Running
    }

    pub(super) fn take_next_queued(&self) -> Option<Task> {
        let (task, cancelled) = self.state.lock().take_queued();
        drop(cancelled);
        self.report_kept();
        task
    }

    pub(super) fn remove(&self, id: TaskId) -> Option<Task> {
        let mut state = self.state.lock();
        let removed = ask(|| state.queue.remove(&mut |task| task.id() == id));
        let Some(task) = removed.unwrap_or_default().pop() else {
            drop(state);
            self.report_kept();
            return None;
        };
        let was_cancelled = state.leave_queue(&task);
        state.wake_submitter();
        drop(state);
        (!was_cancelled).then_some(task)
    }

    pub(super) fn purge(&self) {
        let removed = self.state.lock().purge();
        drop(removed);
        self.report_kept();
    }

    pub(super) fn snapshot(&self) -> PoolSnapshot {
        let state = self.state.lock();
        let running = state.seats.iter().filter_map(|seat| match seat {
            Seat::Running(task) => Some(task.clone()),
            _ => None,
        });
        let mut running: Vec<_> = running.chain(state.handed.iter().map(Task::label)).collect();
        running.sort_by_key(TaskLabel::id); // tasks of one submitter in the order in which it made them
        let running = running.iter().map(ToString::to_string).collect();
        let mut queued = Vec::new();
        let mut look = |task: &Task| {
            if !task.is_cancelled() {
                queued.push(task.label().to_string());
            }
        };
        ask(|| state.queue.for_each(&mut look));
        let snapshot = PoolSnapshot { stats: state.stats(), running, queued };
        drop(state);
        self.report_kept();
        snapshot
    }
}

impl QueueWatcher for Shared {
    fn take_out(&self, id: TaskId) -> Option<Task> {
        self.remove(id)
    }

    fn cancelled_in_queue(&self) {
        let mut state = self.state.lock();
        state.tombstones += 1;
        state.wake_submitter();
        // What is left of a cancelled task is small, but a queue that is never reached would keep it for ever. Clearing
        // up when half of the queue is dead costs each of them a constant share.
        let dead = state.dead();
        if dead >= 32 && dead * 2 >= state.length() {
            let removed = state.purge();
            drop(state);
            drop(removed);
            self.report_kept();
        }
    }
}
