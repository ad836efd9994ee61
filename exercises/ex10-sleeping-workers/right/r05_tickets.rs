//! Right: each notification is a ticket that one sleeper takes, so a submitter knows how many sleep that are not
//! woken yet.
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
    /// How many of them have been notified.
    tickets: usize,
}

impl<T> Inbox<T> {
    /// Makes an empty one.
    pub fn new() -> Self {
        let state = State { jobs: VecDeque::new(), sleepers: 0, tickets: 0 };
        Self { state: Mutex::new(state), arrived: Condvar::new() }
    }

    /// Leaves a job. If a worker sleeps, wakes one; if no worker sleeps, notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        state.jobs.push_back(job);
        if state.sleepers > state.tickets {
            state.tickets += 1;
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
            state = self.arrived.wait_while(state, |state| state.tickets == 0).unwrap();
            state.tickets -= 1;
            state.sleepers -= 1;
        }
    }
}
