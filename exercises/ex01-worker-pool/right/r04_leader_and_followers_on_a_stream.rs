//! Right: the queue is a linked list of cells, each filled once. One worker, the leader, holds the lock of the
//! list's head and sleeps until the next cell is filled; the others wait for that lock.
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

enum Content {
    /// Not written yet.
    Blank,
    /// A job, and where the stream goes on.
    Job(Job, Arc<Cell>),
    /// The stream goes on nowhere.
    End,
}

struct Cell {
    content: Mutex<Content>,
    written: Condvar,
}

impl Cell {
    fn blank() -> Arc<Cell> {
        Arc::new(Cell { content: Mutex::new(Content::Blank), written: Condvar::new() })
    }

    fn write(&self, content: Content) {
        *self.content.lock().unwrap() = content;
        self.written.notify_one(); // only the leader ever waits here
    }

    /// Waits until it is written and takes out what was written. The end stays, for the other workers.
    fn read(&self) -> Option<(Job, Arc<Cell>)> {
        let mut content = self.content.lock().unwrap();
        loop {
            match std::mem::replace(&mut *content, Content::Blank) {
                Content::Blank => content = self.written.wait(content).unwrap(),
                Content::Job(job, next) => return Some((job, next)),
                Content::End => {
                    *content = Content::End;
                    return None;
                }
            }
        }
    }
}

pub struct WorkerPool {
    /// The cell that will be written next.
    tail: Mutex<Arc<Cell>>,
    handles: Vec<thread::JoinHandle<()>>,
}

/// Becomes the leader, waits for a job, and lets another worker be the leader.
fn next(head: &Mutex<Arc<Cell>>) -> Option<Job> {
    let mut head = head.lock().unwrap();
    let (job, next) = head.read()?;
    *head = next;
    Some(job)
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let first = Cell::blank();
        let head = Arc::new(Mutex::new(Arc::clone(&first)));
        let handles = (0..threads)
            .map(|_| {
                let head = Arc::clone(&head);
                thread::spawn(move || {
                    while let Some(job) = next(&head) {
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
            })
            .collect();
        WorkerPool { tail: Mutex::new(first), handles }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        let next = Cell::blank();
        let mut tail = self.tail.lock().unwrap();
        let last = std::mem::replace(&mut *tail, Arc::clone(&next));
        last.write(Content::Job(job, next)); // under the lock of the tail; the leader never wants that one
    }

    pub fn shutdown(self) {
        self.tail.lock().unwrap().write(Content::End);
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
