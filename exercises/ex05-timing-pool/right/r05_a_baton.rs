//! Right: the book is handed on like a baton. A thread that wants to read or write takes it out of its place, works without a
//! lock, and lays it back; the others wait at a Condvar until it is there.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;

use executor::{Hooks, Outcome, TaskId, TaskInfo};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, thread_local};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What is known of the tasks that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of these tasks.
    pub tasks: u64,
    /// How long they took together.
    pub total: Millis,
}

impl Summary {
    /// How many milliseconds a task took on average; none if there was no task.
    pub fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.total as f64 / self.tasks as f64)
    }
}

/// The tasks that run, each with its beginning, and a summary of those that have ended.
#[derive(Default)]
struct Book {
    began: HashMap<TaskId, Millis>,
    ended: Summary,
}

/// Where the book lies when no thread has it.
struct Baton {
    place: Mutex<Option<Book>>,
    laid_back: Condvar,
}

impl Baton {
    /// Has the book for itself while `f` runs.
    fn with<R>(&self, f: impl FnOnce(&mut Book) -> R) -> R {
        let mut place = self.place.lock().unwrap();
        let mut book = loop {
            match place.take() {
                Some(book) => break book,
                None => place = self.laid_back.wait(place).unwrap(),
            }
        };
        drop(place);
        let result = f(&mut book);
        *self.place.lock().unwrap() = Some(book);
        self.laid_back.notify_one(); // the one that is woken lays it back in turn
        result
    }
}

/// To be given to one pool as its hooks.
pub struct Timing {
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    log: Box<dyn Fn(Summary) + Send + Sync>,
    baton: Baton,
}

impl Timing {
    /// `clock` says what time it is, and never goes back. `log` must be called once, when the pool has run its last task.
    ///
    /// Both are the caller's code: they may ask for the summary. They do not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        let baton = Baton { place: Mutex::new(Some(Book::default())), laid_back: Condvar::new() };
        Self { clock: Box::new(clock), log: Box::new(log), baton }
    }

    /// The tasks that have ended so far. Any thread may ask at any time.
    pub fn summary(&self) -> Summary {
        self.baton.with(|book| book.ended)
    }
}

impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let now = (self.clock)();
        self.baton.with(|book| book.began.insert(task.id, now));
    }

    /// A thread that waits for the task goes on only after this.
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let now = (self.clock)();
        self.baton.with(|book| {
            if let Some(began) = book.began.remove(&task.id) {
                book.ended.tasks += 1;
                book.ended.total += now - began;
            }
        });
    }

    fn terminated(&self) {
        (self.log)(self.summary());
    }
}
