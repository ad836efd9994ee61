//! Step 3: a caller can end the pool. After the end, all accepted jobs are done and all threads are gone.
//!
//! The fault of this step: the queue has no bound.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send>;

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

// ANCHOR: state
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The condition variable that announces another job, or the end of the pool.
    changed: Condvar,
}

/// The state from which a worker sees what to do next. One lock guards both fields, so a worker never sees a
/// change of only one field.
#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    ending: bool,
}
// ANCHOR_END: state

impl Pool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let start = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work())
        };
        let workers = (0..threads).map(start).collect();
        Self { shared, workers }
    }

    /// Puts a job into the queue and returns. Later a worker takes the job out and runs it.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one();
    }

    // ANCHOR: shutdown
    /// Runs all accepted jobs, ends the threads, and returns when all threads have ended.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().ending = true;
        self.shared.changed.notify_all(); // the end concerns all workers, a job only one
        for worker in self.workers {
            worker.join().expect("no job ends a worker");
        }
    }
    // ANCHOR_END: shutdown
}

impl Shared {
    // ANCHOR: worker
    /// The loop of a worker.
    fn work(&self) {
        while let Some(job) = self.next_job() {
            let outcome = catch_unwind(AssertUnwindSafe(job)); // the lock is free here
            drop(outcome); // the panic has printed its message already
        }
    }

    /// Waits for a job. `None` means that no job is left and no job will come.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.ending {
                return None;
            }
            state = self.changed.wait(state).unwrap(); // sleeps without the lock
        }
    }
    // ANCHOR_END: worker
}
