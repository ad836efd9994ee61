//! Wrong: take() says that it sleeps before it sleeps, but lets go of the lock that put() needs, and does not look
//! again.
//! The learner sees: the job and its notification come between its word and its sleep.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex};

/// Where submitters leave jobs and workers fetch them.
pub struct Inbox<T> {
    jobs: Mutex<VecDeque<T>>,
    sleepers: AtomicUsize,
    /// There is a job.
    arrived: Condvar,
}

impl<T> Inbox<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { jobs: Mutex::default(), sleepers: AtomicUsize::new(0), arrived: Condvar::new() }
    }

    /// Leaves a job. If a worker sleeps, wakes one; if no worker sleeps, notifies no thread.
    pub fn put(&self, job: T) {
        self.jobs.lock().unwrap().push_back(job);
        if self.sleepers.load(SeqCst) > 0 {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. Sleeps while there is none.
    pub fn take(&self) -> T {
        loop {
            if let Some(job) = self.jobs.lock().unwrap().pop_front() {
                return job;
            }
            self.sleepers.fetch_add(1, SeqCst);
            let jobs = self.jobs.lock().unwrap();
            drop(self.arrived.wait(jobs).unwrap());
            self.sleepers.fetch_sub(1, SeqCst);
        }
    }
}
