//! Right: jobs and sleepers have a lock each. A worker says that it sleeps, looks again, and sleeps; a submitter
//! leaves the job, and looks for sleepers then.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

/// Where submitters leave jobs and workers fetch them.
pub struct Inbox<T> {
    jobs: Mutex<VecDeque<T>>,
    sleepers: Mutex<usize>,
    /// There is a job.
    arrived: Condvar,
}

impl<T> Inbox<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { jobs: Mutex::default(), sleepers: Mutex::new(0), arrived: Condvar::new() }
    }

    /// Leaves a job. If a worker sleeps, wakes one; if no worker sleeps, notifies no thread.
    pub fn put(&self, job: T) {
        self.jobs.lock().unwrap().push_back(job);
        if *self.sleepers.lock().unwrap() > 0 {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. Sleeps while there is none.
    pub fn take(&self) -> T {
        loop {
            if let Some(job) = self.pop() {
                return job;
            }
            let mut sleepers = self.sleepers.lock().unwrap();
            *sleepers += 1;
            let job = self.pop(); // once more: a submitter may have seen no sleeper
            if job.is_none() {
                sleepers = self.arrived.wait(sleepers).unwrap();
            }
            *sleepers -= 1;
            if let Some(job) = job {
                return job;
            }
        }
    }

    fn pop(&self) -> Option<T> {
        self.jobs.lock().unwrap().pop_front()
    }
}
