//! Right: Each interrupted client wakes the writer, also one that was not the last, or of an open log. The writer looks, and waits again.
#![allow(unused)]

use crate::sync::{Arc, Mutex};

/// The queue between clients and writer. The tests give you one; nothing of it is yours to write.
pub trait Lines: Send + Sync {
    /// Puts a line into the queue. Waits while the queue is full. `Err`: the client was interrupted during that wait, and the
    /// line comes back.
    fn put(&self, line: String) -> Result<(), String>;

    /// Takes the oldest line; waits while there is none. `None`: a thread called `wake()`, even if lines wait.
    fn take(&self) -> Option<String>;

    /// Ends the `take()` that waits, or else the next one: it returns `None`. Waits for nothing.
    fn wake(&self);
}

/// A line that was not accepted. It comes back.
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
    state: Mutex<State>,
}

struct State {
    stopped: bool,
    /// Lines that were accepted, or are being put, and are not written yet.
    reserved: usize,
}

impl State {
    fn is_over(&self) -> bool {
        self.stopped && self.reserved == 0
    }
}

impl Log {
    /// Makes a log whose lines go through this queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: Mutex::new(State { stopped: false, reserved: 0 }) }
    }

    /// Accepts a line: `Ok` means that it will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        let mut state = self.state.lock().unwrap();
        if state.stopped {
            return Err(Refused::Stopped(line));
        }
        state.reserved += 1;
        drop(state);
        self.lines.put(line).map_err(|line| {
            self.end_one();
            self.lines.wake();
            Refused::Interrupted(line)
        })
    }

    /// Writes the lines, one after the other, oldest first. Called once, on the thread of the writer. Returns when the log is
    /// stopped and all that was accepted is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                write(line);
                self.end_one();
            }
        }
    }

    /// Stops the log: from now on it accepts nothing. Waits for no other thread, and may be called more than once.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.lines.wake();
    }

    /// Ends a reservation. Returns whether that was the last one of a log that is stopped.
    fn end_one(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.reserved -= 1;
        state.is_over()
    }
}
