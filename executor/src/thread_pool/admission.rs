//! The way in: how a task gets a thread or a place in the queue, or is refused.

use std::io;

use super::PoolState;
use super::shared::Shared;
use super::state::{State, ask};
use super::worker;
use crate::error::{RejectReason, WaitError};
use crate::executor::RejectedExecution;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, MutexGuard, PATIENCE, thread};
use crate::task::Task;
use crate::wait::{Deadline, wait};

impl Shared {
    /// Accepts a task by the rules of the pool, or gives it back with the reason.
    #[inline] // all the way from `execute`: a task that is copied at each step costs more than the lock
    pub(super) fn admit(self: &Arc<Self>, task: Task) -> Result<(), RejectedExecution> {
        match self.inbox.offer(task, self.watch.id(), &self.apart.tombstones) {
            Ok(()) => Ok(()),
            Err(task) => self.decide(task),
        }
    }

    // ANCHOR: admit
    /// The long way in, for when there is something to decide.
    ///
    /// The order is: a thread below core size, a place in the queue, a thread below maximum size; or threads first and
    /// then the queue, if the builder was told so.
    fn decide(self: &Arc<Self>, mut task: Task) -> Result<(), RejectedExecution> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.state.lock();
        loop {
            if state.phase != PoolState::Running {
                return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
            }
            // A pool of core size zero needs a thread as well: without one nobody would look into its queue.
            let wants_a_thread = state.workers() < self.grows_to(&state);
            let can_do_without = state.live > 0 && !state.factory_rest.is_over();
            if wants_a_thread && !can_do_without || state.workers() == 0 {
                return self.start_worker(state, task);
            }
            if state.live == 0 {
                // All threads of the pool have been ordered and none has started. If none of them comes, a task in the
                // queue would be stranded, so wait the moment until that is known.
                if worker::is_starting_a_worker(self) {
                    drop(state); // it would wait for itself
                    return Err(RejectedExecution {
                        reason: RejectReason::NoThread(factory_submits()),
                        task,
                    });
                }
                state = self.started.wait(state);
                continue;
            }
            match self.offer(&mut state, task) {
                Ok(()) | Err(None) => {
                    drop(state);
                    self.report_kept();
                    return Ok(());
                }
                Err(Some(refused)) => task = refused,
            }
            if state.dead() > 0 {
                self.recall(&mut state);
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
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
    }
    // ANCHOR_END: admit

    /// Puts a task into the queue, if it may wait there, and sees to it that somebody takes it. A queue that panics gives
    /// nothing back: it has the task, or has dropped it by unwinding.
    pub(super) fn offer(&self, state: &mut MutexGuard<'_, State>, task: Task) -> Result<(), Option<Task>> {
        self.close_inbox(state);
        let id = task.id();
        let waiting = state.idle;
        // Before it is in the queue: the queue may drop it there and then.
        if !task.enter_queue(self.watch.id()) {
            self.apart.tombstones.fetch_add(1, Ordering::Relaxed); // it was cancelled before it could tell us
        }
        let offered = if !self.claims {
            ask(|| state.queue.push(task, waiting))
        } else if self.room(state) > 0 {
            self.inbox.lock().put(task);
            Some(Ok(()))
        } else {
            Some(Err(task))
        };
        let result = match offered {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => {
                state.leave_queue(&refused);
                return Err(Some(refused));
            }
            None if state.holds(id) => Err(None),
            None => return Err(None),
        };
        self.wake_one(state, 0);
        self.open_inbox(state);
        result
    }

    /// Lets the next task come the short way if there would be nothing to decide. The inbox is closed before.
    pub(super) fn open_inbox(&self, state: &mut State) {
        // Only threads that are there count: one that was ordered may not come.
        let has_its_threads = state.phase == PoolState::Running && state.live >= self.grows_to(state).max(1);
        let need_not_wake = state.idle == 0 || state.searching;
        if has_its_threads && need_not_wake && self.claims {
            let room = self.room(state);
            self.inbox.lock().open(room);
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
        let mut ticket = None;
        let mut looks = 0;
        let result = wait(deadline, |waker| {
            // Giving way is less work than falling asleep and being woken, and often lets more than one task in.
            while looks != PATIENCE {
                looks += 1;
                thread::yield_now();
                match self.admit(task.take()?) {
                    Ok(()) => return Some(Ok(())),
                    Err(refused) => task = Some(refused.task),
                }
            }
            if ticket.is_none() {
                // First the waker and then the look, so that room made in between is not missed.
                ticket = Some(self.state.lock().queue_submitter(waker.clone()));
            }
            self.apart.submitter_waits.store(true, Ordering::SeqCst); // before it looks
            match self.admit(task.take()?) {
                Ok(()) => Some(Ok(())),
                Err(RejectedExecution { reason: RejectReason::Saturated, task: back }) => {
                    task = Some(back);
                    None
                }
                Err(refused) => Some(Err(refused)),
            }
        });
        if let Some(ticket) = ticket {
            self.state.lock().unqueue_submitter(ticket);
        }
        result.unwrap_or_else(|why| {
            let reason = match why {
                WaitError::TimedOut => RejectReason::TimedOut,
                WaitError::Interrupted => RejectReason::Interrupted,
            };
            let task = task.take().expect("an unfinished wait has put it back");
            Err(RejectedExecution { reason, task })
        })
    }

    /// Wakes a sleeping worker if there is more to take than the caller takes itself, unless one is on its way or still
    /// looks.
    pub(super) fn wake_one(&self, state: &mut MutexGuard<'_, State>, taken_here: usize) {
        if state.idle == 0 || state.searching {
            return;
        }
        self.close_inbox(state); // from now on nobody searches, unless it is the one that is woken here
        if self.to_be_taken(state) > taken_here {
            state.searching = true;
            self.work.notify_one();
        }
    }
}

/// What a thread factory is told that submits to its own pool while the pool has no other thread.
pub(super) fn factory_submits() -> io::Error {
    io::Error::other("the task was submitted by the thread factory that the pool waits for")
}
