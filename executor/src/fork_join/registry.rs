//! What the workers of a pool share: the submissions, the list of sleeping workers, and the end of the pool.
//!
//! # The life of a worker
//!
//! ```text
//!   (none) ──started──▶ searches ──finds a job──▶ works ──────┐
//!                         ▲  │  ▲─────────────────────────────┘
//!                    woken│  │nothing
//!                         │  ▼
//!                        sleeps ──keep-alive over, or pool over──▶ (none)
//! ```
//!
//! The thread that puts a job into a queue is the job's *publisher*. If no worker searches, the publisher
//! wakes one sleeping worker, or starts a worker if no worker sleeps. If the last searching worker finds a job and
//! there are more jobs, that worker wakes or starts the next worker. So a publisher of many jobs wakes only
//! one worker.
//!
//! # No wake-up is lost
//!
//! A publisher puts its job into a queue, under that queue's lock. Then the publisher checks whether a worker
//! searches. Before a worker sleeps, it subtracts itself from the count of searching workers. Then the worker
//! looks into each queue once more, under that queue's lock. If the worker takes the lock first, the
//! publisher sees that this worker no longer searches, and wakes a worker if no other worker searches. If the
//! publisher takes the lock first, the worker sees the job. A worker that blocks or leaves the pool makes
//! room for another worker. A worker that makes room uses the same order: first it publishes that there is
//! room, and then it looks into the queues.
//!
//! # Invariants
//!
//! 1. `searching` counts the workers that look for a job and have not found one. The thread that wakes or
//!    starts a worker counts that worker.
//! 2. `unfinished` counts the tasks that were accepted, until they end, are dropped or are taken out of the
//!    pool. The computation of a guest counts as a task. Second halves of joins are parts of tasks, and are
//!    not counted.
//! 3. At most `threads` workers are awake, guests included. For each worker that [blocks](super::blocking()),
//!    one more worker may be awake, up to `spares` more workers in total. If too many workers are awake, a
//!    worker goes to sleep after its job.
//! 4. The pool is terminated when it was shut down, no task is unfinished and no worker is left. The thread
//!    that terminates the pool counts down the latch `terminated`.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::task::Waker;

use super::worker_queue::{QueueEntry, QueuedJob, WorkerQueue};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, Context};
use crate::executor::{PoolState, RejectedExecution};
use crate::ids::{QueueId, TaskId, ThreadKey};
use crate::panics::{PanicHandler, UserCode, discard};
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, MutexGuard, Weak};
use crate::task::Task;
use crate::time::Sightings;
use crate::wait_graph;
use crate::waiting::error::RejectReason;
use crate::waiting::latch::Latch;
use crate::waiting::pool_dump::{PoolDump, QueuedDump};
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};
use crate::waiting::wait::{Ticket, WaitList};

/// The settings of a pool, which never change.
pub(super) struct ForkJoinSettings {
    pub(super) name: String,
    pub(super) threads: usize,
    pub(super) spares: usize,
    pub(super) stack_size: Option<usize>,
    pub(super) keep_alive: Duration,
    pub(super) oldest_first: bool,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
}

pub(super) struct Registry {
    pub(super) settings: ForkJoinSettings,
    pub(super) queues: Box<[Arc<WorkerQueue>]>,
    /// For each worker queue, the condition variable at which the owner of the queue sleeps.
    wake_ups: Box<[Condvar]>,
    state: Mutex<RegistryData>,
    /// The threads outside the pool that wait for tasks of the pool and run these tasks: one entry for each
    /// task. The flag of an entry is true if, in this task or in a task on top of it, the thread waits until
    /// the pool is quiet. A thread takes the lock of this list after all other locks.
    pub(super) helpers: Mutex<Vec<(ThreadKey, bool)>>,
    /// The number of further workers that could be woken or started. Threads read this field and the next
    /// three fields without the lock: see `changed`.
    available: AtomicUsize,
    surplus: AtomicUsize,
    submissions: AtomicUsize,
    awaiting_quiet: AtomicUsize,
    searching: AtomicUsize,
    unfinished: AtomicUsize,
    /// True if a waiting thread relies on the fact that the queues are empty. The publisher of the next job
    /// then makes the waiting thread check its wait again.
    pub(super) relied_on: AtomicBool,
    /// The running tasks that the last dump has seen. See `running`.
    pub(super) sightings: Mutex<Sightings>,
    pub(super) root: CancelToken,
    pub(super) terminated: Latch,
    pub(super) completed: AtomicU64,
    pub(super) panicked: AtomicU64,
    pub(super) registration: QueueRegistration,
    pub(super) me: Weak<Self>,
}

