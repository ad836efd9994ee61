//! A pool in which a computation splits itself, and waits for its parts by helping with them.
//!
//! This is the only file to edit. `cargo test -p ex21-helping-join` checks it.
#![allow(unused)]

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread, thread_local};

// ----- Given, and right for jobs that do not wait. Add what the queue and a worker must know besides. -----

/// A closure that a worker calls once.
type Work = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own. Clones are the same pool: a job that calls `join` has
/// one.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when there is work in the queue, or the end has come.
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

    /// Makes a worker run the job some time later. A panic ends the job and nothing else.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.push(Box::new(job));
    }

    /// Ends the pool: every job that was submitted is still run to its end; then every thread ends. Returns
    /// when all threads have ended. Must be called only once, and not by a job.
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

    /// Waits for the oldest work in the queue. `None`: the queue is empty, and the pool is shutting down.
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
    /// Runs both halves, at once if another worker is free, and returns both results. Only a job of this pool
    /// calls it, or a half that such a job has joined. If a half panics, `join` panics in the same way when
    /// neither half can run any more.
    pub fn join<A: Send + 'static, B: Send + 'static>(
        &self,
        a: impl FnOnce() -> A + Send + 'static,
        b: impl FnOnce() -> B + Send + 'static,
    ) -> (A, B) {
        todo!("offer b to the other workers, run a, and then run b, help the worker that runs it, or sleep")
    }
}
