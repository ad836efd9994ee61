//! The pools over which the properties build the learner's executor.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{expect, step};

use super::super::exercise::{Pool, Runnable};
use crate::below::on_a_thread;
use crate::probe::{Shared, others_come_to_rest};
use crate::sync::{Arc, thread};

/// Calls an entry and catches its panic, so that a panic does not end the thread.
fn call(entry: Runnable) {
    drop(catch_unwind(AssertUnwindSafe(entry)));
}

#[derive(Default)]
struct Queue {
    entries: VecDeque<Runnable>,
    refuses_next: bool,
    is_stopped: bool,
}

impl Queue {
    fn put(&mut self, entry: Runnable) -> Result<(), Runnable> {
        if mem::take(&mut self.refuses_next) || self.is_stopped {
            return Err(entry);
        }
        self.entries.push_back(entry);
        Ok(())
    }

    fn stop(&mut self) -> Vec<Runnable> {
        self.is_stopped = true;
        mem::take(&mut self.entries).into()
    }
}

/// A pool without threads of its own: the property decides which thread calls which entry.
#[derive(Default)]
pub struct Desk(Shared<Queue>);

impl Desk {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Makes the pool refuse the next entry.
    pub fn refuse_next(&self) {
        self.0.with(|queue| queue.refuses_next = true);
    }

    pub fn is_stopped(&self) -> bool {
        self.0.with(|queue| queue.is_stopped)
    }

    /// Takes the oldest entry out of the queue, as a thread of the pool does.
    pub fn take(&self) -> Option<Runnable> {
        self.0.with(|queue| queue.entries.pop_front())
    }

    /// Calls the oldest entry on the test's thread.
    pub fn call_one(&self, cause: &str) {
        if let Some(entry) = self.take() {
            call_here(entry, cause);
        }
    }

    /// Calls all entries of the queue on the test's thread.
    pub fn call_all(&self, cause: &str) {
        while let Some(entry) = self.take() {
            call_here(entry, cause);
        }
    }
}

/// Calls an entry on the test's thread.
pub fn call_here(entry: Runnable, cause: &str) {
    step("a thread of the pool calls an entry");
    expect("an entry that a thread of the pool calls", cause, || call(entry));
}

/// Calls an entry on a new thread.
pub fn call_elsewhere(number: usize, entry: Runnable) -> thread::JoinHandle<()> {
    on_a_thread(&pool_thread(number), Box::new(move || call(entry)))
}

fn pool_thread(number: usize) -> String {
    format!("pool thread {}", number + 1)
}

impl Pool for Desk {
    fn execute(&self, entry: Runnable) -> Result<(), Runnable> {
        self.0.with(|queue| queue.put(entry))
    }

    fn shutdown_now(&self) -> Vec<Runnable> {
        step("the pool is stopped");
        self.0.with(Queue::stop)
    }
}

/// A pool with a new thread for each entry, so that each thread takes at most one entry.
#[derive(Default)]
pub struct Threads {
    queue: Arc<Shared<Queue>>,
    threads: Shared<Vec<thread::JoinHandle<()>>>,
    is_quick: bool,
}

impl Threads {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Makes a pool whose threads run as far as they can before `execute` returns. On real threads, `execute`
    /// may return earlier.
    pub fn quick() -> Arc<Self> {
        Arc::new(Self { is_quick: true, ..Self::default() })
    }

    /// Waits until the threads of the pool have ended.
    pub fn join(&self, cause: &str) {
        expect("the threads of the pool", cause, || {
            while let Some(thread) = self.threads.with(Vec::pop) {
                drop(thread.join());
            }
        });
    }
}

impl Pool for Threads {
    fn execute(&self, entry: Runnable) -> Result<(), Runnable> {
        self.queue.with(|queue| queue.put(entry))?;
        let queue = Arc::clone(&self.queue);
        let works = move || {
            if let Some(entry) = queue.with(|queue| queue.entries.pop_front()) {
                thread::yield_now(); // taken from the queue, and not called yet
                call(entry);
            }
        };
        self.threads.with(|threads| {
            let name = pool_thread(threads.len());
            threads.push(on_a_thread(&name, Box::new(works)));
        });
        if self.is_quick {
            others_come_to_rest();
        }
        Ok(())
    }

    fn shutdown_now(&self) -> Vec<Runnable> {
        step("the pool is stopped");
        self.queue.with(Queue::stop)
    }
}
