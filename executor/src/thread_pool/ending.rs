//! The way out: shutting down, and the pool's last moment.

use super::PoolState;
use super::shared::Shared;
use super::state::{State, ask};
use super::worker::{self, Duty};
use crate::cancel::outside_any_task;
use crate::panics::discard;
use crate::queue::FifoQueue;
use crate::sync::MutexGuard;
use crate::task::Task;

impl Shared {
    pub(super) fn shutdown(&self) {
        let mut state = self.state.lock();
        if state.phase == PoolState::Running {
            state.phase = PoolState::ShuttingDown;
            self.close_inbox(&mut state);
            self.announce_end(&state);
            self.terminate_if_done(state);
        }
    }

    pub(super) fn shutdown_now(&self) -> Vec<Task> {
        let mut state = self.state.lock();
        if state.phase < PoolState::Stopping {
            state.phase = PoolState::Stopping;
            self.close_inbox(&mut state);
            self.announce_end(&state);
        }
        self.recall(&mut state);
        let mut never_begun: Vec<Task> = state.handed.drain(..).collect();
        let mut cancelled = Vec::new();
        // A queue that panics is asked again, as often as there are tasks that it may still have.
        let mut panics_left = state.length();
        loop {
            match ask(|| state.queue.pop()) {
                Some(Some(task)) if state.leave_queue(&task) => cancelled.push(task),
                Some(Some(task)) => never_begun.push(task),
                None if panics_left > 0 => panics_left -= 1,
                Some(None) | None => break,
            }
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
        if !ending || state.workers() > 0 || !state.handed.is_empty() || state.dropping > 0 {
            return;
        }
        state.phase = PoolState::Tidying; // so that this happens once
        // Only a user's own queue can still have tasks, if it would not give them out. They end as cancelled.
        let queue = std::mem::replace(&mut state.queue, Box::new(FifoQueue::unbounded()));
        drop(state);
        discard(queue);
        let _on_duty = worker::on_duty(self, Duty::End);
        outside_any_task(|| self.call_hook(|hooks| hooks.terminated())); // the thread may be in a task of another pool
        self.state.lock().phase = PoolState::Terminated;
        self.terminated.count_down();
    }
}
