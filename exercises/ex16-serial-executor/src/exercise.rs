//! A serial executor, which wraps any executor and runs jobs one at a time and in order.
//!
//! This is the only file to edit. `cargo test -p ex16-serial-executor` checks your answer.
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
    // You give the underlying executor a closure that uses the line: how does this closure get access to the
    // line?
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs that uses the given executor.
    pub fn new(below: E) -> Self {
        todo!("make an empty line")
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        todo!("put the job into the line, and give the underlying executor something that runs the line")
    }
}
