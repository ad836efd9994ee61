use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

pub struct Inbox<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    jobs: VecDeque<(u64, T)>,
    sleeping: VecDeque<(u64, Arc<Condvar>)>,
    handed: Vec<(u64, u64)>,
    next: u64,
}

impl<T> Inbox<T> {
    pub fn new() -> Self {
        let state = State { jobs: VecDeque::new(), sleeping: VecDeque::new(), handed: Vec::new(), next: 0 };
        Self { state: Mutex::new(state) }
    }

    pub fn put(&self, job: T) {
        let mut state = self.state.lock().unwrap();
        let number = state.next;
        state.next += 1;
        state.jobs.push_back((number, job));
        if let Some((worker, bed)) = state.sleeping.pop_front() {
            state.handed.push((worker, number));
            drop(state);
            bed.notify_one();
        }
    }

    pub fn take(&self) -> T {
        let mut state = self.state.lock().unwrap();
        if let Some((_, job)) = state.jobs.pop_front() {
            return job;
        }
        loop {
            let me = state.next;
            state.next += 1;
            let bed = Arc::new(Condvar::new());
            state.sleeping.push_back((me, Arc::clone(&bed)));
            let number = loop {
                state = bed.wait(state).unwrap();
                if let Some(at) = state.handed.iter().position(|(to, _)| *to == me) {
                    break state.handed.swap_remove(at).1;
                }
            };
            if let Some(at) = state.jobs.iter().position(|(of, _)| *of == number) {
                return state.jobs.remove(at).unwrap().1;
            }
            if let Some((_, job)) = state.jobs.pop_front() {
                return job;
            }
        }
    }
}
