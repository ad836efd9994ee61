//! A pool of worker threads that take tasks from a queue.
//!
//! Starting a thread for each task costs time, and having as many threads as there happen to be tasks costs memory and,
//! in the end, the process. A pool starts a chosen number of threads once and lets tasks wait their turn.
//!
//! ```
//! use executor::{ThreadPoolExecutor, prelude::*};
//!
//! let pool = ThreadPoolExecutor::fixed(4);
//! let squares: Vec<_> = (1..=3).map(|n| pool.submit(move || n * n)).collect::<Result<_, _>>()?;
//! let sum: i32 = squares.into_iter().map(|square| square.join().unwrap()).sum();
//! assert_eq!(sum, 14);
//! pool.close();
//! # Ok::<(), executor::RejectedSubmit<i32>>(())
//! ```
//!
//! # States
//!
//! ```text
//!  Running ──shutdown()──▶ ShuttingDown ──queue empty, last worker gone──▶ Terminated
//!     │                        │ shutdown_now()                             ▲
//!     └────shutdown_now()──────┴─────▶ Stopping ─────last worker gone───────┘
//! ```
//!
//! A worker takes the next task, runs it, takes the next … and sleeps while there is none. It ends when the pool is
//! shutting down and the queue is empty, or when the pool is stopping. The last one to end terminates the pool.
//!
//! # Waking workers
//!
//! A wake-up costs a system call, so there are as few as possible. A submitter wakes a sleeping worker only if none is
//! on its way already (`searching`); a worker that has found a task wakes the next one if there are more tasks and more
//! sleepers. So a burst of submissions costs its submitter one wake-up, and the workers wake each other.
//!
//! # Invariants
//!
//! 1. Everything that changes together is in [`State`], behind one lock. `state.workers` counts threads that may still
//!    take a task.
//! 2. A task in the queue implies a worker, so nothing is stranded: a task whose worker could not be started does not
//!    stay in an unserved queue but goes back to its submitter.
//! 3. A task in the queue and a sleeping worker imply a worker that is searching, or a busy one that will look before
//!    it sleeps.
//! 4. Once the phase has left `Running`, the queue only shrinks.
//! 5. No user code (a task, a callback, the `Drop` of either) runs while the state is locked.
//! 6. A worker never ends because of a task: [`Task::run`] lets no panic out.
//!
//! # Left out, for now
//!
//! Sizes that change, keep-alive, bounded queues, saturation policies, hooks and thread factories. What stays is the
//! frame: they add rules for when a worker starts and ends, not new states.

mod stats;
mod worker;

pub use stats::{PoolState, PoolStats};

use std::collections::VecDeque;
use std::fmt;
use std::io;

use crate::cancel::{CancelToken, masked};
use crate::error::{Cancelled, RejectReason};
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::sync::{Arc, Condvar, Duration, Mutex, MutexGuard, ids, thread};
use crate::task::Task;
use crate::wait::Latch;

/// An executor with a fixed number of threads of its own and a queue.
///
/// Threads start one by one as tasks arrive and then stay. Tasks are taken in the order in which they were submitted. A
/// panic in a task costs no thread.
///
/// # Sharing and dropping
///
/// A pool is not `Clone`; share it in an [`Arc`](std::sync::Arc). Dropping it is [`close`](ExecutorService::close)
/// without a way to cut it short: it accepts nothing more and **blocks until every accepted task is done**. Two
/// exceptions avoid a deadlock and a lost panic: dropped by one of its own tasks, or while the thread unwinds, it shuts
/// down and does not wait.
pub struct ThreadPoolExecutor {
    shared: Arc<Shared>,
}

/// What the pool and its workers share.
struct Shared {
    state: Mutex<State>,
    /// There is a task to take, or the pool's state has changed.
    work: Condvar,
    terminated: Latch,
    /// Above the tokens of all the tasks that run here.
    root: CancelToken,
    core_size: usize,
    number: u64,
}

struct State {
    phase: PoolState,
    queue: VecDeque<Task>,
    workers: usize,
    largest: usize,
    started: u64,
    /// Workers that sleep or are about to be woken.
    idle: usize,
    /// A worker was woken and has not looked at the queue yet.
    searching: bool,
    active: usize,
    completed: u64,
    panicked: u64,
}

