//! Right: each stripe has a lock, and is closed before it is removed from the map. If a thread finds its
//! stripe closed, the thread looks for a stripe in the map again.
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

/// Each stripe has its own lock, so a thread holds the lock of the map only to find or remove a stripe.
struct Stripes<K> {
    by_key: Mutex<HashMap<K, Arc<Stripe>>>,
}

#[derive(Default)]
struct Stripe {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(u64, Job)>,
    submitted: u64,
    moves: bool,
    /// True if the stripe was removed from the map, or will be removed soon. A thread that holds a closed
    /// stripe must find another stripe.
    closed: bool,
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
        let (stripe, number) = self.stripes.join(&key, job);
        let (stripes, of, own) = (Arc::clone(&self.stripes), Arc::clone(&stripe), key.clone());
        if self.below.execute(Box::new(move || stripes.run(&own, &of))).is_ok() {
            return Ok(());
        }
        let job = stripe.take_back(number);
        self.stripes.remove_if_idle(&key, &stripe);
        job.map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl<K: Key> Stripes<K> {
    fn join(&self, key: &K, mut job: Job) -> (Arc<Stripe>, u64) {
        loop {
            let stripe = Arc::clone(self.by_key.lock().unwrap().entry(key.clone()).or_default());
            match stripe.join(job) {
                Ok(number) => return (stripe, number),
                Err(back) => job = back,
            }
            // The stripe is closed. Both this thread and the thread that closed the stripe try to remove the
            // stripe from the map.
            self.remove(key, &stripe);
        }
    }

    fn run(&self, key: &K, stripe: &Arc<Stripe>) {
        stripe.run();
        self.remove_if_idle(key, stripe);
    }

    fn remove_if_idle(&self, key: &K, stripe: &Arc<Stripe>) {
        if stripe.close_if_idle() {
            self.remove(key, stripe);
        }
    }

    /// Removes this stripe from the map, but not another stripe of the same key.
    fn remove(&self, key: &K, stripe: &Arc<Stripe>) {
        let mut by_key = self.by_key.lock().unwrap();
        if by_key.get(key).is_some_and(|other| Arc::ptr_eq(other, stripe)) {
            by_key.remove(key);
        }
    }
}

impl Stripe {
    fn join(&self, job: Job) -> Result<u64, Job> {
        let mut state = self.state.lock().unwrap();
        if state.closed {
            return Err(job);
        }
        state.submitted += 1;
        let number = state.submitted;
        state.jobs.push_back((number, job));
        Ok(number)
    }

    fn take_back(&self, number: u64) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let place = state.jobs.iter().position(|(other, _)| *other == number)?;
        state.jobs.remove(place).map(|(_, job)| job)
    }

    fn close_if_idle(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.closed |= state.jobs.is_empty() && !state.moves;
        state.closed
    }

    fn run(&self) {
        if mem::replace(&mut self.state.lock().unwrap().moves, true) {
            return;
        }
        while let Some(job) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let next = state.jobs.pop_front();
        state.moves = next.is_some();
        next.map(|(_, job)| job)
    }
}
