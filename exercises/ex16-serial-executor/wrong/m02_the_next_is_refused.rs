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
    line: Arc<Line<E>>,
}

struct Line<E> {
    below: E,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    active: bool,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs over an executor.
    pub fn new(below: E) -> Self {
        Self { line: Arc::new(Line { below, state: Mutex::default() }) }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        {
            let mut state = self.line.state.lock().unwrap();
            if state.active {
                state.jobs.push_back(job);
                return Ok(());
            }
            state.active = true;
        }
        self.line.schedule(job)
    }
}

impl<E: Executor + 'static> Line<E> {
    /// Gives a job to the executor below. If that refuses, the job comes back.
    fn schedule(self: &Arc<Self>, job: Job) -> Result<(), Refused> {
        let place = Arc::new(Mutex::new(Some(job)));
        let (line, queued) = (Arc::clone(self), Arc::clone(&place));
        let entry = move || {
            let job = queued.lock().unwrap().take();
            drop(job.map(|job| catch_unwind(AssertUnwindSafe(job))));
            line.schedule_next();
        };
        if self.below.execute(Box::new(entry)).is_ok() {
            return Ok(());
        }
        self.state.lock().unwrap().active = false;
        let job = place.lock().unwrap().take();
        Err(Refused(job.expect("nobody has called the entry")))
    }

    fn schedule_next(self: &Arc<Self>) {
        let next = {
            let mut state = self.state.lock().unwrap();
            let next = state.jobs.pop_front();
            state.active = next.is_some();
            next
        };
        if let Some(job) = next {
            let _ = self.schedule(job);
        }
    }
}
