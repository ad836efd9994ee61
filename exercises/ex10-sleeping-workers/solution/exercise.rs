//! A pool's inbox: submitters put jobs into it, workers take jobs out of it, and a submitter notifies a
//! worker only if a worker sleeps.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

/// The inbox: submitters put jobs into it, and workers take jobs out of it.
pub struct Inbox<T> {
    state: Mutex<State<T>>,
    /// Notified when there is a job.
    arrived: Condvar,
}

struct State<T> {
    jobs: VecDeque<T>,
    /// The number of workers that wait on `arrived`, or have been woken and have not taken the lock yet.
    sleepers: usize,
}

impl<T> Inbox<T> {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        Self { state: Mutex::new(State { jobs: VecDeque::new(), sleepers: 0 }), arrived: Condvar::new() }
    }

    /// Puts a job into the inbox. If workers sleep, wakes one of them; otherwise notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        state.jobs.push_back(job);
        let a_worker_sleeps = state.sleepers > 0;
        drop(state);
        if a_worker_sleeps {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. The call sleeps while there is no job.
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
