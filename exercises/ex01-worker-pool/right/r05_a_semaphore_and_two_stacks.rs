//! Right: a counting semaphore says how many jobs there are, and two stacks are the queue. shutdown() adds a
//! permit for each worker: a permit and no job means the end.
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

struct Permits {
    free: Mutex<usize>,
    more: Condvar,
}

impl Permits {
    fn release(&self) {
        *self.free.lock().unwrap() += 1;
        self.more.notify_one();
    }

    fn acquire(&self) {
        let mut free = self.free.lock().unwrap();
        while *free == 0 {
            free = self.more.wait(free).unwrap();
        }
        *free -= 1;
    }
}

/// First in, first out: what comes is put on one stack, what goes is taken from the other, and when that is empty the
/// first one is turned over.
#[derive(Default)]
struct TwoStacks {
    come: Vec<Job>,
    go: Vec<Job>,
}

impl TwoStacks {
    fn pop(&mut self) -> Option<Job> {
        if self.go.is_empty() {
            std::mem::swap(&mut self.come, &mut self.go);
            self.go.reverse();
        }
        self.go.pop()
    }
}

struct Shared {
    /// One for each job in the queue, given after the job is there; and at the end one more for each worker.
    permits: Permits,
    queue: Mutex<TwoStacks>,
}

pub struct WorkerPool {
    shared: Arc<Shared>,
    handles: Vec<thread::JoinHandle<()>>,
}

fn next(shared: &Shared) -> Option<Job> {
    shared.permits.acquire();
    shared.queue.lock().unwrap().pop()
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            permits: Permits { free: Mutex::new(0), more: Condvar::new() },
            queue: Mutex::new(TwoStacks::default()),
        });
        let handles = (0..threads)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    while let Some(job) = next(&shared) {
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
            })
            .collect();
        WorkerPool { shared, handles }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        self.shared.queue.lock().unwrap().come.push(job);
        self.shared.permits.release();
    }

    pub fn shutdown(self) {
        for _ in &self.handles {
            self.shared.permits.release();
        }
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
