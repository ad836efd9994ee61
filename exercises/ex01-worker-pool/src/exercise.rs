//! A pool of worker threads: a queue of jobs, and threads that sleep until there is a job.
//!
//! This is the only file to edit. `cargo test -p ex01-worker-pool` checks your answer.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

/// A job: a closure that some thread runs once.
type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own.
pub struct WorkerPool {
    // What state do the workers and the pool share? What must the pool know when it ends?
}

impl WorkerPool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize) -> Self {
        todo!("start the worker threads")
    }

    /// Accepts a job and returns at once. A worker runs the job later.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        todo!("put the job into the queue and wake up a worker")
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Sleeps until the
    /// threads have ended, and then returns.
    ///
    /// `shutdown` takes the pool by value, so no thread can call `execute` afterwards.
    pub fn shutdown(self) {
        todo!("tell the workers that no more jobs come, and wait for their end")
    }
}
