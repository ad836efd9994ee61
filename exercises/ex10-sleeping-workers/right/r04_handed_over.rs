//! Right: each sleeping worker has its own slot, and a submitter puts its job directly into the slot of one
//! sleeping worker.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

/// The inbox: submitters put jobs into it, and workers take jobs out of it.
pub struct Inbox<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    jobs: VecDeque<T>,
    /// The workers that sleep. While this list contains a worker, `jobs` is empty.
    beds: VecDeque<Arc<Bed<T>>>,
}

/// The slot of one sleeping worker.
struct Bed<T> {
    job: Mutex<Option<T>>,
    brought: Condvar,
}

impl<T> Inbox<T> {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        Self { state: Mutex::new(State { jobs: VecDeque::new(), beds: VecDeque::new() }) }
    }

    /// Puts a job into the inbox. If workers sleep, wakes one of them; otherwise notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        let Some(bed) = state.beds.pop_front() else { return state.jobs.push_back(job) };
        drop(state);
        *bed.job.lock().unwrap() = Some(job);
        bed.brought.notify_one();
    }

    /// Takes the oldest job. The call sleeps while there is no job.
    pub fn take(&self) -> T {
        let mut state = self.state.lock().unwrap();
        if let Some(job) = state.jobs.pop_front() {
            return job;
        }
        let bed = Arc::new(Bed { job: Mutex::new(None), brought: Condvar::new() });
        state.beds.push_back(Arc::clone(&bed));
        drop(state);
        let mut job = bed.job.lock().unwrap();
        loop {
            match job.take() {
                Some(job) => return job,
                None => job = bed.brought.wait(job).unwrap(),
            }
        }
    }
}
