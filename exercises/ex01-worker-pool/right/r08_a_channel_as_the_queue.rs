//! Right: the queue is a channel whose receiver the workers share. Dropping the sender ends the workers:
//! recv() first returns the jobs that were sent, and then reports that no sender is left.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::mpsc::{self, Receiver, Sender};
use crate::sync::{Arc, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

pub struct WorkerPool {
    workers: Vec<Worker>,
    /// `None` once the pool has begun to end.
    sender: Option<Sender<Job>>,
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let workers = (0..threads).map(|number| Worker::new(number, Arc::clone(&receiver))).collect();
        Self { workers, sender: Some(sender) }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let sender = self.sender.as_ref().expect("only shutdown takes it");
        sender.send(Box::new(job)).expect("the workers have the receiver");
    }

    pub fn shutdown(self) {} // Drop does the work
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        drop(self.sender.take());
        for worker in self.workers.drain(..) {
            worker.thread.join().expect("a worker catches panics");
        }
    }
}

struct Worker {
    thread: thread::JoinHandle<()>,
}

impl Worker {
    fn new(number: usize, jobs: Arc<Mutex<Receiver<Job>>>) -> Self {
        let work = move || {
            loop {
                let message = jobs.lock().expect("no job runs under the lock").recv(); // the lock is released at the end of this line
                let Ok(job) = message else { break };
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let builder = thread::Builder::new().name(format!("worker {number}"));
        Self { thread: builder.spawn(work).expect("the system gives a thread") }
    }
}
