//! Wrong: the flag has its own lock, so the flag can be set after a worker's check and before its sleep.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

pub struct Inbox<T> {
    jobs: Mutex<VecDeque<T>>,
    // The mistake: a worker sleeps under the lock of the jobs, which does not guard the flag.
    has_ended: Mutex<bool>,
    changed: Condvar,
}

impl<T> Inbox<T> {
    pub fn new() -> Self {
        Self { jobs: Mutex::default(), has_ended: Mutex::new(false), changed: Condvar::new() }
    }

    pub fn put(&self, job: T) {
        self.jobs.lock().unwrap().push_back(job);
        self.changed.notify_one();
    }

    pub fn end(&self) {
        *self.has_ended.lock().unwrap() = true;
        self.changed.notify_all();
    }

    pub fn next_job(&self) -> Option<T> {
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop_front() {
                return Some(job);
            }
            if *self.has_ended.lock().unwrap() {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap();
        }
    }
}
