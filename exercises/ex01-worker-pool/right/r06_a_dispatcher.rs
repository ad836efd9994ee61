//! Right: an extra thread, the dispatcher, takes the jobs out of the queue and gives each job to a free
//! worker. The dispatcher itself runs no job.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

pub struct WorkerPool {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when the dispatcher may have something to do: a job or a free worker has come, or the pool
    /// must end.
    to_dispatch: Condvar,
    /// Notified when a worker may have something to do: a job has come, or the pool must end.
    to_run: Condvar,
}

#[derive(Default)]
struct State {
    accepted: VecDeque<Job>,
    /// True if no more jobs are accepted.
    shutting_down: bool,
    /// The number of workers that wait, minus the number of jobs that are on their way to workers.
    free: usize,
    given_out: VecDeque<Job>,
    /// True if the workers get no more jobs.
    all_given_out: bool,
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let start = |run: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || run(&shared))
        };
        let workers = (0..threads).map(|_| start(work));
        let threads = workers.chain([start(dispatch)]).collect();
        Self { shared, threads }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.state.lock().unwrap().accepted.push_back(Box::new(job));
        self.shared.to_dispatch.notify_one();
    }

    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().shutting_down = true;
        self.shared.to_dispatch.notify_one();
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

fn dispatch(shared: &Shared) {
    let mut state = shared.state.lock().unwrap();
    loop {
        if state.free > 0
            && let Some(job) = state.accepted.pop_front()
        {
            state.free -= 1;
            state.given_out.push_back(job);
            shared.to_run.notify_one();
        } else if state.shutting_down && state.accepted.is_empty() {
            state.all_given_out = true;
            shared.to_run.notify_all();
            return;
        } else {
            state = shared.to_dispatch.wait(state).unwrap();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(job) = next_job(shared) {
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

fn next_job(shared: &Shared) -> Option<Job> {
    let mut state = shared.state.lock().unwrap();
    state.free += 1;
    shared.to_dispatch.notify_one();
    loop {
        if let Some(job) = state.given_out.pop_front() {
            return Some(job);
        }
        if state.all_given_out {
            return None;
        }
        state = shared.to_run.wait(state).unwrap();
    }
}
