//! A log that can be stopped, and that writes each accepted line. Each accepted line is a reservation. A
//! stopped log ends when its last reservation ends.
//!
//! This is the only file to edit. `cargo test -p ex24-reservations` checks the answer.
#![allow(unused)]

use crate::sync::{Arc, Mutex};

/// The queue between the clients and the writer. The tests contain a queue; you do not write it.
pub trait Lines: Send + Sync {
    /// Puts a line into the queue. Waits while the queue is full. Returns `Err` with the line if the client
    /// was interrupted while it waited.
    fn put(&self, line: String) -> Result<(), String>;

    /// Takes the oldest line, and waits while the queue is empty. Returns `None` if a thread has called
    /// `wake()`, even if the queue has lines.
    fn take(&self) -> Option<String>;

    /// Makes one `take()` return `None`: the `take()` that waits, or else the next `take()`. `wake` itself
    /// never waits.
    fn wake(&self);
}

/// The reason why a line was not accepted, with the line.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// Stopped: the log was already stopped.
    Stopped(String),
    /// Interrupted: the client was interrupted while it waited for room in the queue.
    Interrupted(String),
}

/// A log: clients on any number of threads hand lines to it, and one thread writes the lines.
pub struct Log {
    lines: Arc<dyn Lines>,
    // What must the log know to find out that no line is owed any more?
}

impl Log {
    /// Makes an open log whose lines go through the given queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        todo!("keep the queue; the log is open, and no line is owed")
    }

    /// Accepts a line: `Ok` means that the line will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        todo!("make a reservation if the log is open, put the line, and think of the put() that fails")
    }

    /// Writes the lines one after the other, the oldest line first. `run` is called once, on the thread of
    /// the writer. `run` returns when the log is stopped and every accepted line is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        todo!("take a line and write it, until the log is stopped and no reservation is left")
    }

    /// Stops the log: from now on the log accepts no line. `stop` waits for no other thread, and may be
    /// called more than once.
    pub fn stop(&self) {
        todo!("note that the log is stopped, and make sure that the writer hears of it")
    }
}
