//! Wrong: between the look at the job and the wait for its end the lock is free, and just then the job ends.
//! The learner sees: the wake-up is lost.
#![allow(unused)]

use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread, thread_local};

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

thread_local! {
    /// The pool whose worker this thread is, as an address.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
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
        WORKS_FOR.with(|pool| pool.set(self.address()));
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
        let job = Arc::new(Job { stage: Mutex::new(Stage::New(Box::new(work))), ended: Condvar::new() });
        let queued = Arc::clone(&job);
        self.enqueue(Box::new(move || queued.run_unless_begun()));
        Handle { pool: self.clone(), job }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Whether the calling thread is one of this pool's workers.
    fn is_mine(&self) -> bool {
        WORKS_FOR.with(Cell::get) == self.address()
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
    stage: Mutex<Stage<T>>,
    ended: Condvar,
}

enum Stage<T> {
    New(Box<dyn FnOnce() -> T + Send>),
    Running,
    Ended(Result<T, Panicked>),
}

impl<T: Clone + Send + 'static> Handle<T> {
    /// Returns the job's result when it has ended, each time it is called. A worker of the job's pool that finds the job not
    /// yet begun runs it itself; everybody else, and a worker if the job runs already, sleeps until it has ended.
    pub fn join(&self) -> Result<T, Panicked> {
        if self.pool.is_mine() {
            self.job.run_unless_begun();
        }
        loop {
            if let Stage::Ended(outcome) = &*self.job.stage.lock().unwrap() {
                return outcome.clone();
            }
            let stage = self.job.stage.lock().unwrap();
            drop(self.job.ended.wait(stage).unwrap());
        }
    }
}

impl<T> Job<T> {
    /// Claims the job and runs it. Does nothing if somebody else has claimed it.
    fn run_unless_begun(&self) {
        let Some(work) = self.claim() else { return };
        // No lock is held here. A panic is the job's own affair, and not of the one on whose stack it runs.
        let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
        *self.stage.lock().unwrap() = Stage::Ended(outcome);
        self.ended.notify_all();
    }

    /// Looks and takes under one lock: of all who try, one gets it.
    fn claim(&self) -> Option<Box<dyn FnOnce() -> T + Send>> {
        let mut stage = self.stage.lock().unwrap();
        match mem::replace(&mut *stage, Stage::Running) {
            Stage::New(work) => Some(work),
            begun => {
                *stage = begun;
                None
            }
        }
    }
}
