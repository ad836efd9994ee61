//! What a worker thread does: take a task, run it, take the next, until the pool has no more use for it.
//!
//! # How a worker leaves
//!
//! | because | it leaves |
//! |---|---|
//! | the pool is stopping | at once; what waits is handed back by `shutdown_now` |
//! | there are more workers than the maximum | after its task; if it was idle or has just begun, only if there is nothing to take |
//! | it was idle for the keep-alive time | only if there is nothing to take and the inbox is closed |
//! | the pool is shutting down | when there is nothing to take |
//! | it unwinds, which would be a bug of this crate | at once; another is started if it was the last and tasks wait |
//!
//! Others count on an idle worker: a submitter leaves a task in the inbox, or gives it to a hand-off queue, because this
//! worker sleeps or searches. Others count on a new one: a task was put aside for it. So neither leaves without a look.

use std::cell::RefCell;

use super::PoolState;
use super::hooks::TaskInfo;
use super::run::Run;
use super::seat::Seat;
use super::shared::Shared;
use super::state::{Rest, State};
use crate::panics;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Instant, MutexGuard, PATIENCE, thread, thread_local};
use crate::task::{Outcome, Task, TaskId};

thread_local! {
    /// The pools that cannot end before this thread returns, and what it does for each of them. More than one if a task
    /// of one pool runs the worker of another.
    static POOLS: RefCell<Vec<(usize, Duty)>> = RefCell::new(Vec::new());
}

/// What a pool waits for on a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    /// To run its tasks.
    Work,
    /// To start a worker: the thread is inside the pool's thread factory.
    Start,
    /// To call its last hook.
    End,
}

/// The thread has a duty for a pool until this is dropped. Duties end in the reverse order of their begin.
pub(super) struct OnDuty {
    noted: bool,
}

/// Notes that the calling thread has a duty for a pool.
pub(super) fn on_duty(shared: &Shared, duty: Duty) -> OnDuty {
    let entry = (std::ptr::from_ref(shared).addr(), duty);
    OnDuty { noted: POOLS.try_with(|pools| pools.borrow_mut().push(entry)).is_ok() }
}

impl Drop for OnDuty {
    fn drop(&mut self) {
        if self.noted {
            let _ = POOLS.try_with(|pools| pools.borrow_mut().pop());
        }
    }
}

/// Whether a wait for the end of this pool could only deadlock, because the pool waits for the calling thread.
pub(super) fn is_own(shared: &Shared) -> bool {
    has_duty(shared, |_| true)
}

/// Whether the calling thread is inside the thread factory of this pool.
pub(super) fn is_starting_a_worker(shared: &Shared) -> bool {
    has_duty(shared, |duty| duty == Duty::Start)
}

fn has_duty(shared: &Shared, wanted: impl Fn(Duty) -> bool) -> bool {
    let address = std::ptr::from_ref(shared).addr();
    let is_there = |pools: &RefCell<Vec<(usize, Duty)>>| {
        pools.borrow().iter().any(|&(pool, duty)| pool == address && wanted(duty))
    };
    POOLS.try_with(is_there).unwrap_or(false)
}

// ANCHOR: worker
/// The body of a worker thread. `ordered_for` is the task that was put aside for it.
pub(super) fn run(shared: &Arc<Shared>, ordered_for: Option<TaskId>) {
    let mut worker = Worker::begin(shared, ordered_for);
    let _on_duty = on_duty(shared, Duty::Work);
    shared.call_hook(|hooks| hooks.worker_started());
    shared.root.above_tasks(|| {
        while let Some(task) = worker.next_task() {
            worker.run_task(task);
        }
    });
    shared.report_kept();
    shared.call_hook(|hooks| hooks.worker_ended());
}
// ANCHOR_END: worker

/// What a worker has found.
enum Found {
    Task(Task),
    /// Something to claim, if others leave it any.
    Run(Arc<Run>),
}

/// One worker, counted from `begin` until `leave`.
struct Worker<'a> {
    shared: &'a Shared,
    /// Its place in `State::seats`.
    number: usize,
    seat: Arc<Seat>,
    /// The run it claims from, until that is used up.
    run: Option<Arc<Run>>,
    /// It has not looked for a task yet.
    fresh: bool,
    ordered_for: Option<TaskId>,
    left: bool,
}

impl<'a> Worker<'a> {
    fn begin(shared: &'a Shared, ordered_for: Option<TaskId>) -> Self {
        let mut state = shared.state.lock();
        state.starting -= 1;
        state.live += 1;
        state.factory_rest = Rest::default();
        state.largest = state.largest.max(state.live);
        let (number, seat) = state.take_seat();
        shared.started.notify_all();
        Self { shared, number, seat, run: None, fresh: true, ordered_for, left: false }
    }

