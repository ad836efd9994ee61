//! Three executors that fit on a page, each with a policy that is easy to state and easy to find fault with.
//!
//! * [`DirectExecutor`]: the submitting thread runs the task. No concurrency at all; plugged into a server written for
//!   a pool it gives the single-threaded server back.
//! * [`ThreadPerTaskExecutor`]: a new thread for each task. As responsive as it gets, and without any limit.
//! * [`MinimalPool`]: a queue and a few threads. What most people write first; its faults are the reasons for
//!   [`ThreadPoolExecutor`](crate::ThreadPoolExecutor).

use std::collections::VecDeque;

use super::{Executor, RejectedExecution};
use crate::sync::{Arc, Condvar, Mutex, thread};
use crate::task::Task;
use crate::waiting::error::RejectReason;

/// Runs each task at once, on the thread that submits it.
///
/// For tests, and for callers that want the work done before they go on. A panic in the task is caught as on any other
/// executor. While it runs, the task's current token is a child of the submitter's.
///
/// # Blocking
/// `execute` returns when the task has ended. A task that submits another one has it run on top of itself, as a function
/// calls a function: the stack has to bear as many as there are inside each other. A [strand](crate::SerialExecutor)
/// over this executor runs such tasks one after the other instead.
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

/// Runs each task on a new thread of its own, which is named after the task's [id](Task::id): `task#17`.
///
/// For few, long tasks. A thread costs time to start (some ten microseconds) and memory while it lives, and the system
/// allows only so many; at that limit `execute` fails and gives the task back, and the program goes on.
///
/// Nobody waits for these threads: when `main` returns, they are gone in the middle of whatever they do.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPerTaskExecutor;

impl ThreadPerTaskExecutor {
    /// Makes one. It has no state.
    pub fn new() -> Self {
        Self
    }
}

// ANCHOR: thread_per_task
impl Executor for ThreadPerTaskExecutor {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let name = format!("task{}", task.id());
        // A closure given to `spawn` is lost if `spawn` fails, so the task waits beside it.
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
                let task = slot.lock().take().expect("the thread that would have taken it does not exist");
                Err(RejectedExecution { reason: RejectReason::NoThread(error), task })
            }
        }
    }
}
// ANCHOR_END: thread_per_task

/// The pool that everybody writes first: a queue and `n` threads. Kept as a stepping stone; do not use it.
///
/// It works until something goes wrong, and then:
///
/// 1. **No lifecycle.** Nobody can end it or wait for it. Its threads sleep for as long as the process lives, and when
///    `main` returns, what is in the queue is lost.
/// 2. **No bound.** If tasks come faster than they are done, the queue grows until memory is gone.
/// 3. **A panicking task kills a worker**, and nobody notices: the others carry on, until the last one is gone. From
///    then on the pool accepts tasks and runs none.
///
/// It is not an [`Executor`] on purpose: nobody should plug it in. Each fault is shown by a test below.
#[derive(Debug)]
pub struct MinimalPool(Arc<(Mutex<VecDeque<Job>>, Condvar)>);

struct Job(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Job")
    }
}

// ANCHOR: minimal_pool
impl MinimalPool {
    /// Starts `threads` threads.
    ///
    /// # Panics
    /// If the system has no more threads to give, having leaked those started so far.
    pub fn new(threads: usize) -> Self {
        let pool = Self(Arc::new((Mutex::new(VecDeque::new()), Condvar::new())));
        for _ in 0..threads {
            let shared = Arc::clone(&pool.0);
            thread::spawn(move || {
                loop {
                    let Job(job) = next_job(&shared);
                    job();
                }
            });
        }
        pool
    }

    /// Puts a job into the queue.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let (queue, not_empty) = &*self.0;
        queue.lock().push_back(Job(Box::new(job)));
        not_empty.notify_one();
    }
}

fn next_job((queue, not_empty): &(Mutex<VecDeque<Job>>, Condvar)) -> Job {
    let mut jobs = queue.lock();
    loop {
        match jobs.pop_front() {
            Some(job) => return job,
            None => jobs = not_empty.wait(jobs),
        }
    }
}
// ANCHOR_END: minimal_pool

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
        // The job is in the queue for ever. Had it been run, this would be `Ok`.
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
