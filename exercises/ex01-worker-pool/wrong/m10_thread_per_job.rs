
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex, thread};

pub struct WorkerPool {
    workers: Mutex<Vec<thread::JoinHandle<()>>>,
}

impl WorkerPool {
    pub fn new(_threads: usize) -> Self {
        Self { workers: Mutex::default() }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let worker = thread::spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(job));
        });
        self.workers.lock().unwrap().push(worker);
    }

    pub fn shutdown(self) {
        for worker in self.workers.into_inner().unwrap() {
            worker.join().unwrap();
        }
    }
}
