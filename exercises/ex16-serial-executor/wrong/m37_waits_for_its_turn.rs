#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// What is to be done. It may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The executor did not take the job. Here it is, and it was not called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. A job that it takes is called once: some time later, or before `execute` returns; on a
    /// thread of the executor, or on the one that calls `execute`. A panic of the job ends there.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

// ----- Yours. -----

/// Runs jobs one at a time and in the order of their submission, where the executor below calls them.
pub struct SerialExecutor<E> {
    below: E,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    /// A job has ended, or was refused.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The numbers of those that have not ended.
    jobs: VecDeque<u64>,
    submitted: u64,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs over an executor.
    pub fn new(below: E) -> Self {
        Self { below, line: Arc::default() }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let number = {
            let mut state = self.line.state.lock().unwrap();
            state.submitted += 1;
            let number = state.submitted;
            state.jobs.push_back(number);
            number
        };
        let place = Arc::new(Mutex::new(Some(job)));
        let (line, own) = (Arc::clone(&self.line), Arc::clone(&place));
        let entry = move || {
            line.until_up(number);
            let job = place.lock().unwrap().take();
            drop(job.map(|job| catch_unwind(AssertUnwindSafe(job))));
            line.remove(number);
        };
        if self.below.execute(Box::new(entry)).is_ok() {
            return Ok(());
        }
        self.line.remove(number);
        let job = own.lock().unwrap().take();
        Err(Refused(job.expect("the entry was not called")))
    }
}

impl Line {
    fn until_up(&self, number: u64) {
        let mut state = self.state.lock().unwrap();
        while state.jobs.front() != Some(&number) {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn remove(&self, number: u64) {
        self.state.lock().unwrap().jobs.retain(|other| *other != number);
        self.changed.notify_all();
    }
}
