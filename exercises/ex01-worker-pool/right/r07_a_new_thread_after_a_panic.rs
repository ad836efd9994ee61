//! Right: a worker whose job has panicked ends, and a new thread takes its place. The handles are behind a lock, and
//! shutdown() joins threads until there is no handle left.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

pub struct WorkerPool {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a job has come, or when the pool must end.
    changed: Condvar,
    /// A thread that replaces a worker is added here before that worker has ended.
    workers: Mutex<Vec<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    shutting_down: bool,
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        (0..threads).for_each(|_| start(&shared));
        Self { shared }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().jobs.push_back(Box::new(job));
        self.shared.changed.notify_one();
    }

    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().shutting_down = true;
        self.shared.changed.notify_all();
        let next = || self.shared.workers.lock().unwrap().pop(); // the lock is free while we wait
        while let Some(worker) = next() {
            worker.join().unwrap();
        }
    }
}

fn start(shared: &Arc<Shared>) {
    let mine = Arc::clone(shared);
    let worker = thread::spawn(move || work(&mine));
    shared.workers.lock().unwrap().push(worker);
}

fn work(shared: &Arc<Shared>) {
    while let Some(job) = next_job(shared) {
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            return start(shared);
        }
    }
}

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
