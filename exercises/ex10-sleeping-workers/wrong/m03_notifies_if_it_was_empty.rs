//! Wrong: put() notifies only if the inbox was empty: more jobs do not wake more workers.
//! The learner sees: two jobs, two sleepers, one notification; the second worker sleeps beside the second job.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

/// Where submitters leave jobs and workers fetch them.
pub struct Inbox<T> {
    state: Mutex<State<T>>,
    /// There is a job.
    arrived: Condvar,
}

struct State<T> {
    jobs: VecDeque<T>,
    /// How many workers wait on `arrived`, or have been woken and have not taken the lock yet.
    sleepers: usize,
}

impl<T> Inbox<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { state: Mutex::new(State { jobs: VecDeque::new(), sleepers: 0 }), arrived: Condvar::new() }
    }

    /// Leaves a job. If a worker sleeps, wakes one; if no worker sleeps, notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        let first = state.jobs.is_empty();
        state.jobs.push_back(job);
        let a_worker_sleeps = state.sleepers > 0;
        drop(state);
        if first && a_worker_sleeps {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. Sleeps while there is none.
    pub fn take(&self) -> T {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return job;
            }
            state.sleepers += 1;
            state = self.arrived.wait(state).unwrap();
            state.sleepers -= 1;
        }
    }
}
