//! Right: a reservation is a value. Dropping the value ends the reservation. If put() fails, the client drops
//! the value. If put() succeeds, the writer drops the value when the line is written.
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
        let Some(reservation) = Reservation::make(self) else { return Err(Refused::Stopped(line)) };
        match self.lines.put(line) {
            Ok(()) => {
                std::mem::forget(reservation); // it goes along with the line
                Ok(())
            }
            Err(line) => Err(Refused::Interrupted(line)),
        }
    }

    /// Writes the lines one after the other, the oldest line first. `run` is called once, on the thread of
    /// the writer. `run` returns when the log is stopped and every accepted line is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while !self.state.lock().unwrap().is_over() {
            if let Some(line) = self.lines.take() {
                let _ends = Reservation(self);
                write(line);
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
