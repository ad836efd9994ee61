#![allow(unused)]

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
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

/// What a key can do. The keys of one executor may all have the same hash.
pub trait Key: Hash + Eq + Clone + Send + Sync + 'static {}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> Key for K {}

// ----- Yours. -----

/// Runs jobs with equal keys one at a time and in the order of their submission, and those with different keys at once, where
/// the executor below calls them. The jobs of one key are its stripe.
pub struct StripedExecutor<K, E> {
    below: E,
    locks: Mutex<HashMap<K, Arc<Mutex<()>>>>,
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes one over an executor, with no stripe.
    pub fn new(below: E) -> Self {
        Self { below, locks: Mutex::default() }
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        let lock = Arc::clone(self.locks.lock().unwrap().entry(key).or_default());
        let place = Arc::new(Mutex::new(Some(job)));
        let own = Arc::clone(&place);
        let entry = move || {
            let _one_at_a_time = lock.lock().unwrap();
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
