//! Right: the number of sleepers is an atomic, outside the lock of the jobs. A worker counts itself as a
//! sleeper while it holds the lock. So if the worker does not see a job, the submitter of that job sees the
//! count.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::{Condvar, Mutex};

/// The inbox: submitters put jobs into it, and workers take jobs out of it.
pub struct Inbox<T> {
    jobs: Mutex<VecDeque<T>>,
    sleepers: AtomicUsize,
    /// Notified when there is a job.
    arrived: Condvar,
}

impl<T> Inbox<T> {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        Self { jobs: Mutex::default(), sleepers: AtomicUsize::new(0), arrived: Condvar::new() }
    }

    /// Puts a job into the inbox. If workers sleep, wakes one of them; otherwise notifies no thread.
    pub fn put(&self, job: T) {
        self.jobs.lock().unwrap().push_back(job);
        if self.sleepers.load(SeqCst) > 0 {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. The call sleeps while there is no job.
    pub fn take(&self) -> T {
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop_front() {
                return job;
            }
            self.sleepers.fetch_add(1, SeqCst);
            jobs = self.arrived.wait(jobs).unwrap();
            self.sleepers.fetch_sub(1, SeqCst);
        }
    }
}
