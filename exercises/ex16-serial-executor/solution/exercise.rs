//! A serial executor, which wraps any executor and runs jobs one at a time and in order.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The jobs that have not begun, each with its number.
    jobs: VecDeque<(u64, Job)>,
    /// The number of jobs that have been put into the line so far.
    submitted: u64,
    /// True if an entry runs the line. Before this entry returns, it runs every job in the line.
    moves: bool,
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
        let number = self.line.join(job);
        let line = Arc::clone(&self.line);
        // No lock is held here: the underlying executor may call the entry at once.
        if self.below.execute(Box::new(move || line.run())).is_ok() {
            return Ok(());
        }
        // Perhaps the entry of another job has already run this job.
        self.line.take_back(number).map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl Line {
    /// Puts a job at the end of the line, and returns the job's number.
    fn join(&self, job: Job) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.submitted += 1;
        let number = state.submitted;
        state.jobs.push_back((number, job));
        number
    }

    /// Takes a job out of the line, unless the job has begun.
    fn take_back(&self, number: u64) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let place = state.jobs.iter().position(|(other, _)| *other == number)?;
        state.jobs.remove(place).map(|(_, job)| job)
    }

    /// The entry: runs the jobs in the line, unless another entry does so.
    fn run(&self) {
        if !self.begin() {
            return;
        }
        while let Some(job) = self.next() {
            // No lock is held here, and a panic ends only this job.
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    /// Returns true if the caller must now run the line.
    fn begin(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        !mem::replace(&mut state.moves, true)
    }

    /// Takes the next job, or stops running the line if there is none. The method checks for a job and
    /// changes the flag in one step, under one lock.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let next = state.jobs.pop_front();
        state.moves = next.is_some();
        next.map(|(_, job)| job)
    }
}
