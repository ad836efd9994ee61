//! Wrong: the end is a message in the queue, one for all workers. The worker that takes it ends, and nobody passes it on.
//! The learner sees: with two workers asleep, shutdown() waits for the second one for ever.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

/// A job: something to be run once, by some thread.
type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own.
pub struct WorkerPool {
    shared: Arc<Shared>,
    workers: Vec<thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is a job, or the end has come.
    changed: Condvar,
}

/// The two facts a worker decides on stand behind one lock, so it never sees one without the other.
#[derive(Default)]
struct State {
    /// `None` is the end.
    jobs: VecDeque<Option<Job>>,
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

    /// Accepts a job and returns at once. Some worker runs the job, in its turn.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Some(Box::new(job)));
        self.shared.changed.notify_one(); // one job, one worker
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Returns when they are gone.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().jobs.push_back(None);
        self.shared.changed.notify_one();
        for worker in self.workers {
            worker.join().unwrap();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next_job(shared) {
        // The lock is free here. A panic is the job's own affair.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// Waits for a job. `None`: the queue is empty and stays so.
fn next_job(shared: &Shared) -> Option<Job> {
    let mut state = shared.state.lock().unwrap();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            return job;
        }
        state = shared.changed.wait(state).unwrap();
    }
}
