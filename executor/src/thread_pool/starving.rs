//! The pool's part in the search for tasks that wait for each other, and in the steps that let such tasks go
//! on.
//!
//! While the task of a worker waits for another task, the worker runs no other task. If all workers of a pool
//! wait for tasks that are in the pool's own queue, no worker can ever go on. The module `wait_graph`, the
//! deadlock detector, follows the waits from pool to pool, asks each pool whether its workers wait, and makes
//! the pool do what its [`OnStarvation`] says.
//!
//! | asked | by | the pool |
//! |---|---|---|
//! | whether all workers wait | a thread about to sleep | notes that the thread relies on it; closes the inbox |
//! | for another worker | a thread that would starve | starts a worker if there are fewer than the maximum |
//! | for a spare worker | a thread that would starve | starts a worker beyond the maximum, if allowed |
//! | to run a task | a starving thread, or `help` | runs it on that thread, with hooks and counts |
//!
//! # Invariants
//!
//! 1. If a waiting thread asks whether all workers of a pool wait, the pool may say yes, and the thread
//!    relies on this answer. Until that thread checks its wait again, the inbox is closed, and each new task
//!    makes the thread check its wait. When a worker leaves or fails to start, all threads that have asked
//!    must check their waits again.
//! 2. The pool has at most `maximum + spares` workers. After the pool has dismissed a spare worker, one
//!    worker leaves, because there are too many workers.

use super::ThreadPoolExecutor;
use super::ending::is_worker;
use super::rejection::Refuser;
use super::shared::PoolShared;
use super::state::PoolData;
use crate::executor::PoolState;
use crate::panics::PanicHandler;
use crate::sync::{Arc, MutexGuard};
use crate::task::Task;
use crate::wait_graph::{self, run_on_top};
use crate::waiting::queue_owner::PoolOwner;
use crate::waiting::starvation::OnStarvation;

/// The maximum number of tasks that calls of `help` can nest on top of the first task of a thread. A stack of
/// 2 MiB has room for a few hundred tasks.
const MOST_ON_TOP: usize = 100;

impl ThreadPoolExecutor {
    /// Runs the next task of the queue on the calling thread, a worker of this pool. Returns false if no
    /// task waits.
    ///
    /// A task that waits for other tasks of its own pool occupies a thread that could run these tasks. With
    /// `help`, the waiting task runs such tasks on its own thread, whatever the pool's [`OnStarvation`] is:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use executor::{LifoQueue, ThreadPoolExecutor, prelude::*};
    ///
    /// fn sum(pool: &Arc<ThreadPoolExecutor>, numbers: std::ops::Range<u64>) -> u64 {
    ///     let length = numbers.end - numbers.start;
    ///     if length <= 100 {
    ///         return numbers.sum();
    ///     }
    ///     let (middle, own) = (numbers.start + length / 2, Arc::clone(pool));
    ///     let left = pool.submit(move || sum(&own, numbers.start..middle)).expect("the pool accepts tasks");
    ///     let right = sum(pool, middle..numbers.end);
    ///     while !left.is_finished() && pool.help() {}
    ///     right + left.join().expect("it neither panics nor is cancelled")
    /// }
    ///
    /// let pool = Arc::new(ThreadPoolExecutor::builder().queue(LifoQueue::unbounded()).build()?); // 1 thread
    /// let own = Arc::clone(&pool);
    /// assert_eq!(pool.submit(move || sum(&own, 0..1000))?.join()?, 499_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Before each call, ask whether the task that you wait for has ended. Join the task when `help` returns
    /// false: from then on, the remaining tasks run on other threads, or wait for a thread.
    ///
    /// The queue decides which task runs next. A [`LifoQueue`](crate::LifoQueue) gives the task that was
    /// submitted last, often a part of the calling task. A [`FifoQueue`](crate::FifoQueue) gives the oldest
    /// task. With a `FifoQueue`, tasks that call `help` mostly run on top of each other, on one stack. If 100
    /// tasks already run on top of each other, `help` returns false.
    ///
    /// # What may go wrong
    /// The task that `help` runs may belong to another submitter, and runs on top of the calling task:
    ///
    /// * The task must not need a lock that the caller holds. If the task locks a mutex that the caller has
    ///   locked, the thread waits for itself.
    /// * If the task waits for the caller, neither of them can go on. If the task waits for the caller, the
    ///   library reports this wait as starvation.
    /// * The caller goes on only when the task has ended. The result for which the caller waits may be ready
    ///   long before the task ends.
    ///
    /// # Elsewhere
    /// On a thread that is not a worker of this pool, `help` does nothing and returns false. When a pool
    /// ends, it does not wait for threads that are not its workers.
    ///
    /// # Blocking
    /// The call returns when the task has ended. The task is counted as `helped` in
    /// [`PoolStats`](super::PoolStats). The pool's hooks are called around the task, and a panic in the task
    /// is reported as on any worker.
    ///
    /// # Cancellation
    /// A call of `help` does not end early if the calling task is cancelled. The parent of the task's token
    /// is the pool's root token, as on any worker, and not the caller's token.
    #[doc(alias = "helpQuiesce")]
    pub fn help(&self) -> bool {
        if !is_worker(&self.shared) {
            return false;
        }
        let Some(_on_top) = run_on_top(MOST_ON_TOP) else { return false };
        let Some(task) = PoolOwner::take_next(&*self.shared) else { return false };
        PoolOwner::help(&*self.shared, task);
        true
    }
}

impl PoolOwner for PoolShared {
    fn waits_for_threads(&self, waiting: usize) -> bool {
        let mut state = self.state.lock();
        state.asked = true;
        let all_wait = state.live > 0 && state.live == waiting;
        let is_held_up = all_wait && state.starting == 0;
        if is_held_up {
            state.relied_on = true;
            self.inbox.close(&state);
        }
        is_held_up
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
        self.inbox.reclaim(&mut state); // perhaps a worker that claims from the batch must leave
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
                state.failures.count(outcome);
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

impl PoolData {
    /// Returns whether another worker can be started now. Returns false for a while after the factory has
    /// failed, so that the waiting thread does not call the factory again and again.
    fn may_grow(&self) -> bool {
        let below_maximum = self.phase == PoolState::Running && self.workers() < self.settings.maximum;
        below_maximum && self.backoff.is_over()
    }
}

impl PoolShared {
    /// Releases the lock after a task was accepted. Waiting threads that relied on an empty queue must check
    /// their waits again.
    pub(super) fn tell_of_task(&self, mut state: MutexGuard<'_, PoolData>) {
        let relied_on = std::mem::take(&mut state.relied_on);
        drop(state);
        self.report_kept();
        if relied_on {
            self.tell_those_who_wait();
        }
    }

    /// If `asked` is true, makes the waiting threads check their waits again: the thread that asked may rely
    /// on a worker that has left or does not start.
    pub(super) fn tell_of_worker(&self, asked: bool) {
        if asked {
            self.tell_those_who_wait();
        }
    }

    fn tell_those_who_wait(&self) {
        wait_graph::look_again(self.registration.id());
    }
}
