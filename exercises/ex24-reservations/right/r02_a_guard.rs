//! Right: A reservation is a value. Its drop ends it, wherever that is: in the client if put() fails, and in the writer when the line is written.
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
        let Some(reservation) = Reservation::make(self) else { return Err(Refused::Stopped(line)) };
        match self.lines.put(line) {
            Ok(()) => {
                std::mem::forget(reservation); // it goes along with the line
                Ok(())
            }
            Err(line) => Err(Refused::Interrupted(line)),
        }
    }

    /// Writes the lines, one after the other, oldest first. Called once, on the thread of the writer. Returns when the log is
    /// stopped and all that was accepted is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                let _ends = Reservation(self);
                write(line);
            }
        }
    }

    /// Stops the log: from now on it accepts nothing. Waits for no other thread, and may be called more than once.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.lines.wake();
    }
}

struct Reservation<'a>(&'a Log);

impl<'a> Reservation<'a> {
    fn make(log: &'a Log) -> Option<Self> {
        let mut state = log.state.lock().unwrap();
        if state.stopped {
            return None;
        }
        state.reserved += 1;
        Some(Self(log))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        state.reserved -= 1;
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.0.lines.wake();
        }
    }
}
