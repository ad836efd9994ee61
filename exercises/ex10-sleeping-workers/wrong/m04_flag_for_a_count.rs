//! Wrong: a flag says that a worker sleeps, and the first notification clears it. The second sleeper is forgotten.
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
    /// A worker waits on `arrived`.
    asleep: bool,
}

impl<T> Inbox<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { state: Mutex::new(State { jobs: VecDeque::new(), asleep: false }), arrived: Condvar::new() }
    }

    /// Leaves a job. If a worker sleeps, wakes one; if no worker sleeps, notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        state.jobs.push_back(job);
        let a_worker_sleeps = std::mem::take(&mut state.asleep);
        drop(state);
        if a_worker_sleeps {
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
            state.asleep = true;
            state = self.arrived.wait(state).unwrap();
        }
    }
}
