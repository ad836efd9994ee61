//! A log that can be stopped, and that writes each accepted line. Each accepted line is a reservation. A
//! stopped log ends when its last reservation ends.
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
    state: Mutex<State>,
}

struct State {
    stopped: bool,
    /// The number of lines that were accepted or are being put, and are not written yet.
    reserved: usize,
}

impl State {
    fn is_over(&self) -> bool {
        self.stopped && self.reserved == 0
    }
}

impl Log {
    /// Makes an open log whose lines go through the given queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: Mutex::new(State { stopped: false, reserved: 0 }) }
    }

    /// Accepts a line: `Ok` means that the line will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        let mut state = self.state.lock().unwrap();
        if state.stopped {
            return Err(Refused::Stopped(line));
        }
        state.reserved += 1;
        drop(state);
        self.lines.put(line).map_err(|line| {
            if self.end_one() {
                self.lines.wake(); // the writer may wait for this line
            }
            Refused::Interrupted(line)
        })
    }

    /// Writes the lines one after the other, the oldest line first. `run` is called once, on the thread of
    /// the writer. `run` returns when the log is stopped and every accepted line is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                write(line);
                self.end_one();
            }
        }
    }

    /// Stops the log: from now on the log accepts no line. `stop` waits for no other thread, and may be
    /// called more than once.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.lines.wake();
    }

    /// Ends a reservation. Returns true if the log is stopped and no reservation is left.
    fn end_one(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        state.reserved -= 1;
        state.is_over()
    }
}
