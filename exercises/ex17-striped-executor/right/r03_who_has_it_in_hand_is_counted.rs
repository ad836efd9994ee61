//! Right: each stripe has a count of the submitters and entries that hold it, and is in the map until this
//! count is zero.
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
    by_key: Mutex<HashMap<K, Users>>,
}

/// A stripe, and the number of submitters and entries that hold it. The stripe is in the map until that
/// number is zero.
#[derive(Default)]
struct Users {
    stripe: Arc<Mutex<Stripe>>,
    count: usize,
}

#[derive(Default)]
struct Stripe {
    jobs: VecDeque<(u64, Job)>,
    submitted: u64,
    moves: bool,
}

/// A reference to a stripe, held by one submitter or entry. It is counted.
struct User<K: Key> {
    key: K,
    stripes: Arc<Stripes<K>>,
    stripe: Arc<Mutex<Stripe>>,
}

impl<K> Default for Stripes<K> {
    fn default() -> Self {
        Self { by_key: Mutex::new(HashMap::new()) }
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
        let own = User::of(&self.stripes, key);
        let number = own.join(job);
        let entry = own.another(); // if it is refused, its Drop subtracts it from the count
        if self.below.execute(Box::new(move || entry.run())).is_ok() {
            return Ok(());
        }
        own.take_back(number).map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl<K: Key> User<K> {
    fn of(stripes: &Arc<Stripes<K>>, key: K) -> Self {
        let mut by_key = stripes.by_key.lock().unwrap();
        let users = by_key.entry(key.clone()).or_default();
        users.count += 1;
        Self { key, stripes: Arc::clone(stripes), stripe: Arc::clone(&users.stripe) }
    }

    fn another(&self) -> Self {
        Self::of(&self.stripes, self.key.clone())
    }

    fn join(&self, job: Job) -> u64 {
        let mut stripe = self.stripe.lock().unwrap();
        stripe.submitted += 1;
        let number = stripe.submitted;
        stripe.jobs.push_back((number, job));
        number
    }

    fn take_back(&self, number: u64) -> Option<Job> {
        let mut stripe = self.stripe.lock().unwrap();
        let place = stripe.jobs.iter().position(|(other, _)| *other == number)?;
        stripe.jobs.remove(place).map(|(_, job)| job)
    }

    fn run(self) {
        if mem::replace(&mut self.stripe.lock().unwrap().moves, true) {
            return;
        }
        while let Some(job) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut stripe = self.stripe.lock().unwrap();
        let next = stripe.jobs.pop_front();
        stripe.moves = next.is_some();
        next.map(|(_, job)| job)
    }
}

impl<K: Key> Drop for User<K> {
    fn drop(&mut self) {
        let mut by_key = self.stripes.by_key.lock().unwrap();
        if let Some(users) = by_key.get_mut(&self.key) {
            users.count -= 1;
            if users.count == 0 {
                by_key.remove(&self.key);
            }
        }
    }
}
