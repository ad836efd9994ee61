//! Threads that wait for each other's tasks, as far as it is the pool's business.
//!
//! A worker whose task waits for another task is of no use to the pool until that one has ended. If that one
//! is in this pool's queue and all workers wait so, none of them ever is. The module `wait_graph` finds out;
//! it asks each pool that it comes to, and has it do what its [`OnStarvation`] says.
//!
//! | asked | by whom | the pool |
//! |---|---|---|
//! | whether only waiting workers are left | a thread that is about to sleep | notes that the answer was relied on, and closes the inbox |
//! | for another worker | a thread that would starve | starts one if there are fewer than the maximum |
//! | for a spare one | the same | starts one beyond the maximum, if allowed |
//! | to run a task | the same, or a task that calls `help` | runs it on the calling thread, with hooks and counts, below the pool's root token |
//!
//! # Invariants
//!
//! 1. While an answer is relied on, the inbox is closed, and a task that comes has the threads that wait look
//!    again. A worker that leaves and one that does not come have them do so whatever the answer was. If none
//!    has asked, none is told.
//! 2. There are `spares` more workers than the maximum at most. When a spare one is dismissed, a worker
//!    leaves as one that is one too many.

use super::ThreadPoolExecutor;
use super::ending::is_worker;
use super::rejection::Refuser;
use super::shared::PoolShared;
use super::state::PoolData;
use crate::executor::PoolState;
use crate::panics::PanicHandler;
use crate::sync::{Arc, MutexGuard};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::wait_graph::{self, run_on_top};
use crate::waiting::queue_owner::PoolOwner;
use crate::waiting::starvation::OnStarvation;

/// How many tasks may lie on top of the first by calls of `help`. A stack of 2 MiB has room for a few
/// hundred.
const MOST_ON_TOP: usize = 100;

impl ThreadPoolExecutor {
    /// Runs the next task of the queue on the calling thread, which must be a worker of this pool. False if
    /// there is none.
    ///
    /// A task that waits for other tasks of its own pool keeps a thread that could run them. With this it can
    /// use its thread meanwhile, whatever the pool's [`OnStarvation`] is:
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
    /// let pool = Arc::new(ThreadPoolExecutor::builder().queue(LifoQueue::unbounded()).build()?); // one thread
    /// let own = Arc::clone(&pool);
    /// assert_eq!(pool.submit(move || sum(&own, 0..1000))?.join()?, 499_500);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Ask before each call whether what you wait for has ended, and join when the answer is false: what is
    /// left then runs on other threads, or waits for one.
    ///
    /// Which task is the next is decided by the queue. A [`LifoQueue`](crate::LifoQueue) gives the one that
    /// was submitted last, often a part of the caller. A [`FifoQueue`](crate::FifoQueue) gives the oldest. If
    /// tasks submit tasks, most of them come to lie on top of each other then. At most 100 do; beyond that,
    /// this returns false.
    ///
    /// # What may go wrong
    /// The task may be a stranger's, and it runs on top of the calling task:
    ///
    /// * It must not need what the caller holds. If it locks a mutex that the caller has locked, the thread
    ///   waits for itself.
    /// * If it waits for the caller, neither of them can go on. That wait is reported as starvation.
    /// * The caller goes on when it has ended, however long it takes, even if what the caller waits for is
    ///   done long before.
    ///
    /// # Elsewhere
    /// On any other thread this does nothing and returns false: a thread that waits outside keeps none of the
    /// pool's, and the pool's end could not wait for a task that runs there.
    ///
    /// # Blocking
    /// Returns when the task has ended. The task is counted as `helped` in [`PoolStats`](super::PoolStats),
    /// with the pool's hooks around it, and a panic in it goes where it goes on any worker.
    ///
    /// # Cancellation
    /// No cancellation point. The task does not hang below the caller's token, but below the pool's, as on
    /// any worker.
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
        self.inbox.reclaim(&mut state); // a worker that claims task after task may be one too many now
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

impl PoolData {
    /// A factory that fails, or starts nothing, is not asked again at once: the thread that waits would ask
    /// it for ever.
    fn may_grow(&self) -> bool {
        let below_maximum = self.phase == PoolState::Running && self.workers() < self.settings.maximum;
        below_maximum && self.backoff.is_over()
    }
}

impl PoolShared {
    /// A task was accepted. If threads that wait have relied on there being none, they look again.
    pub(super) fn tell_of_task(&self, mut state: MutexGuard<'_, PoolData>) {
        let relied_on = std::mem::take(&mut state.relied_on);
        drop(state);
        self.report_kept();
        if relied_on {
            self.tell_those_who_wait();
        }
    }

    /// A worker has left or does not come, and threads that wait may have counted on it. If they `asked`,
    /// they look again.
    pub(super) fn tell_of_worker(&self, asked: bool) {
        if asked {
            self.tell_those_who_wait();
        }
    }

    fn tell_those_who_wait(&self) {
        wait_graph::look_again(self.registration.id());
    }
}
