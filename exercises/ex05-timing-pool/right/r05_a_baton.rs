//! Right: the state, called the book, goes from thread to thread like a baton. A thread takes the book, works
//! on it without a lock, and puts it back; meanwhile other threads wait on a Condvar.
#![allow(unused)]

use std::cell::Cell;
use std::collections::HashMap;

use executor::{Hooks, Outcome, TaskId, TaskInfo};

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, thread_local};

/// Milliseconds: a time on the clock, or the difference of two times.
pub type Millis = u64;

/// The number of the tasks that have ended, and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// The number of tasks that have ended.
    pub tasks: u64,
    /// The total time of all tasks that have ended.
    pub total: Millis,
}

impl Summary {
    /// The average number of milliseconds that a task took; `None` if there was no task.
    pub fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.total as f64 / self.tasks as f64)
    }
}

/// The tasks that run, each with the time at which it began, and a summary of the tasks that have ended.
#[derive(Default)]
struct Book {
    began: HashMap<TaskId, Millis>,
    ended: Summary,
}

/// The place where the book is while no thread has it.
struct Baton {
    place: Mutex<Option<Book>>,
    laid_back: Condvar,
}

impl Baton {
    /// Takes the book, runs `f` with it, and puts the book back.
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
        self.laid_back.notify_one(); // the woken thread puts the book back and notifies the next
        result
    }
}

/// The hooks that count and time the tasks of one pool.
pub struct Timing {
    clock: Box<dyn Fn() -> Millis + Send + Sync>,
    log: Box<dyn Fn(Summary) + Send + Sync>,
    baton: Baton,
}

impl Timing {
    /// `clock` returns the time, and never goes back. `log` must be called once, when the pool has run its
    /// last task.
    ///
    /// Both closures are the caller's code, and they may ask for the summary. The closures must not panic.
    pub fn new(
        clock: impl Fn() -> Millis + Send + Sync + 'static,
        log: impl Fn(Summary) + Send + Sync + 'static,
    ) -> Self {
        let baton = Baton { place: Mutex::new(Some(Book::default())), laid_back: Condvar::new() };
        Self { clock: Box::new(clock), log: Box::new(log), baton }
    }

    /// Returns the summary of the tasks that have ended so far. Any thread may call `summary` at any time.
    pub fn summary(&self) -> Summary {
        self.baton.with(|book| book.ended)
    }
}

impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let now = (self.clock)();
        self.baton.with(|book| book.began.insert(task.id, now));
    }

    /// The threads that wait for the task go on waiting until this method has returned.
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
