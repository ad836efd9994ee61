//! The admission of a task to the pool: the task gets a thread or a place in the queue, or is refused.
//!
//! Most tasks are admitted the short way: [`admit`](PoolShared::admit) leaves the task in the inbox. If the
//! inbox is closed, [`decide`](PoolShared::decide) takes the first rule that applies, under the lock of the
//! state:
//!
//! 1. The pool is shut down: the task is refused.
//! 2. There are fewer threads than the core size: a thread is started for the task.
//! 3. The queue has room, perhaps after tombstones were cleared out: the task waits, and a worker is woken.
//! 4. There are fewer threads than the maximum: a thread is started for the task.
//! 5. If no other rule applies, the pool refuses the task, and calls the rejection handler outside the lock.
//!
//! With `threads_first`, step 2 starts threads up to the maximum.
//!
//! # Invariants
//!
//! 1. A submitter decides to accept a task and puts the task into the pool under one lock: the lock of the
//!    state or, on the short way, the lock of the inbox. The inbox is open only while the pool can accept
//!    every task without a decision.
//! 2. While a task waits in the pool, the pool has a live worker. So no task is queued before the first
//!    worker has begun or after the last worker has left.
//! 3. A refused task returns to its submitter unchanged. Only a user's queue that panics can lose a task.

use std::io;

use super::ThreadPoolExecutor;
use super::cancelled::CancelledTasks;
use super::ending::is_starting_a_worker;
use super::failures::kind_of;
use super::hooks::TaskInfo;
use super::rejection::{Refuser, RefusingPool};
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::executor::{Executor, PoolState, RejectedExecution};
use crate::panics::discard;
use crate::sync::{Arc, Instant, MutexGuard};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::waiting::error::RejectReason;
use crate::waiting::wait::Deadline;

impl Executor for ThreadPoolExecutor {
    #[inline]
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.shared.admit(task).or_else(|refused| {
            self.shared.tell_of_refusal(&refused);
            let handler = self.rejection_handler();
            let result = handler.rejected(refused, &RefusingPool(&self.shared));
            discard(handler); // if it was replaced meanwhile, this drops it
            result
        })
    }
}

impl PoolShared {
    /// Accepts a task by the rules above, or gives the task back with the reason.
    #[inline] // its callers are inlined, too: to copy a task at each call takes longer than the lock
    fn admit(self: &Arc<Self>, task: Task) -> Result<(), RejectedExecution> {
        match self.inbox.try_push(task, |task| self.enter(task)) {
            Ok(()) => Ok(()),
            Err(task) if self.hooks.is_some() => self.admit_with_hooks(task),
            Err(task) => self.decide(task),
        }
    }

    fn admit_with_hooks(self: &Arc<Self>, mut task: Task) -> Result<(), RejectedExecution> {
        let label = task.label();
        if self.is_timed {
            task.given(Instant::now());
        }
        match self.inbox.try_push_with_hooks(task, |task| self.enter(task)) {
            Ok(()) => {}
            Err(task) => self.decide(task)?,
        }
        self.tell_hooks(|hooks| hooks.submitted(&TaskInfo::of(&label)));
        Ok(())
    }

    /// Records this pool in a task that is about to wait, so that a thread that cancels the task can notify
    /// the pool.
    #[inline]
    fn enter(&self, task: &Task) {
        if !task.enter_queue(self.registration.id()) {
            self.tombstones.made(); // the task was cancelled before this
            self.never_taken.cancelled(kind_of(&task.why_cancelled()));
        }
    }

    // ANCHOR: admit
    /// Decides about a task under the lock of the state: the long way into the pool.
    ///
    /// The task gets the first of these that is possible: a new thread below core size, a place in the queue,
    /// or a new thread below maximum size. With `threads_first`, a place in the queue is the last choice.
    fn decide(self: &Arc<Self>, mut task: Task) -> Result<(), RejectedExecution> {
        let mut cancelled = CancelledTasks::of(self); // declared first, so dropped last: after the lock is released
        let mut state = self.state.lock();
        loop {
            if state.phase != PoolState::Running {
                return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
            }
            // A pool of core size zero needs a thread, too: without a thread, no worker would take tasks from
            // the pool's queue.
            let wants_a_thread = state.workers() < state.settings.grows_to();
            let can_do_without = state.live > 0 && !state.backoff.is_over();
            if wants_a_thread && !can_do_without || state.workers() == 0 {
                return self.give_a_thread(state, task);
            }
            if state.live == 0 {
                // The pool has requested threads, but none of them has started yet. Perhaps no thread will
                // ever start and take a task from the queue. So the submitter waits until a thread has
                // started, or until it is certain that no thread will start.
                if is_starting_a_worker(self) {
                    drop(state); // this thread would wait for itself
                    return Err(RejectedExecution {
                        reason: RejectReason::NoThread(factory_submits()),
                        task,
                    });
                }
                state = self.started.wait(state);
                continue;
            }
            match self.enqueue(&mut state, task) {
                Ok(()) | Err(None) => {
                    self.tell_of_task(state);
                    return Ok(());
                }
                Err(Some(refused)) => task = refused,
            }
            if self.tombstones.count() > 0 {
                self.inbox.reclaim(&mut state);
                let removed = self.clear_out(&mut state);
                if !removed.is_empty() {
                    cancelled.tasks.extend(removed);
                    continue; // there is room now
                }
            }
            if state.workers() < state.settings.maximum {
                return self.give_a_thread(state, task);
            }
            drop(state);
            self.report_kept(); // a comparator may have panicked
            return Err(RejectedExecution { reason: RejectReason::Saturated, task });
        }
    }
    // ANCHOR_END: admit

