//! The end of a pool: the shutdown, the wait for the end, and the last steps.
//!
//! | | tasks that wait | tasks that run | workers leave |
//! |---|---|---|---|
//! | `shutdown` | are run | run on | when no task waits |
//! | `shutdown_now` | come back to the caller | are asked to stop | after their task |
//! | a cancel of the token to which the pool belongs | are dropped | are asked to stop | after their task |
//!
//! After a shutdown, the last thread ends the pool: under one lock, the thread finds that no other thread is
//! left, and changes the phase. Usually the last worker ends the pool. A submitter whose factory failed, or
//! the caller of `shutdown`, can also end a pool without workers. The thread that ends the pool then calls
//! the `terminated` hook, outside the lock, and wakes all threads that wait for the end.
//!
//! # A thread that the pool waits for must not wait for the pool
//!
//! A task, a hook or a thread factory that closes its own pool would wait for itself. So each thread notes,
//! as a [`Role`], which pools wait for the thread and why. If the pool waits for a thread, and this thread
//! asks to wait for the pool's end, the call returns at once. If the pool's thread factory submits a task
//! that would have to wait for the thread that the factory must start, the pool refuses the task.
//!
//! # Invariants
//!
//! 1. A pool ends only once: the thread that ends the pool moves the phase to `Tidying` before it releases
//!    the lock.
//! 2. When a pool ends, it has no worker, no first task, and no task that a thread is dropping. No task
//!    arrives later, because the shutdown closed the inbox and changed the phase under one lock.

use super::ThreadPoolExecutor;
use super::cancelled::CancelledTasks;
use super::queue::FifoQueue;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{Role, count_roles, enter_role, masked};
use crate::executor::{ExecutorService, PoolState};
use crate::panics::discard;
use crate::sync::{Duration, MutexGuard, thread};
use crate::task::Task;

/// How a pool ends when it is dropped.
///
/// ```
/// use executor::{DropPolicy, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Detach).build()?;
/// let answer = pool.submit(|| 6 * 7)?;
/// drop(pool); // does not wait
/// assert_eq!(answer.join()?, 42); // the task still runs
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DropPolicy {
    /// Refuses new tasks, and waits until all accepted tasks are done.
    #[default]
    Finish,
    /// Cancels the running tasks, drops the waiting tasks, and waits until the running tasks have ended.
    Cancel,
    /// Refuses new tasks, and does not wait. The accepted tasks still run, if the process lives long enough.
    Detach,
}

impl ExecutorService for ThreadPoolExecutor {
    fn shutdown(&self) {
        self.shared.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.shared.shutdown_now()
    }

    fn is_shutdown(&self) -> bool {
        self.shared.is_shutdown()
    }

    fn is_terminated(&self) -> bool {
        self.shared.is_terminated()
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.shared.await_termination(timeout)
    }

    fn close(&self) {
        self.shutdown();
        if !waits_for_this_thread(&self.shared) && self.shared.terminated.wait().is_err() {
            drop(self.shutdown_now());
        }
        self.wait_for_the_end();
    }
}

impl Drop for ThreadPoolExecutor {
    fn drop(&mut self) {
        match self.on_drop {
            DropPolicy::Finish | DropPolicy::Detach => self.shutdown(),
            DropPolicy::Cancel => drop(self.shutdown_now()),
        }
        if self.on_drop != DropPolicy::Detach && !thread::panicking() {
            self.wait_for_the_end();
        }
    }
}

impl ThreadPoolExecutor {
    /// Returns true if a wait for the pool's end would be a deadlock, because the pool waits for the calling
    /// thread.
    pub(crate) fn waits_for_this_thread(&self) -> bool {
        waits_for_this_thread(&self.shared)
    }

    /// Waits for the pool's end, and cannot be cancelled. Returns at once if the wait would be a deadlock.
    fn wait_for_the_end(&self) {
        if !waits_for_this_thread(&self.shared) {
            masked(|| self.shared.terminated.wait()).unwrap_or_else(|_| unreachable!("masked"));
        }
    }
}