struct RegistryData {
    phase: PoolState,
    submissions: VecDeque<Task>,
    /// The worker queues of sleeping workers. The worker that went to sleep last is woken first, because its
    /// cache is warm.
    asleep: Vec<usize>,
    /// The worker queues without a thread.
    vacant: Vec<usize>,
    live: usize,
    blocking: usize,
    /// True if the system has refused to start a thread. The pool tries again at the next submission.
    was_refused: bool,
    awaiting_quiet: WaitList,
    /// The number of tasks that are on the stacks of threads that wait until the pool is quiet.
    waiting_tasks: usize,
}

impl Registry {
    pub(super) fn new(settings: ForkJoinSettings) -> Arc<Self> {
        let queues = settings.threads + settings.spares;
        let state = RegistryData {
            phase: PoolState::Running,
            submissions: VecDeque::new(),
            asleep: Vec::new(),
            vacant: (0..queues).rev().collect(),
            live: 0,
            blocking: 0,
            was_refused: false,
            awaiting_quiet: WaitList::new(),
            waiting_tasks: 0,
        };
        Arc::new_cyclic(|me| Self {
            available: AtomicUsize::new(settings.threads),
            queues: (0..queues).map(|number| Arc::new(WorkerQueue::new(number))).collect(),
            wake_ups: (0..queues).map(|_| Condvar::new()).collect(),
            settings,
            state: Mutex::new(state),
            helpers: Mutex::new(Vec::new()),
            surplus: AtomicUsize::new(0),
            submissions: AtomicUsize::new(0),
            awaiting_quiet: AtomicUsize::new(0),
            searching: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(0),
            relied_on: AtomicBool::new(false),
            sightings: Mutex::default(),
            root: CancelToken::new(),
            terminated: Latch::new(1),
            completed: AtomicU64::new(0),
            panicked: AtomicU64::new(0),
            registration: QueueRegistration::new(me),
            me: me.clone(),
        })
    }

    /// Returns the id of a worker queue: the id of the pool, combined with the number of a *lane*. The
    /// first lane is the queue of submissions; the worker queues follow.
    fn lane_of(&self, number: usize) -> QueueId {
        self.registration.id().with_lane(number as u64 + 1)
    }

    fn queue_of_lane(&self, lane: QueueId) -> Option<&Arc<WorkerQueue>> {
        self.queues.get(usize::try_from(lane.lane()).ok()?.checked_sub(1)?)
    }

    // ----- tasks come -----

