//! A worker thread: it takes tasks and runs them, sleeps while there is no task, and finally leaves the pool.
//!
//! # The life of a worker
//!
//! ```text
//!  starting ──begin──▶ looks ──finds a task or a batch──▶ runs a task ──▶ claims the next … ──none──▶ looks
//!                      │ ▲ ▲
//!              nothing ▼ │ └──────────────┐
//!                     gives way ──▶ sleeps ──keep-alive over, or too many, or the end──▶ leaves
//! ```
//!
//! While there are tasks in the batch, a worker claims one task after the other without a lock. When the
//! batch is used up, the worker takes the lock of the state and looks for a first task, a new batch or a task
//! in the queue.
//!
//! # How workers are woken
//!
//! A wake-up takes a system call, so the pool wakes workers as rarely as possible. A submitter wakes a
//! sleeping worker only if no worker is `searching`, that is, about to look for a task. A worker that has
//! found a task wakes the next worker if there are more tasks. So the submitter of many tasks wakes only one
//! worker, and each woken worker can wake another worker. Before a worker sleeps, it yields to other threads
//! a few times; meanwhile it counts as searching.
//!
//! # How a worker leaves
//!
//! | because | it leaves |
//! |---|---|
//! | the pool is stopping | at once; `shutdown_now` returns the waiting tasks |
//! | there are too many workers | after its task; an idle or new worker only if there is no task to take |
//! | it was idle for the keep-alive time | only if there is no task to take and the inbox is closed |
//! | the pool is shutting down | when there is no task to take |
//! | it unwinds (a bug of this crate) | at once; another worker is started if it was the last and tasks wait |
//!
//! # Invariants
//!
//! 1. A worker holds only the task that it runs.
//! 2. An idle or new worker looks for a task before it leaves. A submitter may count on that worker: perhaps
//!    the submitter has requested the worker for a task, or has put a task into the inbox or a hand-off queue
//!    because the worker sleeps or searches.
//! 3. A worker decides to leave and is subtracted from `live` in one step, under the lock of the state.
//! 4. A worker sleeps only after it has closed the inbox and found no task. From this search for a task until
//!    the worker sleeps, it holds the lock of the state.

use super::batch::{Batch, WorkerSlot};
use super::cancelled::CancelledTasks;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::cancel::{Role, enter_role};
use crate::executor::PoolState;
use crate::ids::TaskId;
use crate::panics::{self, OnDrop};
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Instant, MutexGuard, PATIENCE, thread};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::wait_graph::work_for;
use crate::waiting::worker_context::PoolWorker;

/// The number of tasks for which memory is kept, so that a pool in its steady state allocates no
/// memory.
const KEPT: usize = 4096;

// ANCHOR: worker
/// The body of a worker thread. `first_task` is the task for which the worker was requested.
pub(super) fn run(shared: &Arc<PoolShared>, first_task: Option<TaskId>) {
    let mut worker = LiveWorker::begin(shared, first_task);
    let _role = enter_role(Role::Worker(shared.address()));
    shared.call_hooks(|hooks| hooks.worker_started());
    shared.root.above_tasks(|| {
        while let Some(task) = worker.next_task() {
            worker.run_task(task);
        }
    });
    shared.report_kept();
    shared.call_hooks(|hooks| hooks.worker_ended());
}
// ANCHOR_END: worker

/// The next step of a worker.
enum Next {
    Start(Task),
    /// Claim a task from this batch, if the batch still has an unclaimed task.
    Claim(Arc<Batch>),
    /// Release the lock; then drop the cancelled tasks that were found, and report the panics of the queue.
    TidyUp,
    LookAgain,
    GiveWay,
    Sleep,
    Leave,
}

/// The data that a worker keeps while it searches for a task.
struct Search<'a> {
    /// The task for which the worker was started, until the worker looks for a task.
    own_task: Option<TaskId>,
    /// True if a submitter may rely on this worker to look for a task. If a submitter may count on a worker,
    /// the worker must look for a task before it leaves.
    is_counted_on: bool,
    idle_since: Option<Instant>,
    is_idle_for_too_long: bool,
    has_tidied_up: bool,
    times_it_gave_way: u32,
    /// Cancelled tasks that the worker has found in the queue.
    cancelled: CancelledTasks<'a>,
}

/// A worker that is counted as live, from `begin` until `leave`.
struct LiveWorker<'a> {
    shared: &'a PoolShared,
    /// The number of the worker's slot.
    number: usize,
    worker_slot: Arc<WorkerSlot>,
    /// The batch from which the worker claims, until the batch is used up.
    batch: Option<Arc<Batch>>,
    /// True if the worker has not looked for a task yet.
    fresh: bool,
    first_task: Option<TaskId>,
    left: bool,
    /// Tells the deadlock detector that this thread works for the pool, until the worker leaves.
    role: Option<OnDrop<fn()>>,
}

