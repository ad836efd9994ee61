//! A striped executor: it wraps another executor, and runs jobs with equal keys one at a time and in order,
//! and jobs with different keys at the same time.
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
    stripes: Arc<Stripes<K>>,
}

struct Stripes<K> {
    state: Mutex<State<K>>,
}

struct State<K> {
    /// The stripes that have jobs or are moving. A key without a stripe is not in the map.
    by_key: HashMap<Arc<K>, Stripe>,
    /// The number of jobs that have been put into a stripe so far.
    submitted: u64,
}

#[derive(Default)]
struct Stripe {
    /// The jobs that have not begun, each with its number.
    jobs: VecDeque<(u64, Job)>,
    /// True if an entry runs the stripe. Before this entry ends, it runs every job in the stripe.
    moves: bool,
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor that wraps another executor and has no stripe yet.
    pub fn new(below: E) -> Self {
        let state = State { by_key: HashMap::new(), submitted: 0 };
        Self { below, stripes: Arc::new(Stripes { state: Mutex::new(state) }) }
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        let key = Arc::new(key);
        let number = self.stripes.join(&key, job);
        let (stripes, own) = (Arc::clone(&self.stripes), Arc::clone(&key));
        // No lock is held here: the underlying executor may call the entry at once.
        if self.below.execute(Box::new(move || stripes.run(&own))).is_ok() {
            return Ok(());
        }
        // By now the entry of another job may have run this job.
        self.stripes.take_back(&key, number).map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl<K: Key> Stripes<K> {
    /// Puts a job at the end of the key's stripe, and returns the job's number.
    fn join(&self, key: &Arc<K>, job: Job) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.submitted += 1;
        let number = state.submitted;
        state.by_key.entry(Arc::clone(key)).or_default().jobs.push_back((number, job));
        number
    }

    /// Removes a job that has not begun, and also its stripe if the stripe is now idle.
    fn take_back(&self, key: &K, number: u64) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let stripe = state.by_key.get_mut(key)?;
        let place = stripe.jobs.iter().position(|(other, _)| *other == number)?;
        let job = stripe.jobs.remove(place);
        let idle = stripe.jobs.is_empty() && !stripe.moves;
        let gone = if idle { state.by_key.remove_entry(key) } else { None };
        drop(state);
        drop(gone); // with no lock held: this may drop the last copy of the key
        job.map(|(_, job)| job)
    }

    /// The entry: runs the jobs of the stripe, unless another entry does.
    fn run(&self, key: &K) {
        if !self.begin(key) {
            return;
        }
        while let Some(job) = self.next(key) {
            // No lock is held here, and a panic ends only this job.
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    /// Returns true if the caller must run the stripe, and false if another entry runs it or the stripe is gone.
    fn begin(&self, key: &K) -> bool {
        let mut state = self.state.lock().unwrap();
        state.by_key.get_mut(key).is_some_and(|stripe| !mem::replace(&mut stripe.moves, true))
    }

    /// Takes the next job. If there is no job, removes the stripe under the same lock.
    fn next(&self, key: &K) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let stripe = state.by_key.get_mut(key)?;
        let next = stripe.jobs.pop_front();
        let gone = if next.is_none() { state.by_key.remove_entry(key) } else { None };
        drop(state);
        drop(gone); // with no lock held: this may drop the last copy of the key
        next.map(|(_, job)| job)
    }
}