    // ANCHOR: next_task
    /// Waits for the next task. `None` means that the worker has left.
    #[inline]
    fn next_task(&mut self) -> Option<Task> {
        if let Some(run) = &self.run {
            if let Some(task) = self.claim(run) {
                return Some(task);
            }
            self.run = None;
        }
        self.look_for_task()
    }

    /// Takes a task out of the run, without the lock of the state.
    #[inline]
    fn claim(&self, run: &Run) -> Option<Task> {
        loop {
            let task = run.claim()?;
            let was_cancelled = task.leave_queue();
            if was_cancelled {
                self.shared.apart.tombstones.fetch_sub(1, Ordering::Relaxed);
            } else {
                self.seat.begin(&task);
            }
            self.seat.note_claim();
            if self.shared.apart.submitter_waits.load(Ordering::SeqCst) {
                self.shared.state.lock().wake_submitter();
            }
            if !was_cancelled {
                return Some(task);
            }
        }
    }

    /// Finds a task, or a run to claim from, or sleeps until there is one.
    fn look_for_task(&mut self) -> Option<Task> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.shared.state.lock();
        let mut idle_since = None;
        let mut timed_out = false;
        // Its own task, and not the oldest one: that one's submitter may take it back because its thread does not come.
        let mut own = if self.fresh { self.ordered_for } else { None };
        let mut counted_on = std::mem::replace(&mut self.fresh, false);
        let mut reported = false;
        let mut lingered = 0;
        loop {
            let surplus = state.workers() > state.settings.maximum && state.live > 1;
            if state.phase == PoolState::Stopping || surplus && !counted_on {
                return self.leave(state);
            }
            let own_task = own.take().and_then(|id| state.take_handed(id));
            match own_task.map(Found::Task).or_else(|| self.find(&mut state, counted_on, &mut cancelled)) {
                Some(Found::Task(task)) => {
                    self.seat.begin(&task);
                    self.shared.wake_one(&mut state, 0); // the next one, if there is more to do
                    return Some(task);
                }
                Some(Found::Run(run)) => {
                    self.shared.wake_one(&mut state, 1);
                    drop(state);
                    let claimed = self.claim(&run);
                    self.run = Some(run);
                    if claimed.is_some() {
                        return claimed;
                    }
                    self.run = None; // the others were quicker
                    state = self.shared.state.lock();
                    continue;
                }
                None => {}
            }
            if !cancelled.is_empty() || panics::any_kept() && !reported {
                drop(state); // what is left of cancelled tasks, and panics of the queue, should not wait that long
                cancelled.clear();
                self.shared.report_kept();
                reported = true; // or a queue that always panics would keep this thread busy
                state = self.shared.state.lock();
                continue; // a queue that has panicked may give its task now
            }
            reported = false;
            if state.phase != PoolState::Running || timed_out || surplus {
                if self.shared.close_inbox(&mut state) {
                    timed_out = false;
                    continue; // a task has come since the worker looked, and may have counted on it
                }
                return self.leave(state);
            }
            counted_on = true;
            if lingered != PATIENCE && self.may_linger(&state) {
                lingered += 1;
                state = self.linger(state);
                continue;
            }
            (state, timed_out) = self.sleep(state, *idle_since.get_or_insert_with(Instant::now));
        }
    }
    // ANCHOR_END: next_task

    /// What there is for this worker. One that others count on takes what waits in the queue before what was put aside:
    /// what a hand-off queue has was given to the idle, and a task that was put aside has a thread of its own to come, or
    /// else a submitter that takes it back.
    fn find(&self, state: &mut State, counted_on: bool, cancelled: &mut Vec<Task>) -> Option<Found> {
        if !counted_on && let Some(task) = state.handed.pop_front() {
            return Some(Found::Task(task));
        }
        let waiting = match self.shared.refill(state) {
            Some(run) => Some(Found::Run(Arc::clone(run))),
            None => state.take_queued(cancelled).map(Found::Task),
        };
        waiting.or_else(|| state.handed.pop_front().map(Found::Task))
    }

    /// Whether it is of use to give way and look again before it sleeps. Not if another is looking, and not if tasks are
    /// accepted only by who sleeps.
    fn may_linger(&self, state: &State) -> bool {
        !state.searching && self.shared.claims
    }

    /// Gives way to the others for a moment and comes back, as the one that searches, so that nobody need be woken.
    fn linger(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if self.shared.close_inbox(&mut state) {
            return state; // a task has come since the worker looked
        }
        state.searching = true;
        self.shared.open_inbox(&mut state);
        drop(state);
        thread::yield_now();
        let mut state = self.shared.state.lock();
        state.searching = false;
        state
    }

    // ANCHOR: sleep
    /// Sleeps until there is something to see to, or until the worker has been idle for too long.
    fn sleep(&self, mut state: MutexGuard<'a, State>, idle_since: Instant) -> (MutexGuard<'a, State>, bool) {
        if self.shared.close_inbox(&mut state) {
            return (state, false); // a task has come since the worker looked
        }
        self.shared.shrink(&mut state);
        let end = if state.may_time_out() { idle_since.checked_add(state.settings.keep_alive) } else { None };
        state.idle += 1;
        state.wake_submitter(); // a hand-off has room when a worker is idle
        let timed_out;
        (state, timed_out) = match end {
            None => (self.shared.work.wait(state), false),
            Some(end) => self.shared.work.wait_until(state, &self.shared.state, end),
        };
        state.idle -= 1;
        state.searching = false;
        // Whether it may end is a question of now, not of when it fell asleep.
        let timed_out = timed_out && state.may_time_out();
        (state, timed_out)
    }
    // ANCHOR_END: sleep

    // ANCHOR: run_task
    /// Runs a task. It is counted before its outcome is published: who has joined a task finds it counted.
    #[inline]
    fn run_task(&self, task: Task) {
        let label = task.label();
        let info = TaskInfo { id: label.id(), name: label.name() };
        self.shared.call_hook(|hooks| hooks.before_execute(&info));
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.shared.panic_handler.clone());
            }
            self.shared.call_hook(|hooks| hooks.after_execute(&info, outcome));
            if let Outcome::Panicked(_) = outcome {
                let mut state = self.shared.state.lock(); // so that both counts change in one step
                state.panicked += 1;
                self.seat.complete();
            } else {
                self.seat.complete();
            }
        });
    }
    // ANCHOR_END: run_task

    /// Takes this worker out of the count, under the same lock under which it was decided that it goes: a task that is
    /// queued a moment later must not count on it.
    ///
    /// A worker that is one too many may leave although there is work. There is no wake-up to pass on then: it was busy,
    /// so nobody has woken it.
    fn leave(&mut self, mut state: MutexGuard<'a, State>) -> Option<Task> {
        self.count_out(&mut state);
        self.shared.terminate_if_done(state);
        None
    }

    fn count_out(&mut self, state: &mut MutexGuard<'_, State>) {
        self.left = true;
        self.shared.close_inbox(state);
        state.live -= 1;
        self.seat.abandon(); // if it unwinds; otherwise there is nothing to give up
        state.leave_seat(self.number);
        // A queue of ours had room while this worker slept. A user's own may refuse a task all the same; then the place of
        // this worker is the room that its submitter waits for.
        state.wake_submitter();
    }
}

