//! Three short executors. Each of these executors has a simple policy, and faults that are easy to see.
//!
//! * [`DirectExecutor`]: the submitting thread runs the task itself. With this executor, a server that was
//!   written for a pool becomes single-threaded.
//! * [`ThreadPerTaskExecutor`]: a new thread for each task. The number of threads has no limit.
//! * [`MinimalPool`]: a queue and a few threads, which is the usual first attempt.
//!   [`ThreadPoolExecutor`](crate::ThreadPoolExecutor) repairs the faults of this attempt.

use std::collections::VecDeque;
use std::fmt;

use super::{Executor, RejectedExecution};
use crate::panics::UserCode;
use crate::sync::{Arc, Condvar, Mutex, thread};
use crate::task::Task;
use crate::waiting::error::RejectReason;

/// Runs each task at once, on the thread that submits it.
///
/// Use this executor in tests, or if the work must be done before the caller continues. As on any other
/// executor, a panic in the task is caught. The task's token is a child of the submitter's current token.
///
/// # Blocking
/// `execute` returns when the task has ended. If a task submits a second task, the second task runs inside
/// the first task, like a function that the first task calls. So the stack must have room for all nested
/// tasks. A [strand](crate::SerialExecutor) over this executor runs nested tasks one after the other instead.
///
/// ```
/// use executor::{DirectExecutor, prelude::*};
///
/// let here = std::thread::current().id();
/// let there = DirectExecutor.submit(|| std::thread::current().id())?.join()?;
/// assert_eq!(here, there);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectExecutor;

// ANCHOR: direct
impl Executor for DirectExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        task.run();
        Ok(())
    }
}
// ANCHOR_END: direct

/// Runs each task on a new thread. The name of the thread is the task's [id](Task::id): `task#17`.
///
/// Use this executor for a small number of long tasks. A thread takes time to start (some ten microseconds),
/// and takes memory until it ends. The system limits the number of threads. When this limit is reached,
/// `execute` returns the task in its error.
///
/// No thread waits for the threads of this executor: when `main` returns, these threads end in the middle of
/// their tasks. To wait for the tasks or to stop them, wrap this executor. A
/// [`BoundedExecutor`](crate::BoundedExecutor) as the wrapper also limits the number of threads; a
/// [`TrackingExecutor`](crate::TrackingExecutor) does not.
///
/// ```
/// use std::time::Duration;
/// use executor::{CancelToken, ThreadPerTaskExecutor, TrackingExecutor, prelude::*};
///
/// let threads = TrackingExecutor::over(ThreadPerTaskExecutor::new());
/// let nap = threads.submit(|| CancelToken::current().sleep(Duration::from_secs(3600)))?;
/// drop(threads.shutdown_now()); // cancels the tasks: each has begun, so none comes back
/// threads.close(); // waits until they have ended
/// assert!(threads.is_terminated() && nap.join()?.is_err());
/// assert!(threads.execute(|| ()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "newThreadPerTaskExecutor")]
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPerTaskExecutor;

impl ThreadPerTaskExecutor {
    /// Makes an executor, which has no state.
    ///
    /// ```
    /// use executor::{ThreadPerTaskExecutor, prelude::*};
    ///
    /// assert_eq!(ThreadPerTaskExecutor::new().submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self
    }
}

// ANCHOR: thread_per_task
impl Executor for ThreadPerTaskExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let name = format!("task{}", task.id());
        // If `spawn` fails, its closure is lost. So a slot outside the closure keeps the task.
        let slot = Arc::new(Mutex::new(Some(task)));
        let body = {
            let slot = Arc::clone(&slot);
            move || {
                let task = slot.lock().take();
                task.map(Task::run)
            }
        };
        match thread::Builder::new().name(name).spawn(body) {
            Ok(_detached) => Ok(()),
            Err(error) => {
                let task = slot.lock().take().expect("no thread exists that could have taken the task");
                Err(RejectedExecution { reason: RejectReason::NoThread(error), task })
            }
        }
    }
}
// ANCHOR_END: thread_per_task

