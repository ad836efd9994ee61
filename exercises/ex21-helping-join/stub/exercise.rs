//! A pool for computations that split themselves; a worker that waits for a part of a computation helps with
//! that part.
//!
//! This is the only file to edit. `cargo test -p ex21-helping-join` checks the answer.
#![allow(unused)]

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread, thread_local};

// ----- Given: a pool that works for jobs that do not wait. Add to the queue and the workers what `join`
// needs. -----

/// A closure that a worker calls once.
type Work = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own. A clone is a handle to the same pool; each job that
/// calls `join` has a clone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when there is work in the queue, or the pool is shutting down.
    changed: Condvar,
}

struct State {
    queue: VecDeque<Work>,
    shutting_down: bool,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    /// Starts `threads` threads, which wait for work.
    pub fn new(threads: usize) -> Self {
        let state = State { queue: VecDeque::new(), shutting_down: false, threads: Vec::new() };
        let pool = Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) };
        let start = |_| {
            let pool = pool.clone();
            thread::spawn(move || pool.work())
        };
        let threads = (0..threads).map(start).collect();
        pool.shared.state.lock().unwrap().threads = threads;
        pool
    }

    /// Submits a job; a worker runs it some time later. A panic of a job ends only that job.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.push(Box::new(job));
    }

    /// Ends the pool: the workers run every submitted job to its end, and then every worker thread ends.
    /// Returns when all threads have ended. `shutdown` must be called only once, and a job must not call it.
    pub fn shutdown(&self) {
        let threads = {
            let mut state = self.shared.state.lock().unwrap();
            state.shutting_down = true;
            mem::take(&mut state.threads)
        };
        self.shared.changed.notify_all();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    fn push(&self, work: Work) {
        self.shared.state.lock().unwrap().queue.push_back(work);
        self.shared.changed.notify_one();
    }

    /// The loop of a worker: runs work until the pool has ended.
    fn work(&self) {
        while let Some(work) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(work)));
        }
    }

    /// Waits for the oldest work in the queue. Returns `None` if the queue is empty and the pool is shutting
    /// down.
    fn next(&self) -> Option<Work> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(work) = state.queue.pop_front() {
                return Some(work);
            }
            if state.shutting_down {
                return None;
            }
            state = self.shared.changed.wait(state).unwrap();
        }
    }
}

// ----- Yours. -----

impl Pool {
    /// Runs both halves, at the same time if another worker is free, and returns both results. Only jobs of
    /// this pool, and halves that run in these jobs, call `join`. If a half panics, `join` waits until
    /// neither half can run any more, and panics with the payload of that half.
    pub fn join<A: Send + 'static, B: Send + 'static>(
        &self,
        a: impl FnOnce() -> A + Send + 'static,
        b: impl FnOnce() -> B + Send + 'static,
    ) -> (A, B) {
        todo!("offer b to the other workers, run a, and then run b, help the worker that runs it, or sleep")
    }
}
