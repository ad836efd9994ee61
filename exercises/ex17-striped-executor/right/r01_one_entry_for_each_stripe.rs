//! Right: the underlying executor has at most one entry for each stripe. While the executor decides about
//! that entry, other submitters of this key wait.
#![allow(unused)]

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicU64, Ordering};
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
    offers: AtomicU64,
    stripes: Arc<Stripes<K>>,
}

struct Stripes<K> {
    by_key: Mutex<HashMap<K, Stripe>>,
    /// Notified when the underlying executor has taken or refused an entry.
    decided: Condvar,
}

/// A stripe. A key has a stripe while an entry of this key is offered or taken.
struct Stripe {
    jobs: VecDeque<Job>,
    /// The number of the offered entry; `None` after the entry was taken.
    offered: Option<u64>,
}

impl<K> Default for Stripes<K> {
    fn default() -> Self {
        Self { by_key: Mutex::new(HashMap::new()), decided: Condvar::new() }
    }
}

impl<K: Key, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor that wraps another executor and has no stripe yet.
    pub fn new(below: E) -> Self {
        Self { below, offers: AtomicU64::new(0), stripes: Arc::default() }
    }

    /// Puts the job at the end of its stripe, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    pub fn execute(&self, key: K, job: Job) -> Result<(), Refused> {
        let offer = self.offers.fetch_add(1, Ordering::Relaxed); // a number that no other offer has
        if !self.stripes.join(&key, job, offer) {
            return Ok(());
        }
        let (stripes, own) = (Arc::clone(&self.stripes), key.clone());
        match self.below.execute(Box::new(move || stripes.run(&own))) {
            Ok(()) => {
                self.stripes.is_taken(&key, Some(offer));
                Ok(())
            }
            Err(_) => Err(Refused(self.stripes.is_refused(&key))),
        }
    }
}

impl<K: Key> Stripes<K> {
    /// Puts a job into its stripe. Returns true if this call made the stripe: then the caller must offer an entry.
    fn join(&self, key: &K, job: Job, offer: u64) -> bool {
        let mut by_key = self.by_key.lock().unwrap();
        loop {
            match by_key.get_mut(key) {
                None => {
                    by_key.insert(key.clone(), Stripe { jobs: VecDeque::from([job]), offered: Some(offer) });
                    return true;
                }
                Some(Stripe { jobs, offered: None }) => {
                    jobs.push_back(job);
                    return false;
                }
                Some(_) => by_key = self.decided.wait(by_key).unwrap(),
            }
        }
    }

    /// Notes that an entry was taken: the entry with number `offer`, or the present entry if `offer` is
    /// `None`. By now the stripe may have an entry with another number.
    fn is_taken(&self, key: &K, offer: Option<u64>) {
        let mut by_key = self.by_key.lock().unwrap();
        if let Some(stripe) = by_key.get_mut(key)
            && (offer.is_none() || stripe.offered == offer)
        {
            stripe.offered = None;
            self.decided.notify_all();
        }
    }

    /// Removes the stripe of a refused entry. No job has joined the stripe after the offer, so the stripe has
    /// one job.
    fn is_refused(&self, key: &K) -> Job {
        let gone = self.by_key.lock().unwrap().remove(key);
        self.decided.notify_all();
        gone.and_then(|mut stripe| stripe.jobs.pop_front()).expect("the job of the one who offered")
    }

    /// The entry: runs the jobs of the stripe.
    fn run(&self, key: &K) {
        self.is_taken(key, None);
        while let Some(job) = self.next(key) {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self, key: &K) -> Option<Job> {
        let mut by_key = self.by_key.lock().unwrap();
        let next = by_key.get_mut(key).and_then(|stripe| stripe.jobs.pop_front());
        if next.is_none() {
            by_key.remove(key);
        }
        next
    }
}
