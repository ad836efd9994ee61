//! What a pool and its workers share, and what can be asked of it from outside.

use super::PoolState;
use super::hooks::Hooks;
use super::inbox::{Inbox, Tray};
use super::run::{Run, Slot};
use super::seat::Seat;
use super::state::{Apart, State, ask};
use super::stats::{PoolSnapshot, PoolStats};
use crate::cancel::CancelToken;
use crate::latch::Latch;
use crate::panics::{self, PanicHandler, contain};
use crate::queue::WorkQueue;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, Weak, thread};
use crate::task::{Outcome, QueueWatcher, Task, TaskId, TaskLabel, Watch};

/// For so many tasks, the memory is kept when they are done: a pool in its steady state asks for none.
const KEPT: usize = 4096;

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    /// Tasks that were accepted and are not in the state's queue yet.
    pub(super) inbox: Inbox,
    /// There is something for a worker to see to: a task, a changed size, the pool's end.
    pub(super) work: Condvar,
    /// A worker that was being started has begun, or will not come.
    pub(super) started: Condvar,
    pub(super) terminated: Latch,
    /// Above the tokens of all the tasks that run here.
    pub(super) root: CancelToken,
    pub(super) hooks: Option<Box<dyn Hooks>>,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
    pub(super) threads_first: bool,
    /// As in the state.
    pub(super) apart: Arc<Apart>,
    /// The queue is first in, first out, so that tasks may come through the inbox and be claimed from a run.
    pub(super) claims: bool,
    /// For the tasks in the queue, which tell this when they are cancelled.
    pub(super) watch: Watch,
    pub(super) me: Weak<Shared>,
}

impl Shared {
    /// The state, with all that waits in its queue, so that it can be seen and changed task by task.
    pub(super) fn lock_with_queue(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        self.recall(&mut state);
        state
    }

    /// Puts all that waits into the queue: first what is left of the run, last what is in the inbox.
    pub(super) fn recall(&self, state: &mut State) {
        state.recall(&mut self.inbox.lock());
    }