impl<'a> LiveWorker<'a> {
    fn begin(shared: &'a PoolShared, first_task: Option<TaskId>) -> Self {
        let mut state = shared.state.lock();
        state.starting -= 1;
        state.live += 1;
        state.backoff.reset();
        state.peak = state.peak.max(state.live);
        let (number, worker_slot) = state.worker_slots.assign();
        shared.started.notify_all();
        let role = Some(work_for(shared.registration.id(), Arc::clone(&worker_slot) as Arc<dyn PoolWorker>));
        Self { shared, number, worker_slot, batch: None, fresh: true, first_task, left: false, role }
    }

    // ANCHOR: run_task
    #[inline]
    fn run_task(&self, task: Task) {
        self.shared.run_task(task, |outcome| {
            if let Outcome::Completed = outcome {
                self.worker_slot.complete();
            } else {
                let mut state = self.shared.state.lock(); // so that all counts change in one step
                state.failures.count(outcome);
                self.worker_slot.complete();
            }
        });
    }
    // ANCHOR_END: run_task

    // ANCHOR: next_task
    /// Waits for the next task. Returns `None` if the worker has left.
    #[inline]
    fn next_task(&mut self) -> Option<Task> {
        if let Some(batch) = &self.batch {
            if let Some(task) = self.claim(batch) {
                return Some(task);
            }
            self.batch = None;
        }
        self.look_for_task()
    }

    /// Takes a task out of the batch, without the lock of the state.
    #[inline]
    fn claim(&self, batch: &Batch) -> Option<Task> {
        loop {
            let task = batch.claim()?;
            let was_cancelled = self.shared.tombstones.has_left(&task);
            if !was_cancelled {
                self.worker_slot.begin(task.label());
            }
            self.worker_slot.note_claim();
            if self.shared.submitter_waits.load(Ordering::SeqCst) {
                self.shared.wake_submitter(&self.shared.state.lock());
            }
            if !was_cancelled {
                return Some(task);
            }
            self.shared.drop_cancelled([task]);
        }
    }

    /// Looks for a task again and again, and sleeps in between, until the worker has found a task or leaves.
    /// `decide` chooses each step.
    fn look_for_task(&mut self) -> Option<Task> {
        let mut search = self.begin_search(); // declared first, so dropped last: after the lock is released
        let mut state = self.shared.state.lock();
        loop {
            match self.decide(&mut state, &mut search) {
                Next::Start(task) => {
                    self.worker_slot.begin(task.label());
                    self.shared.wake_worker(&mut state, 0); // the next worker, if there is another task
                    return Some(task);
                }
                Next::Claim(batch) => {
                    self.shared.wake_worker(&mut state, 1);
                    drop(state);
                    if let Some(task) = self.claim(&batch) {
                        self.batch = Some(batch);
                        return Some(task);
                    }
                    state = self.shared.state.lock(); // other workers have claimed all tasks
                }
                Next::TidyUp => {
                    drop(state);
                    search.cancelled.clear();
                    self.shared.report_kept();
                    state = self.shared.state.lock();
                }
                Next::LookAgain => {}
                Next::GiveWay => state = self.linger(state),
                Next::Sleep => {
                    let idle_since = *search.idle_since.get_or_insert_with(Instant::now);
                    (state, search.is_idle_for_too_long) = self.sleep(state, idle_since);
                }
                Next::Leave => return self.leave(state),
            }
        }
    }

    /// Decides the next step. The worker takes its own first task before older first tasks. For each older
    /// first task, another thread was requested, or the submitter of that task takes it back.
    fn decide(&self, state: &mut PoolData, search: &mut Search<'_>) -> Next {
        let is_surplus = state.workers() > state.most_workers() && state.live > 1;
        if state.phase == PoolState::Stopping || is_surplus && !search.is_counted_on {
            return Next::Leave;
        }
        let own_task = search.own_task.take().and_then(|id| state.take_first_task(id));
        if let Some(found) = own_task.map(Next::Start).or_else(|| self.find(state, search)) {
            return found;
        }
        if !search.cancelled.tasks.is_empty() || panics::any_kept() && !search.has_tidied_up {
            search.has_tidied_up = true; // otherwise a queue that always panics keeps this thread busy
            return Next::TidyUp; // and look again: perhaps a queue that has panicked gives a task now
        }
        search.has_tidied_up = false;
        if state.phase != PoolState::Running || search.is_idle_for_too_long || is_surplus {
            if self.shared.inbox.close(state) {
                search.is_idle_for_too_long = false;
                return Next::LookAgain; // a task has come since the last look, perhaps for this worker
            }
            return Next::Leave;
        }
        search.is_counted_on = true;
        if search.times_it_gave_way != PATIENCE && self.may_linger(state) {
            search.times_it_gave_way += 1;
            return Next::GiveWay;
        }
        Next::Sleep
    }
    // ANCHOR_END: next_task