    /// Accepts a task from outside.
    pub(super) fn submit(&self, task: Task) -> Result<(), RejectedExecution> {
        let mut state = self.state.lock();
        if state.phase != PoolState::Running {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        let id = task.id();
        // A cancelled task goes into the queue, too. A worker that takes a cancelled task from the queue runs
        // nothing.
        task.enter_queue(self.registration.id());
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        state.submissions.push_back(task);
        state.was_refused = false;
        self.changed(&state);
        let refused = if self.is_searched() { Ok(()) } else { self.wake_one(&mut state) }.err();
        if let Some(error) = refused
            && state.live == 0
        {
            let place =
                state.submissions.iter().position(|task| task.id() == id).expect("no worker has taken it");
            let task = state.submissions.remove(place).expect("it is there");
            task.leave_queue();
            self.changed(&state);
            drop(state);
            self.task_ended();
            return Err(RejectedExecution { reason: RejectReason::NoThread(error), task });
        }
        drop(state);
        self.tell_those_who_wait();
        Ok(())
    }

    /// Puts a task into a worker's own queue. If the pool is stopping, the call drops the task, because all
    /// forks are then cancelled.
    pub(super) fn push(&self, queue: &WorkerQueue, task: Task, context: Context) {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        task.enter_queue(self.lane_of(queue.number));
        queue.push(QueuedJob::Task(task), context);
        if self.phase() >= PoolState::Stopping {
            return self.cancel_forks();
        }
        self.announce();
    }

    pub(super) fn phase(&self) -> PoolState {
        self.state.lock().phase
    }

    // ANCHOR: announce
    /// Wakes a worker for a new job, unless a worker searches already.
    pub(super) fn announce(&self) {
        if self.available.load(Ordering::SeqCst) > 0 && !self.is_searched() {
            let mut state = self.state.lock();
            if !self.is_searched() {
                // If the system refuses to start a thread, the publisher runs the job itself.
                let _ = self.wake_one(&mut state);
            }
        }
        self.tell_those_who_wait();
    }
    // ANCHOR_END: announce

    fn is_searched(&self) -> bool {
        self.searching.load(Ordering::SeqCst) > 0
    }

    fn tell_those_who_wait(&self) {
        if self.relied_on.load(Ordering::SeqCst) && self.relied_on.swap(false, Ordering::SeqCst) {
            wait_graph::look_again(self.registration.id());
        }
    }

    // ----- workers come -----

    /// Wakes or starts a worker, if fewer workers are awake than allowed.
    fn wake_one(&self, state: &mut MutexGuard<'_, RegistryData>) -> io::Result<()> {
        if state.awake() >= state.allowed(&self.settings) {
            return Ok(());
        }
        if let Some(number) = state.asleep.pop() {
            self.searching.fetch_add(1, Ordering::SeqCst);
            self.wake_ups[number].notify_one();
        } else if !state.was_refused
            && let Some(number) = state.vacant.pop()
        {
            state.live += 1;
            self.searching.fetch_add(1, Ordering::SeqCst);
            if let Err(error) = self.start(number) {
                state.live -= 1;
                state.vacant.push(number);
                state.was_refused = true;
                self.searching.fetch_sub(1, Ordering::SeqCst);
                self.changed(state);
                return Err(error);
            }
        }
        self.changed(state);
        Ok(())
    }

    /// Records that a searching worker has found a job. If the last searching worker has found a job and
    /// there are more jobs, the next worker is woken.
    pub(super) fn has_found(&self) {
        let was_last = self.searching.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && self.is_anything_queued() {
            self.announce();
        }
    }

    pub(super) fn begins_to_search(&self) {
        self.searching.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn has_submissions(&self) -> bool {
        self.submissions.load(Ordering::SeqCst) > 0
    }

    pub(super) fn take_submission(&self) -> Option<QueueEntry> {
        self.take_submission_if(|_| true)
    }

    /// Returns whether there is a job. If there is no job, the thread that announces the next job
    /// sees everything that the calling thread did before.
    pub(super) fn is_anything_queued(&self) -> bool {
        self.has_submissions() || self.queues.iter().any(|queue| queue.has_jobs())
    }

    // ----- workers sleep and leave -----

    /// Returns whether more workers are awake than allowed. If the result is true, a worker that has ended
    /// its job must sleep.
    pub(super) fn is_surplus(&self) -> bool {
        self.surplus.load(Ordering::SeqCst) > 0
    }

    /// Puts the calling worker to sleep, because it has found no job or too many workers are awake.
    /// `searches` says whether the worker is counted as searching. Returns true if the worker must now
    /// search; this worker is already counted as searching. Returns false if the worker has left the pool.
    pub(super) fn sleep(&self, number: usize, searches: bool) -> bool {
        let mut state = self.state.lock();
        if !searches && state.awake() <= state.allowed(&self.settings) {
            self.searching.fetch_add(1, Ordering::SeqCst);
            return true; // no more workers are awake than allowed
        }
        state.asleep.push(number);
        if searches {
            self.searching.fetch_sub(1, Ordering::SeqCst);
        }
        self.changed(&state);
        drop(state);
        // Perhaps a waiting thread relies on this worker, so the worker looks into the queues once more. But
        // the worker stays asleep if enough workers are awake.
        self.tell_those_who_wait();
        let is_wanted = self.is_anything_queued();
        let mut state = self.state.lock();
        if is_wanted && state.is_asleep(number) && state.awake() < state.allowed(&self.settings) {
            state.asleep.retain(|&other| other != number);
            self.searching.fetch_add(1, Ordering::SeqCst);
            self.changed(&state);
            return true;
        }
        let end = Instant::now().checked_add(self.settings.keep_alive);
        let mut timed_out = false;
        loop {
            if !state.is_asleep(number) {
                return true; // the thread that woke the worker has counted it
            }
            if timed_out || self.is_ending(&state) {
                state.asleep.retain(|&other| other != number);
                self.leave(state, number);
                return false;
            }
            (state, timed_out) = match end {
                Some(end) => self.wake_ups[number].wait_until(state, &self.state, end),
                None => (self.wake_ups[number].wait(state), false),
            };
        }
    }

    fn leave(&self, mut state: MutexGuard<'_, RegistryData>, number: usize) {
        state.live -= 1;
        state.vacant.push(number);
        self.queues[number].sit(None);
        self.changed(&state);
        self.terminate_if_over(state);
        wait_graph::look_again(self.registration.id());
    }

    // ----- guests -----

    /// Makes the calling thread a worker for one computation, if fewer workers are awake than allowed. The
    /// guest owns the returned worker queue until it [leaves](Self::guest_leaves).
    pub(super) fn admit_guest(&self) -> Option<usize> {
        let mut state = self.state.lock();
        let is_wanted = state.phase == PoolState::Running && state.awake() < state.allowed(&self.settings);
        // If the pool was given a stack size, the pool's computations need this size: a guest's stack may be
        // smaller.
        if !is_wanted || self.settings.stack_size.is_some() {
            return None;
        }
        let number = state.vacant.pop()?;
        state.live += 1;
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        self.changed(&state);
        Some(number)
    }

    /// Makes a guest an ordinary thread again, after its computation has ended. The workers run the tasks
    /// that the guest has forked and not joined.
    pub(super) fn guest_leaves(&self, number: usize) {
        self.leave(self.state.lock(), number);
        if self.is_anything_queued() {
            self.announce();
        }
        self.task_ended();
    }

    /// Records that the calling worker may block for a long time. Another worker can take the place of this
    /// worker until this worker calls [`goes_on`](Self::goes_on).
    pub(super) fn blocks(&self) {
        let mut state = self.state.lock();
        state.blocking += 1;
        self.changed(&state);
        drop(state);
        if self.is_anything_queued() {
            self.announce();
        }
    }

    pub(super) fn goes_on(&self) {
        let mut state = self.state.lock();
        state.blocking -= 1;
        self.changed(&state);
    }

    /// Updates the values that threads read without the lock.
    fn changed(&self, state: &RegistryData) {
        let (awake, allowed) = (state.awake(), state.allowed(&self.settings));
        let startable = if state.was_refused { 0 } else { state.vacant.len() };
        let available = allowed.saturating_sub(awake).min(state.asleep.len() + startable);
        self.available.store(available, Ordering::SeqCst);
        self.surplus.store(awake.saturating_sub(allowed), Ordering::SeqCst);
        self.submissions.store(state.submissions.len(), Ordering::SeqCst);
        self.awaiting_quiet.store(state.awaiting_quiet.len(), Ordering::SeqCst);
    }

    // ----- the end -----

    /// Counts a task as unfinished again. A waiting thread has taken the task out of a queue to run it.
    pub(super) fn task_is_back(&self) {
        self.unfinished.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that a task has ended, or was dropped.
    pub(super) fn task_ended(&self) {
        let left = self.unfinished.fetch_sub(1, Ordering::SeqCst) - 1;
        if left == 0 || self.awaiting_quiet.load(Ordering::SeqCst) > 0 {
            let mut state = self.state.lock();
            let waiting: Vec<_> = state.awaiting_quiet.take_all().collect();
            self.changed(&state);
            if self.is_ending(&state) {
                self.wake_ups.iter().for_each(Condvar::notify_one);
            }
            self.terminate_if_over(state);
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    fn is_ending(&self, state: &RegistryData) -> bool {
        state.phase > PoolState::Running && self.unfinished.load(Ordering::SeqCst) == 0
    }

    fn terminate_if_over(&self, mut state: MutexGuard<'_, RegistryData>) {
        if state.live == 0 && self.is_ending(&state) && state.phase != PoolState::Terminated {
            state.phase = PoolState::Terminated;
            drop(state);
            self.terminated.count_down();
        }
    }

    pub(super) fn shutdown(&self) {
        let mut state = self.state.lock();
        if state.phase == PoolState::Running {
            state.phase = PoolState::ShuttingDown;
        }
        self.wake_ups.iter().for_each(Condvar::notify_one);
        self.terminate_if_over(state);
    }

    pub(super) fn shutdown_now(&self) -> Vec<Task> {
        let mut state = self.state.lock();
        state.phase = state.phase.max(PoolState::Stopping);
        let submissions = std::mem::take(&mut state.submissions);
        self.changed(&state);
        drop(state);
        let (cancelled, never_begun): (Vec<_>, Vec<_>) = submissions.into_iter().partition(Task::leave_queue);
        let ended = cancelled.len() + never_begun.len();
        drop(cancelled);
        let never_begun = Task::hand_out(never_begun);
        self.cancel_forks();
        self.root.cancel_because(CancelReason::of(CancelKind::Shutdown));
        (0..ended).for_each(|_| self.task_ended());
        self.shutdown(); // sleeping workers leave, if no task is unfinished
        never_begun
    }

    /// Drops the tasks in the workers' queues: the handles of these tasks are completed as cancelled.
    fn cancel_forks(&self) {
        for queue in &self.queues {
            for task in queue.take_tasks(|_| true) {
                task.leave_queue();
                discard(task);
                self.task_ended();
            }
        }
    }

    // ----- quiescence -----

    /// Returns whether the pool is quiet. `is_inside` says that the calling thread is inside a task: then the
    /// tasks of all threads that wait until the pool is quiet do not count. If the pool is not quiet, `waker`
    /// is called when the thread must call this function again.
    pub(super) fn is_quiet(&self, is_inside: bool, ticket: &Cell<Option<Ticket>>, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if let Some(before) = ticket.take() {
            state.awaiting_quiet.leave(before);
        }
        let not_counted = if is_inside { state.waiting_tasks } else { 0 };
        if self.unfinished.load(Ordering::SeqCst) > not_counted {
            ticket.set(Some(state.awaiting_quiet.join(waker.clone())));
        }
        self.changed(&state);
        // The state is read once more after other threads can see the waiter, because a task that ended
        // before has not woken the waiter.
        self.unfinished.load(Ordering::SeqCst) <= not_counted
    }

    /// Records that a thread begins to wait until the pool is quiet: `tasks` tasks on the thread's stack now
    /// count as tasks of a waiting thread.
    pub(super) fn begins_to_wait_for_quiet(&self, tasks: usize) {
        let mut state = self.state.lock();
        state.waiting_tasks += tasks;
        let waiting: Vec<_> = state.awaiting_quiet.take_all().collect();
        self.changed(&state);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(super) fn ends_to_wait_for_quiet(&self, tasks: usize, ticket: Option<Ticket>) {
        let mut state = self.state.lock();
        state.waiting_tasks -= tasks;
        if let Some(ticket) = ticket {
            state.awaiting_quiet.leave(ticket);
        }
        self.changed(&state);
    }

    // ----- numbers -----

    /// Returns the number of workers, the number of awake workers, and the number of submissions that
    /// wait.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let state = self.state.lock();
        (state.live, state.awake(), state.submissions.len())
    }

    /// Adds the submissions that have not begun to `queued`.
    pub(super) fn describe_submissions(&self, queued: &mut QueuedDump) {
        self.state.lock().submissions.iter().for_each(|task| queued.add(task));
    }

    /// Returns the number of workers that search for a job, or could be woken or started to run a
    /// job.
    pub(super) fn idle(&self) -> usize {
        self.available.load(Ordering::SeqCst) + self.searching.load(Ordering::SeqCst)
    }

    pub(super) fn unfinished(&self) -> usize {
        self.unfinished.load(Ordering::SeqCst)
    }

    /// Returns whether exactly `threads` workers are awake and no sleeping worker could be woken. While the
    /// allowed number of workers, guests included, is awake, no sleeping worker can be woken.
    pub(super) fn has_only(&self, threads: usize) -> bool {
        let state = self.state.lock();
        let may_wake = !state.asleep.is_empty() && state.awake() < state.allowed(&self.settings);
        state.live > 0 && state.awake() == threads && !may_wake
    }

    pub(super) fn can_start(&self) -> bool {
        let state = self.state.lock();
        state.awake() < state.allowed(&self.settings) && !state.vacant.is_empty() && !state.was_refused
    }

    /// Wakes or starts a worker, unless a worker searches already. Returns false if the system refuses to
    /// start a thread.
    pub(super) fn send_one(&self) -> bool {
        let mut state = self.state.lock();
        self.is_searched() || self.wake_one(&mut state).is_ok()
    }

    /// Searches the pool's queues for a task that reports to this collector, and removes the task from its
    /// queue. The search begins with the thief's own queue.
    pub(super) fn take_one_of(&self, collector: usize, thief: usize) -> Option<QueueEntry> {
        let (before, from) = self.queues.split_at(thief);
        let own = from.first().and_then(|queue| queue.take_one_of(collector, thief));
        own.or_else(|| self.take_submission_if(|task| task.collector() == collector)).or_else(|| {
            let mut others = before.iter().chain(&from[1..]);
            others.find_map(|queue| queue.take_one_of(collector, thief))
        })
    }

    fn take_submission_if(&self, wanted: impl Fn(&Task) -> bool) -> Option<QueueEntry> {
        let mut state = self.state.lock();
        let place = state.submissions.iter().position(wanted)?;
        let task = state.submissions.remove(place);
        self.changed(&state);
        task.map(QueueEntry::of_submission)
    }

    /// Takes a task out of the given queue of the pool.
    pub(super) fn take_task(&self, queue: QueueId, id: TaskId, thief: Option<usize>) -> Option<QueueEntry> {
        if queue == self.registration.id() {
            return self.take_submission_if(|task| task.id() == id);
        }
        let queue = self.queue_of_lane(queue)?;
        queue.take_task(id, thief.filter(|&thief| thief != queue.number))
    }
}

impl RegistryData {
    fn awake(&self) -> usize {
        self.live - self.asleep.len()
    }

    fn allowed(&self, settings: &ForkJoinSettings) -> usize {
        settings.threads + self.blocking.min(settings.spares)
    }

    fn is_asleep(&self, number: usize) -> bool {
        self.asleep.contains(&number)
    }
}

// ----- questions about the queues -----

impl QueueOwner for Registry {
    // There is nothing to do here: the queue keeps only an empty task, and the worker that takes this empty
    // task runs nothing.
    fn cancelled_in_queue(self: Arc<Self>, _queue: QueueId, _by: CancelKind) -> Option<UserCode> {
        None
    }

    fn tombstone_dropped(&self) {}

    fn take_out(&self, queue: QueueId, id: TaskId) -> Option<Task> {
        let task = self.take_task(queue, id, None)?.into_task()?;
        let was_cancelled = task.leave_queue();
        self.task_ended();
        (!was_cancelled).then_some(task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let mut state = self.state.lock();
        let (taken, kept): (VecDeque<_>, _) = state.submissions.drain(..).partition(|task| wanted(task));
        state.submissions = kept;
        self.changed(&state);
        drop(state);
        let forked = self.queues.iter().flat_map(|queue| queue.take_tasks(wanted));
        let all: Vec<_> = taken.into_iter().chain(forked).collect();
        let (cancelled, tasks): (Vec<_>, _) = all.into_iter().partition(Task::leave_queue);
        let tasks: Vec<Task> = tasks;
        (0..cancelled.len() + tasks.len()).for_each(|_| self.task_ended());
        tasks
    }

    fn name(&self) -> String {
        self.settings.name.clone()
    }

    fn served_by(self: Arc<Self>, _queue: QueueId) -> ServedBy {
        ServedBy::Threads(self)
    }

    fn dumped(&self) -> Option<PoolDump> {
        Some(self.describe())
    }

    fn queued_of(&self, queue: QueueId, collector: usize) -> usize {
        if queue == self.registration.id() {
            // A wait names only the pool, so a call with the pool's id must count the tasks in the worker
            // queues, too.
            let of_it = |task: &&Task| task.collector() == collector;
            let submitted = self.state.lock().submissions.iter().filter(of_it).count();
            return submitted + self.queues.iter().map(|queue| queue.queued_of(collector)).sum::<usize>();
        }
        self.queue_of_lane(queue).map_or(0, |queue| queue.queued_of(collector))
    }
}
