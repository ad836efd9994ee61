//! Threads that wait for each other's tasks, as far as it is the pool's business.
//!
//! A worker whose task waits for another task is of no use to the pool until that one has ended. If that one is in this
//! pool's queue and all workers wait so, none of them ever is. The module `wait_graph` finds out; it asks each pool that it
//! comes to, and has it do what its [`OnStarvation`] says.
//!
//! | asked | by whom | the pool |
//! |---|---|---|
//! | whether only waiting workers are left | a thread that is about to sleep | notes that the answer was relied on, and closes the inbox |
//! | for another worker | a thread that would starve | starts one if there are fewer than the maximum |
//! | for a spare one | the same | starts one beyond the maximum, if allowed |
//! | to run a task | the same | runs it on the calling thread, with hooks and counts, below the pool's root token |
//!
//! # Invariants
//!
//! 1. While an answer is relied on, the inbox is closed, and a task that comes has the threads that wait look again. A worker
//!    that leaves and one that does not come have them do so whatever the answer was. If none has asked, none is told.
//! 2. There are `spares` more workers than the maximum at most. When a spare one is dismissed, a worker leaves as one that is
//!    one too many.

use super::rejection::Refuser;
use super::shared::Shared;
use super::state::{PoolState, State, ask};
use crate::panics::PanicHandler;
use crate::starvation::OnStarvation;
use crate::sync::{Arc, MutexGuard};
use crate::task::{Outcome, Task};
use crate::wait_graph;
use crate::watcher::Workforce;

impl Workforce for Shared {
    fn waits_for_threads(&self, waiting: usize) -> bool {
        let mut state = self.state.lock();
        state.asked = true;
        let all_wait = state.live > 0 && state.live == waiting;
        let is_held_up = all_wait && state.starting == 0 && state.phase < PoolState::Stopping;
        if is_held_up {
            state.relied_on = true;
            self.inbox.close(&state);
        }
        is_held_up
    }

    fn has_room(&self) -> bool {
        let mut state = self.state.lock();
        if state.phase != PoolState::Running || self.tombstones() > 0 {
            return true;
        }
        if self.inbox.in_use() {
            return self.inbox.room(&mut state) > 0;
        }
        let queue = &state.queue;
        ask(|| queue.capacity().is_none_or(|capacity| queue.len() < capacity)).unwrap_or(true)
    }

    fn on_starvation(&self) -> OnStarvation {
        self.on_starvation
    }

    fn may_grow(&self) -> bool {
        self.state.lock().may_grow()
    }

    fn start_another(&self) -> bool {
        let state = self.state.lock();
        state.may_grow() && self.start_one(state)
    }

    fn start_spare(&self) -> bool {
        let OnStarvation::Spare { at_most } = self.on_starvation else { return false };
        let mut state = self.state.lock();
        if state.spares >= at_most || state.phase >= PoolState::Stopping || !state.backoff.is_over() {
            return false;
        }
        state.spares += 1;
        let comes = self.start_one(state);
        if !comes {
            self.state.lock().spares -= 1;
        }
        comes
    }

    fn dismiss_spare(&self) {
        let mut state = self.state.lock();
        state.spares -= 1;
        self.inbox.close(&state);
        self.inbox.recall(&mut state); // a worker that claims task after task may be one too many now
        self.work.notify_all();
    }

    fn take_next(&self) -> Option<Task> {
        Refuser::take_next(&self.me.upgrade()?)
    }

    fn help(&self, task: Task) {
        self.root.above_tasks(|| {
            self.run_task(task, |outcome| {
                let mut state = self.state.lock();
                state.helped += 1;
                state.panicked += u64::from(matches!(outcome, Outcome::Panicked(_)));
            });
        });
    }

    fn has_starved(&self) {
        self.state.lock().starved += 1;
    }

    fn panic_handler(&self) -> Option<Arc<dyn PanicHandler>> {
        self.panic_handler.clone()
    }
}

impl State {
    /// A factory that fails, or starts nothing, is not asked again at once: the thread that waits would ask it for ever.
    fn may_grow(&self) -> bool {
        let below_maximum = self.phase == PoolState::Running && self.workers() < self.settings.maximum;
        below_maximum && self.backoff.is_over()
    }
}

impl Shared {
    /// A task was accepted. If threads that wait have relied on there being none, they look again.
    pub(super) fn tell_of_task(&self, mut state: MutexGuard<'_, State>) {
        let relied_on = std::mem::take(&mut state.relied_on);
        drop(state);
        self.report_kept();
        if relied_on {
            self.tell_those_who_wait();
        }
    }

    /// A worker has left or does not come, and threads that wait may have counted on it. If they `asked`, they look again.
    pub(super) fn tell_of_worker(&self, asked: bool) {
        if asked {
            self.tell_those_who_wait();
        }
    }

    fn tell_those_who_wait(&self) {
        wait_graph::look_again(self.watch.id());
    }
}
