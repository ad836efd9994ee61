#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

struct State {
    queue: VecDeque<Job>,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

pub struct WorkerPool {
    shared: Arc<Shared>,
    handles: Vec<thread::JoinHandle<()>>,
}

fn work(shared: &Shared) {
    loop {
        let mut state = shared.state.lock().unwrap();
        let job = loop {
            if let Some(job) = state.queue.pop_front() {
                break job;
            }
            if state.closed {
                return;
            }
            state = shared.work.wait(state).unwrap();
        };
        drop(state);
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State { queue: VecDeque::new(), closed: false }),
            work: Condvar::new(),
        });
        let handles = (0..threads)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || work(&shared))
            })
            .collect();
        WorkerPool { shared, handles }
    }

    /// It has to return at once, so it must not wait for a lock.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        if let Ok(mut state) = self.shared.state.try_lock() {
            state.queue.push_back(Box::new(job));
            drop(state);
            self.shared.work.notify_one();
        }
    }

    pub fn shutdown(self) {
        self.shared.state.lock().unwrap().closed = true;
        self.shared.work.notify_all();
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