    /// Finds a task or a batch for this worker. If submitters count on a worker, it takes tasks of the queue
    /// before first tasks: a hand-off queue has accepted its tasks because workers were idle, and for each
    /// first task a thread was requested.
    fn find(&self, state: &mut PoolData, search: &mut Search<'_>) -> Option<Next> {
        if !search.is_counted_on
            && let Some(task) = state.first_tasks.pop_front()
        {
            return Some(Next::Start(task));
        }
        let found = match self.shared.inbox.refill(state) {
            Some(batch) => Some(Next::Claim(Arc::clone(batch))),
            None => self.shared.take_queued(state, &mut search.cancelled).map(Next::Start),
        };
        found.or_else(|| state.first_tasks.pop_front().map(Next::Start))
    }

    fn begin_search(&mut self) -> Search<'a> {
        Search {
            own_task: self.first_task.take(),
            is_counted_on: std::mem::replace(&mut self.fresh, false),
            idle_since: None,
            is_idle_for_too_long: false,
            has_tidied_up: false,
            times_it_gave_way: 0,
            cancelled: CancelledTasks::of(self.shared),
        }
    }

    /// Returns whether the worker should yield and look again before it sleeps. Returns false if another
    /// worker is searching already. Also returns false if the queue is not a `FifoQueue`, because a hand-off
    /// queue accepts a task only while a worker sleeps.
    fn may_linger(&self, state: &PoolData) -> bool {
        !state.searching && self.shared.inbox.in_use()
    }

    /// Yields to other threads for a moment. While it yields, the worker counts as searching, so that
    /// submitters need not wake a worker.
    fn linger(&self, mut state: MutexGuard<'a, PoolData>) -> MutexGuard<'a, PoolData> {
        if self.shared.inbox.close(&state) {
            return state; // a task has come since the last look
        }
        state.searching = true;
        self.shared.inbox.open(&mut state);
        drop(state);
        thread::yield_now();
        let mut state = self.shared.state.lock();
        state.searching = false;
        state
    }

    // ANCHOR: sleep
    /// Sleeps until a thread wakes this worker, or until the worker has been idle for too long. The
    /// returned flag is true if the worker was idle for too long.
    fn sleep(
        &self,
        mut state: MutexGuard<'a, PoolData>,
        idle_since: Instant,
    ) -> (MutexGuard<'a, PoolData>, bool) {
        if self.shared.inbox.close(&state) {
            return (state, false); // a task has come since the last look
        }
        self.shrink(&mut state);
        let end = if state.may_time_out() { idle_since.checked_add(state.settings.keep_alive) } else { None };
        state.idle += 1;
        self.shared.wake_submitter(&state); // a hand-off queue has room while a worker is idle
        let timed_out;
        (state, timed_out) = match end {
            None => (self.shared.work.wait(state), false),
            Some(end) => self.shared.work.wait_until(state, &self.shared.state, end),
        };
        state.idle -= 1;
        state.searching = false;
        // The worker checks the condition again, because during the sleep the settings or the number of
        // workers may have changed.
        let timed_out = timed_out && state.may_time_out();
        (state, timed_out)
    }
    // ANCHOR_END: sleep

    /// Frees the memory that a burst of tasks needed.
    fn shrink(&self, state: &mut PoolData) {
        ask(|| state.queue.shrink());
        state.batches.shrink(KEPT);
        self.shared.inbox.shrink(KEPT);
    }

    /// Takes this worker out of the count of live workers. The worker has held the lock since it decided to
    /// leave, so no submitter has begun to count on this worker since then.
    ///
    /// A surplus worker may leave even if there are tasks. A surplus worker need not wake another worker for
    /// these tasks: the surplus worker was busy, so no submitter counts on it.
    fn leave(&mut self, mut state: MutexGuard<'a, PoolData>) -> Option<Task> {
        let asked = self.count_out(&mut state);
        self.shared.terminate_if_done(state);
        self.shared.tell_of_worker(asked);
        None
    }

    /// Subtracts this worker from the live workers. Returns true if the caller must notify the waiting
    /// threads.
    fn count_out(&mut self, state: &mut MutexGuard<'_, PoolData>) -> bool {
        self.left = true;
        self.role = None;
        self.shared.inbox.close(state);
        state.live -= 1;
        self.worker_slot.abandon(); // needed if the worker unwinds; any other worker has completed its task
        state.worker_slots.vacate(self.number);
        // Perhaps a user's own queue has refused a task while this worker slept. This worker leaves now, so
        // the submitter of that task can start a new worker.
        self.shared.wake_submitter(state);
        std::mem::take(&mut state.asked)
    }
}

