//! Step 5: a queue of one's own. It decides how many jobs wait, and which is next.
//!
//! What is wrong with it: a job has no result, and what each job costs. That is where the library begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

pub type Job = Box<dyn FnOnce() + Send>;

// ANCHOR: queue
/// Where jobs wait. The pool calls it under its lock: it needs no lock of its own, may not call the pool, and may not
/// panic.
pub trait Queue: Send {
    /// Takes a job in, or gives it back if there is no room.
    fn push(&mut self, job: Job) -> Result<(), Job>;

    /// Takes out the job that is to be run next.
    fn pop(&mut self) -> Option<Job>;
}
// ANCHOR_END: queue

pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// There is another job, or the end has come.
    changed: Condvar,
}

/// What a worker decides on, behind one lock: it never sees one without the other.
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
    /// Puts a job into the queue and returns, or gives it back if the queue does not want it.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Job> {
        self.shared.state.lock().unwrap().jobs.push(Box::new(job))?;
        self.shared.changed.notify_one();
        Ok(())
    }
    // ANCHOR_END: execute

    /// Runs what was accepted, ends the threads, and returns when they are gone.
    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().ending = true;
        self.shared.changed.notify_all(); // a job concerns one worker, the end all of them
        for worker in self.workers {
            worker.join().expect("no job ends a worker");
        }
    }
}

impl Shared {
    /// What a worker does.
    fn work(&self) {
        while let Some(job) = self.next_job() {
            let outcome = catch_unwind(AssertUnwindSafe(job)); // the lock is free here
            drop(outcome); // the panic has printed its message already
        }
    }

    /// Waits for a job. `None` means that there is none and will be none.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(job) = state.jobs.pop() {
                return Some(job);
            }
            if state.ending {
                return None;
            }
            state = self.changed.wait(state).unwrap(); // asleep, and without the lock
        }
    }
}
