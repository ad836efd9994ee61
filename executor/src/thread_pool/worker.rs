//! What a worker thread does: take a task, run it, take the next, until the pool has no more use for it.

use std::cell::Cell;

use super::{PoolState, Shared};
use crate::sync::{Arc, thread_local};
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
    let _exit = Exit(shared);
    POOL.with(|pool| pool.set(address(shared)));
    shared.root.attach(|| {
        while let Some(task) = shared.next_task() {
            task.run_then(|outcome| shared.task_ended(outcome));
        }
    });
}
// ANCHOR_END: worker

/// Takes the worker out of the count however its thread ends.
struct Exit<'a>(&'a Shared);

impl Drop for Exit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.workers -= 1;
        self.0.terminate_if_done(state);
    }
}

impl Shared {
    // ANCHOR: next_task
    /// Waits for a task. `None` means that the worker is to end.
    fn next_task(&self) -> Option<Task> {
        let mut state = self.state.lock();
        loop {
            if state.phase == PoolState::Stopping {
                return None;
            }
            if let Some(task) = state.queue.pop_front() {
                if task.is_cancelled() {
                    drop(state); // what is left of the task is the user's
                    drop(task);
                    state = self.state.lock();
                    continue;
                }
                state.active += 1;
                if !state.queue.is_empty() {
                    self.wake_one(&mut state);
                }
                return Some(task);
            }
            if state.phase == PoolState::ShuttingDown {
                return None;
            }
            state.idle += 1;
            state = self.work.wait(state);
            state.idle -= 1;
            state.searching = false;
        }
    }
    // ANCHOR_END: next_task

    /// Counts a task before its outcome is published, so that whoever has joined it finds it counted.
    fn task_ended(&self, outcome: &Outcome) {
        let mut state = self.state.lock();
        state.active -= 1;
        state.completed += 1;
        if matches!(outcome, Outcome::Panicked(_)) {
            state.panicked += 1;
        }
    }
}
