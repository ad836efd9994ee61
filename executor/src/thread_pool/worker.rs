//! What a worker thread does: take a task, run it, take the next, until the pool has no more use for it.

use std::cell::Cell;

use super::PoolState;
use super::hooks::TaskInfo;
use super::shared::Shared;
use super::state::{Seat, State};
use crate::panics;
use crate::sync::{Arc, Instant, MutexGuard, PATIENCE, thread, thread_local};
use crate::task::{Outcome, Task};

thread_local! {
    /// Which pool this thread works for: the address of what it shares with it, or zero.
    static POOL: Cell<usize> = Cell::new(0);
}

fn address(shared: &Arc<Shared>) -> usize {
    Arc::as_ptr(shared).addr()
}

/// Whether the calling thread is a worker of this pool.
pub(super) fn is_own(shared: &Arc<Shared>) -> bool {
    POOL.try_with(Cell::get).is_ok_and(|pool| pool == address(shared))
}

// ANCHOR: worker
/// The body of a worker thread.
pub(super) fn run(shared: &Arc<Shared>) {
    let worker = Worker::begin(shared);
    POOL.with(|pool| pool.set(address(shared)));
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
    left: Cell<bool>,
}

/// A task has ended in this way.
struct Ended {
    panicked: bool,
}

impl<'a> Worker<'a> {
    fn begin(shared: &'a Shared) -> Self {
        let mut state = shared.state.lock();
        state.starting -= 1;
        state.live += 1;
        state.largest = state.largest.max(state.live);
        let seat = state.take_seat();
        shared.started.notify_all();
        Self { shared, seat, left: Cell::new(false) }
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
        let mut reported = false;
        let mut lingered = 0;
        loop {
            let surplus = state.workers() > state.settings.maximum && state.live > 1;
            if state.phase == PoolState::Stopping || surplus {
                return self.leave(state);
            }
            if let Some(task) = self.shared.take(&mut state, &mut cancelled) {
                state.active += 1;
                state.seats[self.seat] = Seat::Running(task.label());
                self.shared.wake_one(&mut state); // the next one, if there is more to do
                return Some(task);
            }
            if state.phase != PoolState::Running || timed_out {
                return self.leave(state);
            }
            if !cancelled.is_empty() || panics::any_kept() && !reported {
                drop(state); // what is left of cancelled tasks, and panics of the queue, should not wait that long
                cancelled.clear();
                self.shared.report_kept();
                reported = true; // or a queue that always panics would keep this thread busy
                state = self.shared.state.lock();
                continue;
            }
            reported = false;
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
    /// It may leave although there is work, because there are too many. There is no wake-up to pass on then: whatever
    /// made it one too many has woken all who slept, and each of them looks for a task before it sleeps again.
    fn leave(&self, mut state: MutexGuard<'_, State>) -> Option<Task> {
        self.left.set(true);
        self.shared.close_inbox(&mut state);
        state.live -= 1;
        state.seats[self.seat] = Seat::Free;
        // A queue of ours had room while this worker slept. A user's own may refuse a task all the same; then the place of
        // this worker is the room that its submitter waits for.
        state.wake_submitter();
        self.shared.terminate_if_done(state);
        None
    }
}

impl Drop for Worker<'_> {
    /// For the case that this thread unwinds, which would be a bug of this crate: the count is right even then.
    fn drop(&mut self) {
        if !self.left.get() {
            let state = self.shared.state.lock();
            self.leave(state);
        }
    }
}
