//! An improved version of the pool that takes jobs in batches of two: each worker puts its batch into a lane,
//! from which other workers can steal.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

pub type Job = Box<dyn FnOnce() + Send>;

// ANCHOR: lanes
pub struct Pool {
    shared: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    jobs: VecDeque<Job>,
    /// For each worker, the jobs that the worker has taken and has not begun.
    lanes: Vec<VecDeque<Job>>,
}

impl Pool {
    pub fn new(threads: usize) -> Self {
        let lanes = (0..threads).map(|_| VecDeque::new()).collect();
        let shared = Arc::new((Mutex::new(State { jobs: VecDeque::new(), lanes }), Condvar::new()));
        for worker in 0..threads {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                loop {
                    next_job(&shared, worker)();
                }
            });
        }
        Self { shared }
    }

    pub fn execute(&self, job: Job) {
        self.shared.0.lock().unwrap().jobs.push_back(job);
        self.shared.1.notify_all();
    }
}

fn next_job((state, changed): &(Mutex<State>, Condvar), worker: usize) -> Job {
    let mut state = state.lock().unwrap();
    loop {
        if state.lanes[worker].is_empty() && !state.jobs.is_empty() {
            let batch = state.jobs.len().min(2);
            state.lanes[worker] = state.jobs.drain(..batch).collect();
            changed.notify_all(); // there is something to steal
        }
        let own = state.lanes[worker].pop_front();
        let found = own.or_else(|| state.lanes.iter_mut().find_map(VecDeque::pop_front));
        match found {
            Some(job) => return job,
            None => state = changed.wait(state).unwrap(),
        }
    }
}
// ANCHOR_END: lanes