impl PoolShared {
    pub(super) fn is_shutdown(&self) -> bool {
        self.state.lock().phase > PoolState::Running
    }

    pub(super) fn is_terminated(&self) -> bool {
        self.state.lock().phase == PoolState::Terminated
    }

    pub(super) fn await_termination(&self, timeout: Duration) -> bool {
        self.terminated.wait_timeout(timeout).is_ok() || self.is_terminated()
    }

    pub(super) fn shutdown(&self) {
        let mut state = self.state.lock();
        if state.phase == PoolState::Running {
            state.phase = PoolState::ShuttingDown;
            self.inbox.close(&state);
            self.announce_end(&state);
            self.terminate_if_done(state);
        }
    }

    pub(super) fn shutdown_now(&self) -> Vec<Task> {
        let mut cancelled = CancelledTasks::of(self);
        let mut state = self.state.lock();
        if state.phase < PoolState::Stopping {
            state.phase = PoolState::Stopping;
            self.inbox.close(&state);
            self.announce_end(&state);
        }
        self.inbox.reclaim(&mut state);
        let mut never_begun: Vec<Task> = state.first_tasks.drain(..).collect();
        // If the queue panics, the loop goes on. The loop ends when the queue has panicked as often as there
        // were tasks.
        let mut panics_left = state.unclaimed();
        loop {
            match ask(|| state.queue.pop()) {
                Some(Some(task)) if self.tombstones.has_left(&task) => cancelled.tasks.push(task),
                Some(Some(task)) => never_begun.push(task),
                None if panics_left > 0 => panics_left -= 1,
                Some(None) | None => break,
            }
        }
        self.terminate_if_done(state);
        drop(cancelled);
        self.report_kept();
        self.root.cancel_because(CancelReason::of(CancelKind::Shutdown));
        Task::hand_out(never_begun)
    }

    /// Wakes all threads that wait for the pool, so that they check the phase.
    fn announce_end(&self, state: &PoolData) {
        self.work.notify_all();
        self.started.notify_all();
        state.wake_all_submitters();
    }

    /// Ends the pool if it was shut down and its last worker has left.
    pub(super) fn terminate_if_done(&self, mut state: MutexGuard<'_, PoolData>) {
        let ending = matches!(state.phase, PoolState::ShuttingDown | PoolState::Stopping);
        if !ending || state.workers() > 0 || !state.first_tasks.is_empty() || state.dropping > 0 {
            return;
        }
        state.phase = PoolState::Tidying; // so that only one thread ends the pool
        // At this point, the queue still contains tasks only if it is a user's own queue. Dropping that queue
        // cancels its tasks.
        let queue = std::mem::replace(&mut state.queue, Box::new(FifoQueue::unbounded()));
        drop(state);
        discard(queue);
        let _closer = enter_role(Role::Closer(self.address()));
        self.tell_hooks(|hooks| hooks.terminated());
        self.state.lock().phase = PoolState::Terminated;
        self.terminated.count_down();
        let registration = self.owner_token.lock().take();
        drop(registration); // without the lock, and last: perhaps it waits for a cancel that is under way
    }
}

// ----- which pools wait for a thread -----

impl PoolShared {
    /// Returns the address that identifies the pool in a thread's roles.
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Returns whether this pool waits for the calling thread. If the pool waits for the thread, the thread must
/// not wait for the pool's end, because this would be a deadlock.
fn waits_for_this_thread(shared: &PoolShared) -> bool {
    let own = shared.address();
    count_roles(
        |role| matches!(role, Role::Worker(pool) | Role::Starter(pool) | Role::Closer(pool) if pool == own),
    ) > 0
}

/// Returns whether the calling thread is inside the thread factory of this pool.
pub(super) fn is_starting_a_worker(shared: &PoolShared) -> bool {
    count_roles(|role| role == Role::Starter(shared.address())) > 0
}

/// Returns whether the calling thread is a worker of this pool.
pub(super) fn is_worker(shared: &PoolShared) -> bool {
    count_roles(|role| role == Role::Worker(shared.address())) > 0
}
