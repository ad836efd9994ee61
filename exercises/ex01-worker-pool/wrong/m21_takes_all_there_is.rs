//! Wrong: a worker takes the whole queue at once, so as to lock less often, and runs those jobs one after the other.
//! The learner sees: two jobs that have to run at the same time cannot, beside a worker that sleeps.
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

    /// Accepts a job and returns at once. Some worker runs the job, in its turn.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one(); // one job, one worker
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Returns when they are gone.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().shutting_down = true;
        self.shared.changed.notify_all(); // the end concerns all of them
        for worker in self.workers {
            worker.join().unwrap();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(jobs) = next_jobs(shared) {
        // The lock is free here. A panic is the job's own affair.
        for job in jobs {
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }
}

/// Waits for jobs. `None`: the queue is empty and stays so.
fn next_jobs(shared: &Shared) -> Option<VecDeque<Job>> {
    let mut state = shared.state.lock().unwrap();
    loop {
        if !state.jobs.is_empty() {
            return Some(std::mem::take(&mut state.jobs));
        }
        if state.shutting_down {
            return None;
        }
        state = shared.changed.wait(state).unwrap();
    }
}
