//! The way in: how a task gets a thread or a place in the queue, or is refused.

use std::task::Waker;

use super::PoolState;
use super::shared::Shared;
use super::state::{State, ask};
use crate::error::{RejectReason, WaitError};
use crate::executor::RejectedExecution;
use crate::sync::{Arc, MutexGuard, PATIENCE, thread};
use crate::task::Task;
use crate::wait::{Deadline, wait};

/// Why a task was not admitted, and the task.
pub(super) type Refused = (RejectReason, Task);

impl Shared {
    /// Accepts a task by the rules of the pool, or gives it back with the reason.
    #[inline] // all the way from `execute`: a task that is copied at each step costs more than the lock
    pub(super) fn admit(self: &Arc<Self>, task: Task) -> Result<(), Refused> {
        match self.inbox.offer(task, self) {
            Ok(()) => Ok(()),
            Err(task) => self.decide(task),
        }
    }

    // ANCHOR: admit
    /// The long way in, for when there is something to decide.
    ///
    /// The order is: a thread below core size, a place in the queue, a thread below maximum size; or threads first and
    /// then the queue, if the builder was told so.
    fn decide(self: &Arc<Self>, mut task: Task) -> Result<(), Refused> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.state.lock();
        loop {
            if state.phase != PoolState::Running {
                return Err((RejectReason::Shutdown, task));
            }
            // A pool of core size zero needs a thread as well: without one nobody would look into its queue.
            if state.workers() < self.grows_to(&state) || state.workers() == 0 {
                return self.start_worker(state, task);
            }
            if state.live == 0 {
                // Every thread there is to be is only ordered yet. If none of them comes, a task in the queue would be
                // stranded, so wait the moment until that is known.
                state = self.started.wait(state);
                continue;
            }
            match self.offer(&mut state, task) {
                Ok(()) => return Ok(()),
                Err(Some(refused)) => task = refused,
                Err(None) => {
                    drop(state);
                    self.report_kept();
                    return Ok(());
                }
            }
            if state.tombstones > 0 {
                let purged = state.purge();
                if !purged.is_empty() {
                    cancelled.extend(purged);
                    continue; // there is room now
                }
            }
            if state.workers() < state.settings.maximum {
                return self.start_worker(state, task);
            }
            drop(state);
            self.report_kept(); // a comparator may have panicked
            return Err((RejectReason::Saturated, task));
        }
    }
    // ANCHOR_END: admit

    /// Puts a task into the queue, if it may wait there, and sees to it that somebody takes it. A queue that panics gives
    /// nothing back: it has the task, or has dropped it by unwinding.
    pub(super) fn offer(&self, state: &mut MutexGuard<'_, State>, task: Task) -> Result<(), Option<Task>> {
        self.close_inbox(state);
        let (id, cell) = (task.id(), task.cell());
        let waiting = state.idle;
        let result = match ask(|| state.queue.offer(task, waiting)) {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => return Err(Some(refused)),
            None if state.holds(id) => Err(None),
            None => return Err(None),
        };
        if let Some(cell) = cell
            && let Some(watcher) = self.me.upgrade()
            && !cell.enter_queue(watcher)
        {
            state.tombstones += 1; // it was cancelled before it could tell us
        }
        self.wake_one(state);
        self.open_inbox(state);
        result
    }

    /// Lets the next task come the short way if there would be nothing to decide. The inbox is closed before.
    pub(super) fn open_inbox(&self, state: &mut State) {
        let has_its_threads = state.phase == PoolState::Running && state.live >= self.grows_to(state).max(1);
        let need_not_wake = state.idle == 0 || state.searching;
        if has_its_threads
            && need_not_wake
            && let Some(queue) = state.queue.as_fifo()
        {
            self.inbox.open(queue);
        }
    }

    /// The number of threads up to which each task gets a new one.
    fn grows_to(&self, state: &State) -> usize {
        if self.threads_first { state.settings.maximum } else { state.settings.core }
    }

    /// Admits a task as soon as there is room.
    pub(super) fn admit_when_room(
        self: &Arc<Self>,
        task: Task,
        deadline: Deadline,
    ) -> Result<(), RejectedExecution> {
        let mut task = Some(task);
        let mut me: Option<Waker> = None;
        let mut looks = 0;
        let result = wait(deadline, |waker| {
            // Giving way is less work than falling asleep and being woken, and often lets more than one task in.
            while looks != PATIENCE {
                looks += 1;
                thread::yield_now();
                match self.admit(task.take()?) {
                    Ok(()) => return Some(Ok(())),
                    Err((_, back)) => task = Some(back),
                }
            }
            if me.is_none() {
                // First the waker and then the look, so that room made in between is not missed.
                self.state.lock().submitters.push_back(waker.clone());
                me = Some(waker.clone());
            }
            match self.admit(task.take()?) {
                Ok(()) => Some(Ok(())),
                Err((RejectReason::Saturated, back)) => {
                    task = Some(back);
                    None
                }
                Err((reason, task)) => Some(Err(RejectedExecution { reason, task })),
            }
        });
        if let Some(me) = me {
            let mut state = self.state.lock();
            state.submitters.retain(|other| !other.will_wake(&me));
            state.wake_submitter(); // there may be room for the next one, or we had its wake-up
        }
        result.unwrap_or_else(|why| {
            let reason = match why {
                WaitError::TimedOut => RejectReason::TimedOut,
                WaitError::Cancelled => RejectReason::Interrupted,
            };
            let task = task.take().expect("an unfinished wait has put it back");
            Err(RejectedExecution { reason, task })
        })
    }

    /// Wakes a sleeping worker if there is something to take, unless one is on its way or still looks.
    pub(super) fn wake_one(&self, state: &mut MutexGuard<'_, State>) {
        let has_tasks =
            |state: &State| !state.handed.is_empty() || !ask(|| state.queue.is_empty()).unwrap_or(false);
        if state.idle == 0 || state.searching {
            return;
        }
        self.close_inbox(state); // from now on nobody searches, unless it is the one that is woken here
        if has_tasks(state) {
            state.searching = true;
            self.work.notify_one();
        }
    }
}
