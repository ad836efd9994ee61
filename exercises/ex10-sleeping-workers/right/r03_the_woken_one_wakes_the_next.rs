//! Right: at any time, at most one worker has been notified and has not looked for a job yet. If a woken
//! worker leaves jobs behind, it wakes the next worker. The library's pool works in this way.
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
    /// True if a sleeper has been notified and has not looked for a job yet.
    on_its_way: bool,
}

impl<T> State<T> {
    /// Returns true if the caller must notify a worker now; then sets `on_its_way`.
    fn must_wake(&mut self) -> bool {
        let wake = !self.jobs.is_empty() && self.sleepers > 0 && !self.on_its_way;
        self.on_its_way |= wake;
        wake
    }
}

impl<T> Inbox<T> {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        let state = State { jobs: VecDeque::new(), sleepers: 0, on_its_way: false };
        Self { state: Mutex::new(state), arrived: Condvar::new() }
    }

    /// Puts a job into the inbox. If workers sleep, wakes one of them; otherwise notifies no thread.
    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        state.jobs.push_back(job);
        if state.must_wake() {
            self.arrived.notify_one();
        }
    }

    /// Takes the oldest job. The call sleeps while there is no job.
    pub fn take(&self) -> T {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                if state.must_wake() {
                    self.arrived.notify_one();
                }
                return job;
            }
            state.sleepers += 1;
            state = self.arrived.wait(state).unwrap();
            state.sleepers -= 1;
            state.on_its_way = false;
        }
    }
}
