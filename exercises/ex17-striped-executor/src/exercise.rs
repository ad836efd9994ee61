//! A striped executor: it wraps another executor, and runs jobs with equal keys one at a time and in order,
//! and jobs with different keys at the same time.
//!
//! This is the only file to edit. `cargo test -p ex17-striped-executor` checks your answer.
#![allow(unused)]

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that `execute` returns when it refuses a job. The error contains the refused job, which was not
/// called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. If the executor takes the job, it calls the job once, either later or
    /// before `execute` returns, on a thread of the executor or on the thread that calls `execute`. The
    /// executor catches a panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

/// The traits that a key must have. The keys of one executor may all have the same hash.
pub trait Key: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> Key for K {}

// ----- Yours. -----

/// Runs jobs with equal keys one at a time and in order, and jobs with different keys at the same time, no
/// matter on which thread the underlying executor calls them. The jobs of one key form the stripe of this
/// key.
pub struct StripedExecutor<K, E> {
    below: E,
    stripes: Arc<Mutex<HashMap<K, VecDeque<Job>>>>, // What must be known of a stripe besides its jobs?
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor that wraps another executor and has no stripe yet.
    pub fn new(below: E) -> Self {
        todo!("begin without any stripe")
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        todo!("put the job into its stripe, and give the underlying executor something that runs the stripe")
    }
}
