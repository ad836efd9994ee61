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
    running: Arc<Mutex<()>>,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs over an executor.
    pub fn new(below: E) -> Self {
        Self { below, running: Arc::default() }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let running = Arc::clone(&self.running);
        let place = Arc::new(Mutex::new(Some(job)));
        let own = Arc::clone(&place);
        let entry = move || {
            let _one_at_a_time = running.lock().unwrap();
            let job = place.lock().unwrap().take();
            drop(job.map(|job| catch_unwind(AssertUnwindSafe(job))));
        };
        if self.below.execute(Box::new(entry)).is_ok() {
            return Ok(());
        }
        let job = own.lock().unwrap().take();
        Err(Refused(job.expect("the entry was not called")))
    }
}
