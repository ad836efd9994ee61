//! Right: one lock guards the flag and the jobs, and a worker begins to sleep under this lock.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

pub struct Inbox<T> {
    state: Mutex<(VecDeque<T>, bool)>,
    changed: Condvar,
}

impl<T> Inbox<T> {
    pub fn new() -> Self {
        Self { state: Mutex::new((VecDeque::new(), false)), changed: Condvar::new() }
    }

    pub fn put(&self, job: T) {
        self.state.lock().unwrap().0.push_back(job);
        self.changed.notify_one();
    }

    pub fn end(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }

    pub fn next_job(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(job) = state.0.pop_front() {
                return Some(job);
            }
            if state.1 {
                return None;
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}
