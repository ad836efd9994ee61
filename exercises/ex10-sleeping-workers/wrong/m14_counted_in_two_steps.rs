//! Wrong: a worker reads the number of sleepers and writes it back in two steps. Of two workers that do so at once,
//! one is not counted.
//! The learner sees: two workers sleep, the number says that one does, and the second job lies beside the second
//! worker.
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
            if let Some(job) = self.pop() {
                return job;
            }
            self.sleepers.store(self.sleepers.load(SeqCst) + 1, SeqCst);
            let mut jobs = self.jobs.lock().unwrap();
            if jobs.is_empty() {
                jobs = self.arrived.wait(jobs).unwrap();
            }
            drop(jobs);
            self.sleepers.store(self.sleepers.load(SeqCst).saturating_sub(1), SeqCst);
        }
    }

    fn pop(&self) -> Option<T> {
        self.jobs.lock().unwrap().pop_front()
    }
}