impl Drop for Worker<'_> {
    /// For the case that this thread unwinds, which would be a bug of this crate: the count is right even then, and the
    /// tasks that counted on this worker get another.
    fn drop(&mut self) {
        if !self.left {
            let mut state = self.shared.state.lock();
            self.count_out(&mut state);
            self.shared.replace_last_worker(state);
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::{ExecutorExt, ExecutorService, ThreadPoolExecutor};
    use std::time::Duration;

    /// No call of the library can make a worker unwind, so the test does it by hand.
    #[test]
    fn a_worker_that_unwinds_is_counted_out_and_replaced_if_tasks_wait() {
        let pool = ThreadPoolExecutor::fixed(1);
        let shared = Arc::clone(&pool.shared);
        shared.state.lock().starting += 1;
        let mut worker = Worker::begin(&shared, None);
        let handle = pool.submit(|| 7).unwrap(); // it waits for the only worker
        let task = worker.next_task().unwrap();
        let next = pool.submit(|| 8).unwrap();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _worker = worker;
            std::panic::resume_unwind(Box::new("a bug"));
        }));
        assert!(unwound.is_err());
        assert_eq!(next.join_timeout(Duration::from_secs(10)).unwrap(), 8);
        task.run();
        assert_eq!(handle.join().unwrap(), 7);
        pool.close();
        let stats = pool.stats();
        assert_eq!((stats.active, stats.completed, stats.threads), (0, 1, 0), "{stats}");
    }

    #[test]
    fn a_task_that_comes_after_the_last_worker_has_unwound_gets_another() {
        let pool = ThreadPoolExecutor::fixed(1);
        let shared = Arc::clone(&pool.shared);
        shared.state.lock().starting += 1;
        let mut worker = Worker::begin(&shared, None);
        let handle = pool.submit(|| 7).unwrap(); // it comes the long way, and opens the inbox for the next
        let task = worker.next_task().unwrap();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _worker = worker;
            std::panic::resume_unwind(Box::new("a bug"));
        }));
        assert!(unwound.is_err());
        let next = pool.submit(|| 8).unwrap();
        assert_eq!(next.join_timeout(Duration::from_secs(10)).unwrap(), 8);
        task.run();
        assert_eq!(handle.join().unwrap(), 7);
        pool.close();
    }
}
