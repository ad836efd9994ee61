//! Right: there is one queue for all keys. An entry takes the first job whose key has no running job.
#![allow(unused)]

use std::collections::HashSet;
use std::hash::Hash;
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
    stripes: Arc<Stripes<K>>,
}

/// The jobs of all keys, in one queue.
struct Stripes<K> {
    state: Mutex<State<K>>,
}

struct State<K> {
    jobs: Vec<Waiting<K>>,
    submitted: u64,
    /// The keys of the jobs that are running.
    running: HashSet<K>,
}

struct Waiting<K> {
    number: u64,
    key: K,
    job: Job,
}

impl<K> Default for Stripes<K> {
    fn default() -> Self {
        let state = State { jobs: Vec::new(), submitted: 0, running: HashSet::new() };
        Self { state: Mutex::new(state) }
    }
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor that wraps another executor and has no stripe yet.
    pub fn new(below: E) -> Self {
        Self { below, stripes: Arc::new(Stripes::default()) }
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        let number = {
            let mut state = self.stripes.state.lock().unwrap();
            state.submitted += 1;
            let number = state.submitted;
            state.jobs.push(Waiting { number, key, job });
            number
        };
        let stripes = Arc::clone(&self.stripes);
        if self.below.execute(Box::new(move || stripes.run())).is_ok() {
            return Ok(());
        }
        let mut state = self.stripes.state.lock().unwrap();
        let place = state.jobs.iter().position(|waiting| waiting.number == number);
        place.map_or(Ok(()), |place| Err(Refused(state.jobs.remove(place).job)))
    }
}

impl<K: Key> Stripes<K> {
    /// Runs one job after the other, while there is a job whose key has no running job. If a job must still
    /// wait, the entry that runs the previous job of the same key will run this job, too.
    fn run(&self) {
        let mut last = None;
        while let Some((key, job)) = self.next(last.take()) {
            drop(catch_unwind(AssertUnwindSafe(job)));
            last = Some(key);
        }
    }

    /// Takes the first job whose key has no running job. `ended` is the key of the job that this entry has
    /// just run.
    fn next(&self, ended: Option<K>) -> Option<(K, Job)> {
        let mut state = self.state.lock().unwrap();
        if let Some(ended) = ended {
            state.running.remove(&ended);
        }
        let place = state.jobs.iter().position(|waiting| !state.running.contains(&waiting.key))?;
        let Waiting { key, job, .. } = state.jobs.remove(place);
        state.running.insert(key.clone());
        Some((key, job))
    }
}