impl Drop for LiveWorker<'_> {
    /// Subtracts the worker from the live workers if its thread unwinds, which would be a bug of this crate.
    /// If the last worker unwinds and tasks wait, another worker is requested.
    fn drop(&mut self) {
        if !self.left {
            let mut state = self.shared.state.lock();
            let asked = self.count_out(&mut state);
            self.shared.replace_last_worker(state);
            self.shared.tell_of_worker(asked);
        }
    }
}

impl PoolShared {
    /// Wakes a sleeping worker if no worker is searching, and if more tasks wait than the `taken_here` tasks
    /// that the caller takes itself.
    pub(super) fn wake_worker(&self, state: &mut PoolData, taken_here: usize) {
        if state.idle == 0 || state.searching {
            return;
        }
        self.inbox.close(state); // from now on no worker searches, unless one is woken here
        if self.to_be_taken(state) > taken_here {
            state.searching = true;
            self.work.notify_one();
        }
    }

    /// Returns the number of tasks that a worker can take, including cancelled tasks. If the queue is not a
    /// [`FifoQueue`](crate::FifoQueue), the result is at most 1, because the pool only asks this queue
    /// whether it is empty.
    pub(super) fn to_be_taken(&self, state: &PoolData) -> usize {
        let waiting = if self.inbox.in_use() {
            self.inbox.waiting(state)
        } else {
            usize::from(!ask(|| state.queue.is_empty()).unwrap_or(false))
        };
        state.first_tasks.len() + waiting
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::{ExecutorExt, ExecutorService, ThreadPoolExecutor};
    use std::time::Duration;

    /// For a test: makes a worker's thread unwind, although no code of the library does this.
    fn unwind(worker: LiveWorker<'_>) {
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _worker = worker;
            std::panic::resume_unwind(Box::new("a bug"));
        }));
        assert!(unwound.is_err());
    }

    #[test]
    fn a_worker_that_unwinds_is_counted_out_and_replaced_if_tasks_wait() {
        let pool = ThreadPoolExecutor::fixed(1);
        let shared = Arc::clone(&pool.shared);
        shared.state.lock().starting += 1;
        let mut worker = LiveWorker::begin(&shared, None);
        let handle = pool.submit(|| 7).unwrap(); // the task waits for the only worker
        let task = worker.next_task().unwrap();
        let next = pool.submit(|| 8).unwrap();
        unwind(worker);
        assert_eq!(next.join_timeout(Duration::from_secs(10)).unwrap(), 8);
        task.run();
        assert_eq!(handle.join().unwrap(), 7);
        pool.close();
        let stats = pool.stats();
        assert_eq!((stats.active, stats.completed, stats.threads), (0, 1, 0), "{stats}");
    }

    #[test]
    fn a_worker_that_unwinds_has_those_look_again_that_counted_on_it() {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let shared = Arc::clone(&pool.shared);
        shared.state.lock().starting += 1;
        let worker = LiveWorker::begin(&shared, None);
        let own = Arc::clone(&pool);
        let page = pool.submit(move || own.submit(|| 7).unwrap().join().unwrap()).unwrap();
        while !shared.state.lock().asked {
            thread::yield_now();
        }
        unwind(worker);
        let header = page.join_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(header, 7, "it has found that there may be another thread, and requested it");
        pool.close();
    }

    #[test]
    fn a_task_that_comes_after_the_last_worker_has_unwound_gets_another() {
        let pool = ThreadPoolExecutor::fixed(1);
        let shared = Arc::clone(&pool.shared);
        shared.state.lock().starting += 1;
        let mut worker = LiveWorker::begin(&shared, None);
        let handle = pool.submit(|| 7).unwrap(); // the task comes the long way and opens the inbox
        let task = worker.next_task().unwrap();
        unwind(worker);
        let next = pool.submit(|| 8).unwrap();
        assert_eq!(next.join_timeout(Duration::from_secs(10)).unwrap(), 8);
        task.run();
        assert_eq!(handle.join().unwrap(), 7);
        pool.close();
    }
}
