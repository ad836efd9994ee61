//! Step 5: a user can give the pool a queue that the user has written. The user's queue decides how many jobs
//! wait, and which job is next.
//!
//! The faults of this step: a job has no result, and for each job the pool locks a mutex and allocates a box.
//! The library continues from this step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

pub type Job = Box<dyn FnOnce() + Send>;

// ANCHOR: queue
/// The place where jobs wait. The pool calls the queue under the pool's lock. So a queue needs no lock of its
/// own, and must neither call the pool nor panic.
pub trait Queue: Send {
    /// Accepts a job, or gives the job back if there is no room.
    fn push(&mut self, job: Job) -> Result<(), Job>;

    /// Takes out the job that runs next.
    fn pop(&mut self) -> Option<Job>;
}
// ANCHOR_END: queue

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// The condition variable that announces another job, or the end of the pool.
    changed: Condvar,
}

/// The state from which a worker sees what to do next. One lock guards both fields, so a worker never sees a
/// change of only one field.
struct State {
    jobs: Box<dyn Queue>,
    ending: bool,
}

impl Pool {
    /// Starts `threads` threads, which wait for jobs.
    pub fn new(threads: usize, jobs: impl Queue + 'static) -> Self {
        let state = Mutex::new(State { jobs: Box::new(jobs), ending: false });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let start = |_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work())
        };
        let workers = (0..threads).map(start).collect();
        Self { shared, workers }
    }

    // ANCHOR: execute
    /// Puts a job into the queue and returns, or gives the job back if the queue refuses it.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Job> {
        self.shared.state.lock().unwrap().jobs.push(Box::new(job))?;
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
            if let Some(job) = state.jobs.pop() {
                return Some(job);
            }
            if state.ending {
                return None;
            }
            state = self.changed.wait(state).unwrap(); // sleeps without the lock
        }
    }
}