    /// Sees to it that there is a run to claim from, if anything waits that can be claimed.
    pub(super) fn refill<'a>(&self, state: &'a mut State) -> Option<&'a Arc<Run>> {
        if !self.claims {
            return None;
        }
        if state.runs.remaining() == 0
            && let Some(queue) = state.queue.as_fifo()
        {
            if queue.is_empty() {
                let mut inbox = self.inbox.lock();
                if inbox.len() > 0 {
                    state.runs.refill(|slots| inbox.empty_into(slots));
                }
            } else {
                state.runs.refill(|slots| slots.extend(queue.drain().map(Slot::new)));
            }
        }
        state.runs.current()
    }

    /// How many tasks there are for a worker to take, also such as were cancelled. With a user's own queue that is at
    /// most one, since such a queue is only asked whether it is empty.
    pub(super) fn to_be_taken(&self, state: &State) -> usize {
        let in_queue = if self.claims {
            self.length(state)
        } else {
            usize::from(!ask(|| state.queue.is_empty()).unwrap_or(false))
        };
        state.handed.len() + in_queue
    }

    /// How many tasks are in the queue, the run and the inbox. Nothing comes in while this looks, so that it was so at
    /// the moment in which it looked at the run.
    fn length(&self, state: &State) -> usize {
        let inbox = self.inbox.lock();
        inbox.len() + state.length()
    }

    /// How many more tasks a queue of ours takes.
    pub(super) fn room(&self, state: &mut State) -> usize {
        let inbox = self.inbox.lock();
        let elsewhere = inbox.len() + state.runs.remaining();
        state.queue.as_fifo().map_or(0, |queue| queue.room().saturating_sub(elsewhere))
    }

    /// Gives back the memory that a burst needed.
    pub(super) fn shrink(&self, state: &mut State) {
        ask(|| state.queue.shrink());
        state.runs.shrink(KEPT);
        self.inbox.lock().shrink(KEPT);
    }

    /// Makes submitters come to the state again. True if there are tasks in the queue, the run or the inbox.
    pub(super) fn close_inbox(&self, state: &mut State) -> bool {
        if !self.claims {
            return false;
        }
        let mut inbox = self.inbox.lock();
        inbox.close();
        inbox.len() + state.length() > 0
    }

    /// Runs a refused task on the calling thread. It is no task of the pool's, so no hook is called and nothing counted,
    /// but a panic in it that nobody reads is reported where the submitter expects it.
    pub(super) fn run_here(&self, task: Task) {
        let label = task.label();
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
            }
        });
    }

    /// Calls user code; a panic in it is reported and goes no further.
    pub(super) fn call_hook(&self, call: impl FnOnce(&dyn Hooks)) {
        if let Some(hooks) = &self.hooks
            && let Err(panic) = contain(|| call(&**hooks))
        {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Reports panics of the queue.
    pub(super) fn report_kept(&self) {
        for panic in panics::take_kept() {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    pub(super) fn stats(&self) -> PoolStats {
        let state = self.state.lock();
        let inbox = self.inbox.lock();
        let now = Self::stats_of(&state, &inbox);
        drop(inbox);
        drop(state);
        self.report_kept();
        now
    }

    /// The numbers of one moment: while both are locked and the run is frozen, no task is accepted and none begins.
    fn stats_of(state: &State, inbox: &Tray) -> PoolStats {
        let frozen = state.runs.freeze();
        // A worker that has claimed a task notes it at once and holds no lock that this thread wants meanwhile.
        while state.sum(Seat::noted) + state.claimed_otherwise < frozen.in_all {
            thread::yield_now();
        }
        let completed = state.sum(Seat::completed);
        let active = state.sum(Seat::begun) - completed;
        let queued = (inbox.len() + state.length_of(&frozen)).saturating_sub(state.dead());
        state.runs.thaw(&frozen);
        PoolStats {
            state: state.phase,
            core_threads: state.settings.core,
            maximum_threads: state.settings.maximum,
            threads: state.workers(),
            peak_threads: state.largest,
            active: usize::try_from(active).expect("no more than there are threads") + state.handed.len(),
            queued,
            completed,
            panicked: state.panicked,
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.stats().queued // what waits and what of it is cancelled are numbers of one moment, too
    }

    pub(super) fn is_shutdown(&self) -> bool {
        self.state.lock().phase > PoolState::Running
    }

    /// Takes the task that is next, for somebody who is no worker.
    pub(super) fn take_next_queued(&self) -> Option<Task> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.state.lock();
        let task = loop {
            let Some(run) = self.refill(&mut state) else { break state.take_queued(&mut cancelled) };
            let Some(task) = run.claim() else { continue };
            state.claimed_otherwise += 1;
            let was_cancelled = state.leave_queue(&task);
            state.wake_submitter();
            if !was_cancelled {
                break Some(task);
            }
            cancelled.push(task);
        };
        drop(state);
        drop(cancelled);
        self.report_kept();
        task
    }

    pub(super) fn remove(&self, id: TaskId) -> Option<Task> {
        let mut state = self.lock_with_queue();
        let removed = ask(|| state.queue.remove_if(&mut |task| task.id() == id));
        let Some(task) = removed.unwrap_or_default().pop() else {
            drop(state);
            self.report_kept();
            return None;
        };
        let was_cancelled = state.leave_queue(&task);
        state.wake_submitter();
        drop(state);
        (!was_cancelled).then_some(task)
    }

    pub(super) fn purge(&self) {
        let removed = self.lock_with_queue().purge();
        drop(removed);
        self.report_kept();
    }

    pub(super) fn snapshot(&self) -> PoolSnapshot {
        let mut state = self.state.lock();
        let mut inbox = self.inbox.lock();
        state.recall(&mut inbox);
        let mut queued = Vec::new();
        let mut look = |task: &Task| {
            if !task.is_cancelled() {
                queued.push(task.label().to_string());
            }
        };
        ask(|| state.queue.for_each(&mut look));
        let (now, mut running) = loop {
            let now = Self::stats_of(&state, &inbox);
            let running: Vec<_> = state.seats.iter().filter_map(|(_, seat)| seat.running()).collect();
            if state.sum(Seat::completed) == now.completed {
                break (now, running); // no task has ended meanwhile
            }
        };
        running.extend(state.handed.iter().map(Task::label));
        drop(inbox);
        drop(state);
        running.sort_by_key(TaskLabel::id); // tasks of one submitter in the order in which it made them
        let running = running.iter().map(ToString::to_string).collect();
        self.report_kept();
        PoolSnapshot { stats: now, running, queued }
    }
}

impl QueueWatcher for Shared {
    fn tombstone_dropped(&self) {
        self.apart.tombstones.fetch_sub(1, Ordering::Relaxed);
    }

    fn take_out(&self, id: TaskId) -> Option<Task> {
        self.remove(id)
    }

    fn cancelled_in_queue(&self) {
        let mut state = self.state.lock();
        self.apart.tombstones.fetch_add(1, Ordering::Relaxed);
        state.wake_submitter();
        // What is left of a cancelled task is small, but a queue that is never reached would keep it for ever. Clearing
        // up when half of the queue is dead costs each of them a constant share.
        let dead = state.dead();
        if dead >= 32 && dead * 2 >= self.length(&state) {
            self.recall(&mut state);
            let removed = state.purge();
            drop(state);
            drop(removed);
            self.report_kept();
        }
    }
}
