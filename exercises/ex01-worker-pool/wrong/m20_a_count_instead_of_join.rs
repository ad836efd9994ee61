#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

/// A job: something to be run once, by some thread.
type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own.
pub struct WorkerPool {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is a job, or the end has come.
    changed: Condvar,
    /// No worker is left.
    none_left: Condvar,
}

/// The two facts a worker decides on stand behind one lock, so it never sees one without the other.
#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    shutting_down: bool,
    workers: usize,
}

impl WorkerPool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        shared.state.lock().unwrap().workers = threads;
        for _ in 0..threads {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared));
        }
        Self { shared }
    }

    /// Accepts a job and returns at once. Some worker runs the job, in its turn.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one(); // one job, one worker
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Returns when they are gone.
    pub fn shutdown(self) {
        let mut state = self.shared.state.lock().unwrap();
        state.shutting_down = true;
        self.shared.changed.notify_all(); // the end concerns all of them
        while state.workers > 0 {
            state = self.shared.none_left.wait(state).unwrap();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next_job(shared) {
        // The lock is free here. A panic is the job's own affair.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
    let mut state = shared.state.lock().unwrap();
    state.workers -= 1;
    if state.workers == 0 {
        shared.none_left.notify_one();
    }
}

/// Waits for a job. `None`: the queue is empty and stays so.
fn next_job(shared: &Shared) -> Option<Job> {
    let mut state = shared.state.lock().unwrap();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            return Some(job);
        }
        if state.shutting_down {
            return None;
        }
        state = shared.changed.wait(state).unwrap();
    }
}
