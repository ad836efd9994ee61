//! Right: one count is for the clients in put(), and another count is for the lines that clients have put.
//! After put(), a client moves its line from the first count to the second. The writer may already have
//! written the line, so a client can be the thread that ends the log.
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
    /// The number of clients that are in put().
    putting: usize,
    /// The number of lines that clients have put, minus the number of written lines. The number is below zero
    /// if a line is written before its client has counted it.
    waiting: isize,
}

impl State {
    fn is_over(&self) -> bool {
        self.stopped && self.putting == 0 && self.waiting == 0
    }
}

impl Log {
    /// Makes an open log whose lines go through the given queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: Mutex::new(State { stopped: false, putting: 0, waiting: 0 }) }
    }

    /// Accepts a line: `Ok` means that the line will be written. Waits while the queue is full.
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

    /// Writes the lines one after the other, the oldest line first. `run` is called once, on the thread of
    /// the writer. `run` returns when the log is stopped and every accepted line is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                write(line);
                self.state.lock().unwrap().waiting -= 1;
            }
        }
    }

    /// Stops the log: from now on the log accepts no line. `stop` waits for no other thread, and may be
    /// called more than once.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.lines.wake();
    }
}
