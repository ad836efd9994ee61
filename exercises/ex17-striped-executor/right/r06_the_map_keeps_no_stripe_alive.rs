//! Right: the map has weak references; the last who has a stripe in hand takes it out.
#![allow(unused)]

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex, Weak};

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
pub struct StripedExecutor<K: Key, E> {
    below: E,
    stripes: Arc<Stripes<K>>,
}

/// The map keeps no stripe alive: those do that have it in hand.
struct Stripes<K: Key> {
    by_key: Mutex<HashMap<K, Weak<Stripe<K>>>>,
}

struct Stripe<K: Key> {
    key: K,
    stripes: Arc<Stripes<K>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(u64, Job)>,
    submitted: u64,
    moves: bool,
}

impl<K: Key> Default for Stripes<K> {
    fn default() -> Self {
        Self { by_key: Mutex::new(HashMap::new()) }
    }
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes one over an executor, with no stripe.
    pub fn new(below: E) -> Self {
        Self { below, stripes: Arc::new(Stripes::default()) }
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        let stripe = Stripe::of(&self.stripes, key);
        let number = stripe.join(job);
        let own = Arc::clone(&stripe);
        if self.below.execute(Box::new(move || own.run())).is_ok() {
            return Ok(());
        }
        stripe.take_back(number).map_or(Ok(()), |job| Err(Refused(job)))
    }
}

impl<K: Key> Stripe<K> {
    fn of(stripes: &Arc<Stripes<K>>, key: K) -> Arc<Self> {
        let mut by_key = stripes.by_key.lock().unwrap();
        if let Some(stripe) = by_key.get(&key).and_then(Weak::upgrade) {
            return stripe;
        }
        let state = Mutex::default();
        let stripe = Arc::new(Self { key: key.clone(), stripes: Arc::clone(stripes), state });
        by_key.insert(key, Arc::downgrade(&stripe));
        stripe
    }

    fn join(&self, job: Job) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.submitted += 1;
        let number = state.submitted;
        state.jobs.push_back((number, job));
        number
    }

    fn take_back(&self, number: u64) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let place = state.jobs.iter().position(|(other, _)| *other == number)?;
        state.jobs.remove(place).map(|(_, job)| job)
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

impl<K: Key> Drop for Stripe<K> {
    fn drop(&mut self) {
        let mut by_key = self.stripes.by_key.lock().unwrap();
        // There may be another one of the same key by now.
        if by_key.get(&self.key).is_some_and(|stripe| stripe.strong_count() == 0) {
            by_key.remove(&self.key);
        }
    }
}
