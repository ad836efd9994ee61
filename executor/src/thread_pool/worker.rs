//! What a worker thread does: take a task, run it, take the next, until the pool has no more use for it.

use std::cell::Cell;

use super::PoolState;
use super::hooks::TaskInfo;
use super::shared::{Seat, Shared, State};
use crate::sync::{Arc, Instant, MutexGuard, thread_local};
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

/// The body of a worker thread.
pub(super) fn run(shared: &Arc<Shared>) {
    let worker = Worker::begin(shared);
    POOL.with(|pool| pool.set(address(shared)));
    shared.call_hook(|hooks| hooks.worker_started());
    shared.root.attach(|| {
        while let Some(task) = worker.next_task() {
            worker.run_task(task);
        }
    });
    shared.call_hook(|hooks| hooks.worker_ended());
}

/// One worker, counted from `begin` until `leave`.
struct Worker<'a> {
    shared: &'a Shared,
    /// Its place in `State::seats`.
    seat: usize,
    left: Cell<bool>,
}

impl<'a> Worker<'a> {
    fn begin(shared: &'a Shared) -> Self {
        let mut state = shared.state.lock();
        state.starting -= 1;
        state.live += 1;
        let seat = state.take_seat();
        shared.started.notify_all();
        Self { shared, seat, left: Cell::new(false) }
    }

    /// Waits for a task. `None` means that the worker has left the pool.
    fn next_task(&self) -> Option<Task> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.shared.state.lock();
        let mut idle_since = None;
        let mut timed_out = false;
        loop {
            let surplus = state.workers() > state.settings.maximum && state.live > 1;
            if state.phase == PoolState::Stopping || surplus {
                return self.leave(state);
            }
            let (task, dead) = state.take();
            cancelled.extend(dead);
            if let Some(task) = task {
                state.active += 1;
                state.seats[self.seat] = Seat::Running(task.label());
                self.shared.wake_one(&mut state); // the next one, if there is more to do
                return Some(task);
            }
            if state.phase != PoolState::Running || timed_out {
                return self.leave(state);
            }
            if !cancelled.is_empty() {
                drop(state); // what is left of cancelled tasks should not wait as long as this thread
                cancelled.clear();
                state = self.shared.state.lock();
                continue;
            }
            (state, timed_out) = self.sleep(state, *idle_since.get_or_insert_with(Instant::now));
        }
    }

    /// Sleeps until there is something to see to, or until the worker has been idle for too long.
    fn sleep(&self, mut state: MutexGuard<'a, State>, idle_since: Instant) -> (MutexGuard<'a, State>, bool) {
        let end = if state.may_time_out() { idle_since.checked_add(state.settings.keep_alive) } else { None };
        state.idle += 1;
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

    fn run_task(&self, task: Task) {
        let label = task.label();
        let info = TaskInfo { id: label.id(), name: label.name() };
        self.shared.call_hook(|hooks| hooks.before_execute(&info));
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.shared.panic_handler.clone());
            }
            self.shared.call_hook(|hooks| hooks.after_execute(&info, outcome));
            self.task_ended(outcome);
        });
    }

    /// Counts a task before its outcome is published, so that whoever has joined it finds it counted.
    fn task_ended(&self, outcome: &Outcome) {
        let mut state = self.shared.state.lock();
        state.active -= 1;
        state.completed += 1;
        state.panicked += u64::from(matches!(outcome, Outcome::Panicked(_)));
        state.seats[self.seat] = Seat::Idle;
    }

    /// Takes this worker out of the count, under the same lock under which it was decided that it goes: a task that is
    /// queued a moment later must not count on it.
    fn leave(&self, mut state: MutexGuard<'_, State>) -> Option<Task> {
        self.left.set(true);
        state.live -= 1;
        state.seats[self.seat] = Seat::Free;
        self.shared.wake_one(&mut state); // it may leave although there is work, because there are too many
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
