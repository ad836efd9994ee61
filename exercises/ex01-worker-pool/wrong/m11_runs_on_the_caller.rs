
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

pub struct WorkerPool;

impl WorkerPool {
    pub fn new(_threads: usize) -> Self {
        Self
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let _ = catch_unwind(AssertUnwindSafe(job));
    }

    pub fn shutdown(self) {}
}
