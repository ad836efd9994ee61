//! Wrong: each worker has a queue of its own, and execute() deals the jobs out in turn. So it is decided who runs a job before
//! it is known who is free.
//! The learner sees: a job waits behind one that does not end, while the other worker sleeps.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, thread};

/// A job: something to be run once, by some thread.
type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own.
pub struct WorkerPool {
    queues: Vec<Arc<Shared>>,
    executed: AtomicUsize,
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
        let queues: Vec<Arc<Shared>> = (0..threads).map(|_| Arc::default()).collect();
        let start = |shared: &Arc<Shared>| {
            let shared = Arc::clone(shared);
            thread::spawn(move || work(&shared))
        };
        let workers = queues.iter().map(start).collect();
        Self { queues, executed: AtomicUsize::new(0), workers }
    }

    /// Accepts a job and returns at once. Some worker runs the job, in its turn.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let turn = self.executed.fetch_add(1, Ordering::Relaxed) % self.queues.len();
        self.queues[turn].state.lock().unwrap().jobs.push_back(Box::new(job));
        self.queues[turn].changed.notify_one(); // one queue, one worker
    }

    /// Ends the pool: every job accepted so far is still run, then every thread ends. Returns when they are gone.
    pub fn shutdown(self) {
        for shared in &self.queues {
            shared.state.lock().unwrap().shutting_down = true;
            shared.changed.notify_one();
        }
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
            return Some(job);
        }
        if state.shutting_down {
            return None;
        }
        state = shared.changed.wait(state).unwrap();
    }
}
