//! The records of the tasks, which show that each task has either run once or been dropped once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The fate of each task.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) made: AtomicU64,
    pub(crate) ran: AtomicU64,
    pub(crate) ran_by_pool: AtomicU64,
    pub(crate) dropped_unrun: AtomicU64,
}

/// The record of one task: it counts the run of the task, or the drop of a task that has not run.
pub(crate) struct Entry {
    books: Arc<Books>,
    ran: bool,
}

impl Entry {
    pub(crate) fn new(books: &Arc<Books>) -> Self {
        books.made.fetch_add(1, SeqCst);
        Self { books: Arc::clone(books), ran: false }
    }

    pub(crate) fn run(mut self, what: u64) -> u64 {
        self.ran = true;
        self.books.ran.fetch_add(1, SeqCst);
        if std::thread::current().name().is_some_and(|name| name.starts_with("stress-")) {
            self.books.ran_by_pool.fetch_add(1, SeqCst);
        }
        match what % 16 {
            0 => std::panic::resume_unwind(Box::new("on purpose")), // without calling the panic hook
            1 => std::thread::yield_now(),
            2 => drop(executor::CancelToken::current().sleep(Duration::from_micros(200))),
            _ => {}
        }
        what
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.ran {
            self.books.dropped_unrun.fetch_add(1, SeqCst);
        }
    }
}

impl Books {
    /// Asserts that each task has run or was dropped without a run, and returns the number of tasks. If a
    /// time limit has cancelled a task, the timer's thread drops the task, and no executor waits until that
    /// has happened.
    pub(crate) fn close(&self, seed: u64) -> u64 {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let [made, ran, dropped] =
                [&self.made, &self.ran, &self.dropped_unrun].map(|count| count.load(SeqCst));
            if ran + dropped == made {
                return made;
            }
            assert!(
                Instant::now() < deadline,
                "seed {seed}: {made} tasks, {ran} ran, {dropped} were dropped"
            );
            std::thread::yield_now();
        }
    }
}
