//! The straightforward pool of `pool_steps` with two changes: a submitter notifies only if a worker sleeps,
//! and a worker takes several jobs at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

// ANCHOR: pool
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// The maximum number of jobs that a worker takes at a time.
    batch: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The number of workers that sleep and that no submitter has woken yet.
    sleeping: usize,
}

impl Pool {
    pub fn new(threads: usize, batch: usize) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), batch });
        for _ in 0..threads {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work());
        }
        Self { shared }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state.lock().unwrap();
        state.jobs.push_back(Box::new(job));
        if state.sleeping > 0 {
            state.sleeping -= 1;
            self.shared.changed.notify_one();
        }
    }

    /// Returns the number of jobs in the queue.
    pub fn waiting(&self) -> usize {
        self.shared.state.lock().unwrap().jobs.len()
    }
}

impl Shared {
    fn work(&self) {
        let mut batch = Vec::new();
        loop {
            self.next_jobs(&mut batch);
            for job in batch.drain(..) {
                job();
            }
        }
    }

    fn next_jobs(&self, batch: &mut Vec<Job>) {
        let mut state = self.state.lock().unwrap();
        while state.jobs.is_empty() {
            state.sleeping += 1;
            state = self.changed.wait(state).unwrap();
        }
        let taken = self.batch.min(state.jobs.len());
        batch.extend(state.jobs.drain(..taken));
    }
}
// ANCHOR_END: pool
