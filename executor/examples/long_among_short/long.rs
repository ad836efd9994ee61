//! A long task that shares a pool with short tasks.

use executor::{Latch, ThreadPoolExecutor, prelude::*};
use std::sync::{Arc, mpsc};
use std::time::Duration;

// ANCHOR: long
/// A task that waits for the answer of another server.
#[derive(Clone)]
pub struct Long {
    pub pool: Arc<ThreadPoolExecutor>,
    pub answer: Arc<Latch>,
    pub limit: Duration,
    pub requeues: bool,
    pub ends: mpsc::Sender<&'static str>,
}

impl Long {
    fn run(self) {
        let end = match self.answer.wait_timeout(self.limit) {
            Ok(()) => "answered",
            Err(_) if self.requeues => "requeued",
            Err(_) => "failed",
        };
        self.ends.send(end).expect("it is received until the last task has ended");
        if end == "requeued" {
            self.submit(); // behind the tasks that are in the queue by now
        }
    }
    // ANCHOR_END: long

    pub fn submit(self) {
        let pool = Arc::clone(&self.pool);
        pool.execute(move || self.run()).expect("the queue has no bound");
    }
}
