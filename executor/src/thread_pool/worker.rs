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

use std::cell::{Cell, RefCell};

use super::PoolState;
use super::hooks::TaskInfo;
use super::shared::Shared;
use super::state::{Rest, Seat, State, ask};
use crate::panics;
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
    let worker = Worker::begin(shared, ordered_for);
    let _on_duty = on_duty(shared, Duty::Work);
    shared.call_hook(|hooks| hooks.worker_started());
    shared.root.above_tasks(|| {
        let mut ended = None;
        while let Some(task) = worker.next_task(ended.take()) {
            ended = worker.run_task(task);
        }
    });
    shared.report_kept();
    shared.call_hook(|hooks| hooks.worker_ended());
}
// ANCHOR_END: worker

/// One worker, counted from `begin` until `leave`.
struct Worker<'a> {
    shared: &'a Shared,
    /// Its place in `State::seats`.
    seat: usize,
    /// It has not looked for a task yet.
    fresh: Cell<bool>,
    ordered_for: Option<TaskId>,
    left: Cell<bool>,
}

/// A task has ended in this way.
struct Ended {
    panicked: bool,
}

impl<'a> Worker<'a> {
    fn begin(shared: &'a Shared, ordered_for: Option<TaskId>) -> Self {
        let mut state = shared.state.lock();
        state.starting -= 1;
        state.live += 1;
        state.factory_rest = Rest::default();
        state.largest = state.largest.max(state.live);
        let seat = state.take_seat();
        shared.started.notify_all();
        Self { shared, seat, fresh: Cell::new(true), ordered_for, left: Cell::new(false) }
    }

    // ANCHOR: next_task
    /// Counts the task before, if that is not done yet, and waits for the next. `None` means that the worker has left.
    #[inline]
    fn next_task(&self, ended: Option<Ended>) -> Option<Task> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.shared.state.lock();
        if let Some(ended) = ended {
            self.count(&mut state, &ended);
        }
        let mut idle_since = None;
        let mut timed_out = false;
        // Its own task, and not the oldest one: that one's submitter may take it back because its thread does not come.
        let mut own = if self.fresh.get() { self.ordered_for } else { None };
        let mut counted_on = self.fresh.replace(false);
        let mut reported = false;
        let mut lingered = 0;
        loop {
            let surplus = state.workers() > state.settings.maximum && state.live > 1;
            if state.phase == PoolState::Stopping || surplus && !counted_on {
                return self.leave(state);
            }
            let mut task = own.take().and_then(|id| state.take_handed(id));
            if task.is_none() && counted_on {
                // What a hand-off queue has was given to the idle. A task that was put aside has a thread of its own to
                // come, or else a submitter that takes it back.
                task = state.take_queued(&mut cancelled);
            }
            if let Some(task) = task.or_else(|| self.shared.take(&mut state, &mut cancelled)) {
                state.active += 1;
                state.seats[self.seat] = Seat::Running(task.label());
                self.shared.wake_one(&mut state); // the next one, if there is more to do
                return Some(task);
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
            if lingered != PATIENCE && Self::may_linger(&mut state) {
                lingered += 1;
                state = self.linger(state);
                continue;
            }
            (state, timed_out) = self.sleep(state, *idle_since.get_or_insert_with(Instant::now));
        }
    }
    // ANCHOR_END: next_task

    /// Whether it is of use to give way and look again before it sleeps. Not if another is looking, and not if tasks are
    /// accepted only by who sleeps.
    fn may_linger(state: &mut State) -> bool {
        !state.searching && state.queue.as_fifo().is_some()
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
        ask(|| state.queue.shrink());
        self.shared.inbox.shrink();
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
    /// Runs a task. What comes back is still to be counted.
    #[inline]
    fn run_task(&self, task: Task) -> Option<Ended> {
        let label = task.label();
        let info = TaskInfo { id: label.id(), name: label.name() };
        let mut uncounted = None;
        // Whoever has joined a task must find it counted, so that comes before its outcome is published. Nobody can
        // join a task without a handle: it is counted when the lock is taken for the next one.
        let count_at_once = task.has_handle();
        self.shared.call_hook(|hooks| hooks.before_execute(&info));
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.shared.panic_handler.clone());
            }
            self.shared.call_hook(|hooks| hooks.after_execute(&info, outcome));
            let ended = Ended { panicked: matches!(outcome, Outcome::Panicked(_)) };
            if count_at_once {
                self.count(&mut self.shared.state.lock(), &ended);
            } else {
                uncounted = Some(ended);
            }
        });
        uncounted
    }
    // ANCHOR_END: run_task

    fn count(&self, state: &mut MutexGuard<'_, State>, ended: &Ended) {
        state.active -= 1;
        state.completed += 1;
        state.panicked += u64::from(ended.panicked);
        state.seats[self.seat] = Seat::Idle;
    }

    /// Takes this worker out of the count, under the same lock under which it was decided that it goes: a task that is
    /// queued a moment later must not count on it.
    ///
    /// A worker that is one too many may leave although there is work. There is no wake-up to pass on then: it was busy,
    /// so nobody has woken it.
    fn leave(&self, mut state: MutexGuard<'_, State>) -> Option<Task> {
        self.count_out(&mut state);
        self.shared.terminate_if_done(state);
        None
    }

    fn count_out(&self, state: &mut MutexGuard<'_, State>) {
        self.left.set(true);
        self.shared.close_inbox(state);
        state.live -= 1;
        if let Seat::Running(_) = std::mem::replace(&mut state.seats[self.seat], Seat::Free) {
            state.active -= 1; // it unwinds
        }
        // A queue of ours had room while this worker slept. A user's own may refuse a task all the same; then the place of
        // this worker is the room that its submitter waits for.
        state.wake_submitter();
    }
}

impl Drop for Worker<'_> {
    /// For the case that this thread unwinds, which would be a bug of this crate: the count is right even then, and the
    /// tasks that counted on this worker get another.
    fn drop(&mut self) {
        if !self.left.get() {
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
        let worker = Worker::begin(&shared, None);
        let handle = pool.submit(|| 7).unwrap(); // it waits for the only worker
        let task = worker.next_task(None).unwrap();
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
}
