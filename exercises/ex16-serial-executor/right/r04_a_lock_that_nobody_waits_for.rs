//! Right: the thread that runs the line holds a lock, and the other threads only call try_lock.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex};

// ----- Given. -----

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that `execute` returns when it refuses a job. The error contains the refused job, which was not
/// called.
pub struct Refused(pub Job);

/// Takes jobs and calls them.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. If the executor takes the job, it calls the job once, either later or
    /// before `execute` returns, on a thread of the executor or on the thread that calls `execute`. The
    /// executor catches a panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

// ----- Yours. -----

/// Runs jobs one at a time and in the order of their submission, no matter on which thread the underlying
/// executor calls them.
pub struct SerialExecutor<E> {
    below: E,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    jobs: Mutex<VecDeque<(u64, Job)>>,
    submitted: Mutex<u64>,
    /// The thread that holds this lock runs the line. No thread waits for the lock.
    runs: Mutex<()>,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs that uses the given executor.
    pub fn new(below: E) -> Self {
        Self { below, line: Arc::default() }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let number = {
            let mut jobs = self.line.jobs.lock().unwrap();
            let mut submitted = self.line.submitted.lock().unwrap();
            *submitted += 1;
            jobs.push_back((*submitted, job));
            *submitted
        };
        let line = Arc::clone(&self.line);
        if self.below.execute(Box::new(move || line.run())).is_ok() {
            return Ok(());
        }
        let mut jobs = self.line.jobs.lock().unwrap();
        let place = jobs.iter().position(|(other, _)| *other == number);
        place.and_then(|place| jobs.remove(place)).map_or(Ok(()), |(_, job)| Err(Refused(job)))
    }
}

impl Line {
    fn run(&self) {
        // A thread returns if another thread holds the lock. So a thread that has released the lock must
        // check for jobs again: a job may have been added.
        while !self.jobs.lock().unwrap().is_empty() {
            let Ok(runs) = self.runs.try_lock() else { return };
            while let Some(job) = self.next() {
                drop(catch_unwind(AssertUnwindSafe(job)));
            }
            drop(runs);
        }
    }

    fn next(&self) -> Option<Job> {
        self.jobs.lock().unwrap().pop_front().map(|(_, job)| job)
    }
}
