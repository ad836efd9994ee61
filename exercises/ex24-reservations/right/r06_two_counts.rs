//! Right: Two counts: clients that are in put(), and lines that they have put. A client moves its line from one to the other after put(), perhaps when it is written already; so it may be the client that ends the log.
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
    /// Clients that are in put().
    putting: usize,
    /// Lines that clients have put, less those that are written: below zero while the writer is the faster one.
    waiting: isize,
}

impl State {
    fn is_over(&self) -> bool {
        self.stopped && self.putting == 0 && self.waiting == 0
    }
}

impl Log {
    /// Makes a log whose lines go through this queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: Mutex::new(State { stopped: false, putting: 0, waiting: 0 }) }
    }

    /// Accepts a line: `Ok` means that it will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        let mut state = self.state.lock().unwrap();
        if state.stopped {
            return Err(Refused::Stopped(line));
        }
        state.putting += 1;
        drop(state);
        let put = self.lines.put(line);
        let mut state = self.state.lock().unwrap();
        state.putting -= 1;
        state.waiting += isize::from(put.is_ok());
        if state.is_over() {
            self.lines.wake(); // also after a line that was put: the writer may have written it already
        }
        drop(state);
        put.map_err(Refused::Interrupted)
    }

    /// Writes the lines, one after the other, oldest first. Called once, on the thread of the writer. Returns when the log is
    /// stopped and all that was accepted is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                write(line);
                self.state.lock().unwrap().waiting -= 1;
            }
        }
    }

    /// Stops the log: from now on it accepts nothing. Waits for no other thread, and may be called more than once.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.lines.wake();
    }
}