    /// Puts a task into the queue if the queue accepts it, and makes sure that a worker takes it. The error
    /// is `None` if the queue has panicked and the task is lost.
    fn enqueue(&self, state: &mut MutexGuard<'_, PoolData>, task: Task) -> Result<(), Option<Task>> {
        self.inbox.close(state);
        let id = task.id();
        let idle = state.idle;
        self.enter(&task); // before the push, because the queue may drop the task at once
        let pushed = if !self.inbox.in_use() {
            let task = task.up_to_date();
            ask(|| state.queue.push(task, idle))
        } else if self.inbox.room(state) > 0 {
            self.inbox.push(task);
            Some(Ok(()))
        } else {
            Some(Err(task))
        };
        let result = match pushed {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => {
                if self.tombstones.has_left(&refused) {
                    self.never_taken.was_refused(kind_of(&refused.why_cancelled()));
                }
                return Err(Some(refused));
            }
            None if state.queue_has(id) => Err(None),
            None => return Err(None),
        };
        self.wake_worker(state, 0);
        self.inbox.open(state);
        result
    }

    /// Starts a worker for a task. If the factory fails, the existing workers get the task.
    fn give_a_thread(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, PoolData>,
        task: Task,
    ) -> Result<(), RejectedExecution> {
        let id = task.id();
        state.first_tasks.push_back(task);
        // The error comes from the user's factory, so dropping the error can run user code. The error is
        // declared before the guard of the lock, so that the error is dropped after the lock was released.
        let Err((error, mut state)) = self.order_worker(state, Some(id)) else { return Ok(()) };
        let Some(task) = state.take_first_task(id) else { return Ok(()) }; // another worker has taken it
        // The factory has failed, so the submitter uses the existing workers, or waits for the workers that
        // other submitters have requested.
        let may_wait = !is_starting_a_worker(self);
        while may_wait && state.phase == PoolState::Running && state.live == 0 && state.starting > 0 {
            state = self.started.wait(state);
        }
        if state.phase == PoolState::Running && state.live > 0 {
            let queued = self.enqueue(&mut state, task);
            self.tell_of_task(state); // releases the lock; the error is dropped after that
            return match queued {
                Ok(()) | Err(None) => Ok(()),
                Err(Some(task)) => Err(RejectedExecution { reason: RejectReason::NoThread(error), task }),
            };
        }
        self.see_to_stranded(state);
        Err(RejectedExecution { reason: RejectReason::NoThread(error), task })
    }
}

/// The error of a task that a pool's own thread factory submits while the pool has no other thread.
fn factory_submits() -> io::Error {
    io::Error::other("the task was submitted by the thread factory that the pool waits for")
}

impl Refuser for Arc<PoolShared> {
    fn is_shutdown(&self) -> bool {
        PoolShared::is_shutdown(self)
    }

    fn try_execute(&self, task: Task) -> Result<(), RejectedExecution> {
        self.admit(task)
    }

    fn execute_when_room(&self, task: Task, deadline: Deadline) -> Result<(), RejectedExecution> {
        self.admit_when_room(task, deadline, |task| self.admit(task))
    }

    /// Runs the task without hooks and counts, because the pool has not accepted it. A panic that no client
    /// reads is still reported to the pool's panic handler.
    fn run_here(&self, task: Task) {
        let label = task.label();
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
            }
        });
    }

    /// Takes the next task out, as a worker does, but records the claim without a worker slot.
    fn take_next(&self) -> Option<Task> {
        let mut cancelled = CancelledTasks::of(self); // declared first, so dropped last: after the lock is released
        let mut state = self.state.lock();
        let task = loop {
            let Some(batch) = self.inbox.refill(&mut state) else {
                break self.take_queued(&mut state, &mut cancelled);
            };
            let Some(task) = batch.claim() else { continue };
            state.worker_slots.note_claim_of_another();
            let was_cancelled = self.tombstones.has_left(&task);
            self.wake_submitter(&state);
            if !was_cancelled {
                break Some(task);
            }
            cancelled.tasks.push(task);
        };
        drop(state);
        drop(cancelled);
        self.report_kept();
        task
    }
}
