//! Step 2: a panic ends the job, but the worker continues.
//!
//! The fault of this step: no caller can wait until the jobs are done, and the threads never end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    /// The condition variable that announces that there is another job.
    changed: Condvar,
}

impl Pool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        for _ in 0..threads {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work());
        }
        Self { shared }
    }

    /// Puts a job into the queue and returns. Later a worker takes the job out and runs it.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.jobs.lock().unwrap().push_back(Box::new(job));
        self.shared.changed.notify_one();
    }
}

impl Shared {
    // ANCHOR: work
    /// The loop of a worker.
    fn work(&self) {
        loop {
            let job = self.next_job();
            let outcome = catch_unwind(AssertUnwindSafe(job)); // the lock is free here
            drop(outcome); // the panic has printed its message already
        }
    }
    // ANCHOR_END: work

    /// Waits for a job.
    fn next_job(&self) -> Job {
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop_front() {
                return job;
            }
            jobs = self.changed.wait(jobs).unwrap(); // sleeps without the lock
        }
    }
}
