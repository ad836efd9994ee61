//! Step 4: the queue has a bound. If there is no room for a job, the submitter gets the job back and decides
//! what to do.
//!
//! The fault of this step: the next job is always the job that has waited longest, even if the client of this
//! job no longer waits.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

pub type Job = Box<dyn FnOnce() + Send>;

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// The condition variable that announces another job, or the end of the pool.
    changed: Condvar,
    /// The largest number of jobs that may wait.
    capacity: usize,
}

/// The state from which a worker sees what to do next. One lock guards both fields, so a worker never sees a
/// change of only one field.
#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    ending: bool,
}

impl Pool {
    /// Starts `threads` threads, which wait for jobs. At most `capacity` jobs wait for a thread.
    pub fn new(threads: usize, capacity: usize) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), capacity });
        let start = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work())
        };
        let workers = (0..threads).map(start).collect();
        Self { shared, workers }
    }

    // ANCHOR: execute
    /// Puts a job into the queue and returns, or gives the job back if the queue is full.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Job> {
        let mut state = self.shared.state.lock().unwrap();
        if state.jobs.len() == self.shared.capacity {
            return Err(Box::new(job));
        }
        state.jobs.push_back(Box::new(job));
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }
    // ANCHOR_END: execute

    /// Runs all accepted jobs, ends the threads, and returns when all threads have ended.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().ending = true;
        self.shared.changed.notify_all(); // the end concerns all workers, a job only one
        for worker in self.workers {
            worker.join().expect("no job ends a worker");
        }
    }
}

impl Shared {
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
}
