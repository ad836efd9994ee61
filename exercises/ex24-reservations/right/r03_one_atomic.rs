//! Right: The count and the flag are one atomic number, with the flag in its lowest bit: both change and are seen in one step, without a lock.
#![allow(unused)]

use crate::sync::Arc;
use crate::sync::atomic::{AtomicUsize, Ordering};

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
    /// `STOPPED`, and `ONE` for each line that was accepted, or is being put, and is not written yet.
    state: AtomicUsize,
}

const STOPPED: usize = 1;
const ONE: usize = 2;

impl Log {
    /// Makes a log whose lines go through this queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: AtomicUsize::new(0) }
    }

    /// Accepts a line: `Ok` means that it will be written. Waits while the queue is full.
    pub fn log(&self, line: String) -> Result<(), Refused> {
        let one_more = |state| (state & STOPPED == 0).then_some(state + ONE);
        if self.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_err() {
            return Err(Refused::Stopped(line));
        }
        self.lines.put(line).map_err(|line| {
            if self.end_one() {
                self.lines.wake(); // the writer may wait for this line
            }
            Refused::Interrupted(line)
        })
    }

    /// Writes the lines, one after the other, oldest first. Called once, on the thread of the writer. Returns when the log is
    /// stopped and all that was accepted is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while self.state.load(Ordering::SeqCst) != STOPPED {
            if let Some(line) = self.lines.take() {
                write(line);
                self.end_one();
            }
        }
    }

    /// Stops the log: from now on it accepts nothing. Waits for no other thread, and may be called more than once.
    pub fn stop(&self) {
        self.state.fetch_or(STOPPED, Ordering::SeqCst);
        self.lines.wake();
    }

    /// Ends a reservation. Returns whether that was the last one of a log that is stopped.
    fn end_one(&self) -> bool {
        self.state.fetch_sub(ONE, Ordering::SeqCst) == STOPPED | ONE
    }
}
