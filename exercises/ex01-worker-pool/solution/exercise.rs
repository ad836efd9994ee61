//! A pool of worker threads: a queue of jobs, and threads that sleep until there is a job.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

/// A job: a closure that some thread runs once.
type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own.
pub struct WorkerPool {
    shared: Arc<Shared>,
    workers: Vec<thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a job has come, or when the pool must end.
    changed: Condvar,
}

/// The queue and the flag decide what a worker does next. One lock guards the queue and the flag, so no other
/// thread changes them while a worker reads both.
#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    shutting_down: bool,
}

impl WorkerPool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let start = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared))
        };
        let workers = (0..threads).map(start).collect();
        Self { shared, workers }
    }

    /// Accepts a job and returns at once. A worker runs the job later.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one(); // one job, one worker
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Returns when all
    /// threads have ended.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().shutting_down = true;
        self.shared.changed.notify_all(); // the end concerns all workers
        for worker in self.workers {
            worker.join().unwrap();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next_job(shared) {
        // The worker holds no lock here. A panic ends only the job.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// Waits for a job and takes it. Returns `None` if the queue is empty and the pool must end.
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