impl ThreadPoolExecutor {
    /// Makes a pool of `threads` threads with a queue **without a bound**: if tasks keep coming faster than they are
    /// done, the queue grows until memory is gone.
    ///
    /// No thread exists before the first task. Each of the first `threads` tasks starts one, even if others are idle. If
    /// the system gives no thread, the pool carries on with those it has and tries again with the next task; only
    /// without a single one is the task refused ([`RejectReason::NoThread`]).
    ///
    /// # Panics
    /// If `threads` is zero.
    #[doc(alias = "newFixedThreadPool")]
    pub fn fixed(threads: usize) -> Self {
        static POOLS: ids::AtomicU64 = ids::AtomicU64::new(1);
        assert!(threads > 0, "a pool of zero threads would accept tasks and never run them");
        let state = State {
            phase: PoolState::Running,
            queue: VecDeque::new(),
            workers: 0,
            largest: 0,
            started: 0,
            idle: 0,
            searching: false,
            active: 0,
            completed: 0,
            panicked: 0,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            terminated: Latch::new(1),
            root: CancelToken::new(),
            core_size: threads,
            number: POOLS.fetch_add(1, ids::Ordering::Relaxed),
        });
        Self { shared }
    }

    /// Makes a pool of one thread: tasks run one at a time, in the order in which they were submitted, and each sees
    /// what those before it did. The queue has no bound, as for [`fixed`](Self::fixed).
    ///
    /// A task that panics takes neither the thread nor the order with it.
    #[doc(alias = "newSingleThreadExecutor")]
    pub fn single() -> Self {
        Self::fixed(1)
    }

    /// What the pool is doing: one consistent look.
    pub fn stats(&self) -> PoolStats {
        let state = self.shared.state.lock();
        PoolStats {
            state: state.phase,
            core_pool_size: self.shared.core_size,
            pool_size: state.workers,
            largest_pool_size: state.largest,
            active: state.active,
            queued: state.queued(),
            completed: state.completed,
            panicked: state.panicked,
        }
    }

    /// How many tasks wait for a thread. Tasks that were cancelled while they waited do not count.
    #[doc(alias = "getQueue")]
    pub fn queued(&self) -> usize {
        self.shared.state.lock().queued()
    }

    /// Puts a task into the queue and sees to it that somebody takes it.
    fn enqueue(&self, state: &mut MutexGuard<'_, State>, task: Task) -> Result<(), RejectedExecution> {
        state.queue.push_back(task);
        if state.workers < self.shared.core_size {
            match self.start_worker(state) {
                Ok(()) => return Ok(()), // it looks into the queue first thing
                Err(error) if state.workers == 0 => {
                    let task = state.queue.pop_back().expect("pushed above, under the same lock");
                    return Err(RejectedExecution { reason: RejectReason::NoThread(error), task });
                }
                Err(_) => {} // those there are will have to do
            }
        }
        self.shared.wake_one(state);
        Ok(())
    }

    fn start_worker(&self, state: &mut MutexGuard<'_, State>) -> io::Result<()> {
        let name = format!("pool-{}-thread-{}", self.shared.number, state.started + 1);
        let shared = Arc::clone(&self.shared);
        thread::Builder::new().name(name).spawn(move || worker::run(&shared))?;
        state.started += 1;
        state.workers += 1;
        state.largest = state.largest.max(state.workers);
        Ok(())
    }

    /// Waits for the end without a way to be cancelled, unless waiting could only deadlock.
    fn wait_for_the_end(&self) {
        if !worker::is_own(&self.shared) {
            masked(|| self.shared.terminated.wait()).unwrap_or_else(|Cancelled| unreachable!("masked"));
        }
    }
}

impl Executor for ThreadPoolExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let mut state = self.shared.state.lock();
        if state.phase != PoolState::Running {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        self.enqueue(&mut state, task)
    }
}

impl ExecutorService for ThreadPoolExecutor {
    fn shutdown(&self) {
        let mut state = self.shared.state.lock();
        if state.phase == PoolState::Running {
            state.phase = PoolState::ShuttingDown;
            self.shared.work.notify_all();
            self.shared.terminate_if_done(state);
        }
    }

    fn shutdown_now(&self) -> Vec<Task> {
        let mut state = self.shared.state.lock();
        if state.phase < PoolState::Stopping {
            state.phase = PoolState::Stopping;
            self.shared.work.notify_all();
        }
        let queue = std::mem::take(&mut state.queue);
        self.shared.terminate_if_done(state);
        self.shared.root.cancel();
        queue.into_iter().filter(|task| !task.is_cancelled()).collect()
    }

    fn is_shutdown(&self) -> bool {
        self.shared.state.lock().phase > PoolState::Running
    }

    fn is_terminated(&self) -> bool {
        self.shared.state.lock().phase == PoolState::Terminated
    }

    fn await_termination(&self, timeout: Duration) -> bool {
        self.shared.terminated.wait_timeout(timeout).is_ok() || self.is_terminated()
    }

    fn close(&self) {
        self.shutdown();
        if !worker::is_own(&self.shared) && self.shared.terminated.wait().is_err() {
            drop(self.shutdown_now());
        }
        self.wait_for_the_end();
    }
}

impl Drop for ThreadPoolExecutor {
    fn drop(&mut self) {
        self.shutdown();
        if !thread::panicking() {
            self.wait_for_the_end();
        }
    }
}

impl fmt::Debug for ThreadPoolExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.stats(), f)
    }
}

impl State {
    fn queued(&self) -> usize {
        self.queue.iter().filter(|task| !task.is_cancelled()).count()
    }
}

impl Shared {
    /// Wakes a sleeping worker, unless there is none or one is on its way.
    fn wake_one(&self, state: &mut MutexGuard<'_, State>) {
        if state.idle > 0 && !state.searching {
            state.searching = true;
            self.work.notify_one();
        }
    }

    /// Moves on to `Terminated` if the pool was shut down and the last worker is gone.
    fn terminate_if_done(&self, mut state: MutexGuard<'_, State>) {
        let ending = matches!(state.phase, PoolState::ShuttingDown | PoolState::Stopping);
        if ending && state.workers == 0 {
            state.phase = PoolState::Terminated;
            drop(state);
            self.terminated.count_down();
        }
    }
}