/// The usual first attempt at a pool: a queue and `n` threads. This pool is for teaching only; do not use it
/// in programs.
///
/// The pool has three faults:
///
/// 1. **No life cycle.** A caller cannot end the pool or wait for its jobs. The pool's threads exist until
///    the process ends, and when `main` returns, the jobs in the queue are lost.
/// 2. **No bound.** If jobs arrive faster than the workers run them, the queue grows until the memory is used
///    up.
/// 3. **A job that panics kills its worker**, and the submitters do not notice. When the last worker has
///    died, the pool still accepts jobs but runs none.
///
/// The type does not implement [`Executor`], so that no program uses it by mistake. The tests in this file
/// show the faults.
///
/// ```
/// use executor::MinimalPool;
/// use std::sync::mpsc;
///
/// let pool = MinimalPool::new(2);
/// let (done, job_done) = mpsc::channel();
/// pool.execute(move || done.send(42).unwrap());
/// assert_eq!(job_done.recv()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MinimalPool(Arc<(Mutex<VecDeque<UserCode>>, Condvar)>);

// ANCHOR: minimal_pool
impl MinimalPool {
    /// Starts `threads` threads.
    ///
    /// # Panics
    /// Panics if the system cannot start another thread. The threads that were already started are leaked.
    pub fn new(threads: usize) -> Self {
        let pool = Self(Arc::new((Mutex::new(VecDeque::new()), Condvar::new())));
        for _ in 0..threads {
            let shared = Arc::clone(&pool.0);
            thread::spawn(move || {
                loop {
                    let job = next_job(&shared);
                    job();
                }
            });
        }
        pool
    }

    /// Puts a job into the queue.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let (queue, not_empty) = &*self.0;
        queue.lock().push_back(Box::new(job));
        not_empty.notify_one();
    }
}

fn next_job((queue, not_empty): &(Mutex<VecDeque<UserCode>>, Condvar)) -> UserCode {
    let mut jobs = queue.lock();
    loop {
        match jobs.pop_front() {
            Some(job) => return job,
            None => jobs = not_empty.wait(jobs),
        }
    }
}
// ANCHOR_END: minimal_pool

impl fmt::Debug for MinimalPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MinimalPool")
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::sync::Duration;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn the_minimal_pool_runs_jobs() {
        let pool = MinimalPool::new(2);
        let (done, jobs_done) = mpsc::channel();
        for n in 0..100 {
            let done = done.clone();
            pool.execute(move || done.send(n).unwrap());
        }
        let mut seen: Vec<i32> = (0..100).map(|_| jobs_done.recv_timeout(LONG).unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }

    // ANCHOR: minimal_pool_panic
    #[test]
    fn fault_a_panicking_job_kills_its_worker_and_the_pool_still_accepts_jobs() {
        let pool = MinimalPool::new(1);
        pool.execute(|| panic!("the only worker dies of this"));
        let (done, job_done) = mpsc::channel();
        pool.execute(move || done.send(()).unwrap());
        // No worker is left that could take the job out of the queue. So the job never runs, and the receiver
        // times out.
        assert_eq!(job_done.recv_timeout(SHORT), Err(mpsc::RecvTimeoutError::Timeout));
    }
    // ANCHOR_END: minimal_pool_panic

    #[test]
    fn fault_dropping_the_minimal_pool_leaves_its_threads_behind() {
        let pool = MinimalPool::new(1);
        let shared = Arc::downgrade(&pool.0);
        let (started, job_started) = mpsc::channel();
        pool.execute(move || started.send(()).unwrap());
        job_started.recv_timeout(LONG).unwrap();
        drop(pool);
        assert!(
            shared.upgrade().is_some(),
            "a worker still holds the queue, and will until the process ends"
        );
    }

    #[test]
    fn fault_the_minimal_pool_has_no_bound() {
        let pool = MinimalPool::new(0); // stands for workers that are all busy
        for _ in 0..100_000 {
            pool.execute(|| ());
        }
        assert_eq!(pool.0.0.lock().len(), 100_000);
    }
}
