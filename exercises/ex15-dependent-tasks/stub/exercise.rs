//! A pool whose jobs submit jobs and join them.
//!
//! This is the only file to edit. `cargo test -p ex15-dependent-tasks` checks it.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

/// The job panicked, so there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

// ----- Given, and right as it is: threads and their queue. What else a worker has to know is yours to add. -----

/// What a worker takes out of the queue and calls.
type Entry = Box<dyn FnOnce() + Send>;

/// Runs jobs on a fixed number of threads of its own. Clones are the same pool: a job that submits jobs has one.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is an entry, or the end has come.
    changed: Condvar,
}

struct State {
    entries: VecDeque<Entry>,
    shutting_down: bool,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    /// Starts `threads` threads, which wait for entries.
    pub fn new(threads: usize) -> Self {
        let state = State { entries: VecDeque::new(), shutting_down: false, threads: Vec::new() };
        let pool = Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }) };
        let start = |_| {
            let pool = pool.clone();
            thread::spawn(move || pool.work())
        };
        let threads = (0..threads).map(start).collect();
        pool.shared.state.lock().unwrap().threads = threads;
        pool
    }

    /// Ends the pool: every job that was submitted is still run, and so is what such jobs submit; then every thread ends.
    /// Returns when they are gone. It is called once, and not by a job.
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

    /// Puts an entry into the queue. A worker calls it, in its turn. It must not panic.
    fn enqueue(&self, entry: Entry) {
        self.shared.state.lock().unwrap().entries.push_back(entry);
        self.shared.changed.notify_one();
    }

    /// What a worker does.
    fn work(&self) {
        while let Some(entry) = self.next_entry() {
            entry();
        }
    }

    /// Waits for an entry. `None`: the queue is empty and stays so.
    fn next_entry(&self) -> Option<Entry> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(entry) = state.entries.pop_front() {
                return Some(entry);
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
    /// Accepts a job and returns at once. Whoever claims it first runs it: a worker in its turn, or one that joins it.
    pub fn submit<T: Clone + Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        todo!("put the job where both a worker and its handles find it")
    }
}

/// A job, from the side of those who wait for it. Clones are handles of the same job.
#[derive(Clone)]
pub struct Handle<T> {
    pool: Pool,
    job: Arc<Job<T>>,
}

/// The queue and the handles share it.
struct Job<T> {
    // What can be true of a job, and what has to be seen and changed in one step?
    result: Option<Result<T, Panicked>>,
}

impl<T: Clone + Send + 'static> Handle<T> {
    /// Returns the job's result when it has ended, each time it is called. A worker of the job's pool that finds the job not
    /// yet begun runs it itself; everybody else, and a worker if the job runs already, sleeps until it has ended.
    pub fn join(&self) -> Result<T, Panicked> {
        todo!("run the job if that is yours to do, or wait for its end")
    }
}
