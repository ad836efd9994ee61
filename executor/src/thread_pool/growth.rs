//! How workers come, and what happens if they do not.
//!
//! The thread factory is user code, so it is called without the lock. An ordered worker is counted at once, as *starting*,
//! and its task put aside for it in `handed`; in the end it either begins, as *live*, or is dropped. Whoever called the
//! factory takes the task back if the factory fails. A factory may also say that it has started a thread and drop the
//! worker later. Then no submitter takes the task back. When the last ordered worker is dropped, the tasks that wait in
//! `handed` are dropped, too.

use std::io;

use super::PoolState;
use super::factory::Worker;
use super::shared::Shared;
use super::state::State;
use super::worker::{self, Duty};
use crate::error::RejectReason;
use crate::executor::RejectedExecution;
use crate::panics::{contain, discard};
use crate::sync::{Arc, MutexGuard};
use crate::task::{Task, TaskId};

impl Shared {
    /// Starts a worker for a task.
    pub(super) fn start_worker(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        task: Task,
    ) -> Result<(), RejectedExecution> {
        let id = task.id();
        state.handed.push_back(task);
        let Err((error, mut state)) = self.order_worker(state, Some(id)) else { return Ok(()) };
        let Some(task) = state.take_handed(id) else {
            return Ok(()); // another worker has taken it meanwhile
        };
        // The factory failed. Use the workers that exist, or wait for those that other submitters have ordered.
        let may_wait = !worker::is_starting_a_worker(self);
        while may_wait && state.phase == PoolState::Running && state.live == 0 && state.starting > 0 {
            state = self.started.wait(state);
        }
        if state.phase == PoolState::Running && state.live > 0 {
            let offered = self.offer(&mut state, task);
            drop(state); // before the error is, which is the factory's, or its panic
            self.report_kept();
            return match offered {
                Ok(()) | Err(None) => Ok(()),
                Err(Some(task)) => Err(RejectedExecution { reason: RejectReason::NoThread(error), task }),
            };
        }
        self.see_to_stranded(state);
        Err(RejectedExecution { reason: RejectReason::NoThread(error), task })
    }

    /// Has the factory start a thread, outside the lock, for a task that was put aside or for none.
    ///
    /// After a failure the lock is held. The submitter takes its task back in the same step in which it stops to be
    /// counted in `ordering`; otherwise another thread could take that task for stranded.
    fn order_worker<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'_, State>,
        task: Option<TaskId>,
    ) -> Result<(), (io::Error, MutexGuard<'a, State>)> {
        state.starting += 1;
        state.ordering += 1;
        let factory = Arc::clone(&state.settings.factory);
        drop(state);
        self.report_kept();
        let shared = Arc::clone(self);
        let worker = Worker::new(move |comes| {
            if comes {
                worker::run(&shared, task);
            } else {
                shared.worker_does_not_come();
            }
        });
        let result = {
            let _on_duty = worker::on_duty(self, Duty::Start);
            contain(|| factory.start(worker))
        };
        let result = result.unwrap_or_else(|panic| {
            panic.set_origin(None, self.panic_handler.clone());
            Err(io::Error::other(panic))
        });
        discard(factory); // it may have been replaced meanwhile, so this may be its end
        let mut state = self.state.lock();
        state.ordering -= 1;
        match result {
            Ok(()) => {
                state.largest = state.largest.max(state.workers());
                self.see_to_stranded(state); // the factory may have dropped the worker already
                Ok(())
            }
            Err(error) => Err((error, state)),
        }
    }

    fn worker_does_not_come(&self) {
        let mut state = self.state.lock();
        self.close_inbox(&mut state); // the next submitter may have to start another
        state.starting -= 1;
        state.factory_rest.after_failure();
        self.started.notify_all();
        state.wake_submitter(); // another may be started in its place
        self.wake_one(&mut state, 0);
        self.see_to_stranded(state);
    }

    /// A submitter whose thread does not come usually takes its task back. A factory that said it had started a thread,
    /// and drops it later, leaves nobody to do that: drops the tasks that no thread will come for. The pool does not end
    /// before they are gone.
    fn see_to_stranded<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        let nobody_comes = state.workers() == 0 && state.ordering == 0;
        if nobody_comes && !state.handed.is_empty() {
            let stranded = std::mem::take(&mut state.handed);
            state.dropping += 1;
            drop(state);
            drop(stranded);
            state = self.state.lock();
            state.dropping -= 1;
        }
        self.terminate_if_done(state);
    }

    /// Orders another worker if the last one has left without a look and tasks wait. The inbox is closed.
    pub(super) fn replace_last_worker(&self, state: MutexGuard<'_, State>) {
        let tasks_wait = self.to_be_taken(&state) > 0;
        if let Some(shared) = self.me.upgrade()
            && (state.phase < PoolState::Stopping && state.workers() == 0 && tasks_wait)
        {
            if let Err((error, state)) = shared.order_worker(state, None) {
                shared.see_to_stranded(state);
                discard(error);
            }
        } else {
            self.see_to_stranded(state);
        }
    }

    /// Starts a worker that has no task yet, if there are fewer than core size. True if one was started.
    pub(super) fn prestart(self: &Arc<Self>) -> bool {
        let state = self.state.lock();
        if state.phase != PoolState::Running || state.workers() >= state.settings.core {
            return false;
        }
        match self.order_worker(state, None) {
            Ok(()) => true,
            Err((error, state)) => {
                self.see_to_stranded(state);
                discard(error);
                false
            }
        }
    }
}
