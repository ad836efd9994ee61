//! A log that is stopped, and writes what it has accepted: each accepted line is a reservation, and the last
//! one ends the log.
//!
//! This is the only file to edit. `cargo test -p ex24-reservations` checks it.
#![allow(unused)]

use crate::sync::{Arc, Mutex};

/// The queue between clients and writer. The tests give you one; you write none of it.
pub trait Lines: Send + Sync {
    /// Puts a line into the queue. Waits while the queue is full. `Err`: the client was interrupted during
    /// that wait, and the line comes back.
    fn put(&self, line: String) -> Result<(), String>;

    /// Takes the oldest line. Waits while there is none. `None`: a thread has called `wake()`. There may be
    /// lines all the same.
    fn take(&self) -> Option<String>;

    /// Ends the `take()` that waits, or else the next one: that call returns `None`. `wake` itself never
    /// waits.
    fn wake(&self);
}

/// The error that gives back a line that was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// The log is stopped.
    Stopped(String),
    /// The client was interrupted while it waited for room.
    Interrupted(String),
}

/// A log: clients hand lines to it, on any number of threads, and one thread writes them.
pub struct Log {
    lines: Arc<dyn Lines>,
    // What must the log know to tell that it is over?
}

impl Log {
    /// Makes an open log whose lines go through this queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        todo!("keep the queue; the log is open, and no line is owed")
    }

    /// Accepts a line: `Ok` means that it will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        todo!("make a reservation if the log is open, put the line, and think of the put() that fails")
    }

    /// Writes the lines, one after the other, oldest first. Called once, on the thread of the writer. Returns
    /// when the log is stopped and all that was accepted is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        todo!("take a line and write it, until the log is stopped and no reservation is left")
    }

    /// Stops the log: from now on it accepts nothing. Waits for no other thread, and may be called more than
    /// once.
    pub fn stop(&self) {
        todo!("note that the log is stopped, and make sure that the writer hears of it")
    }
}
