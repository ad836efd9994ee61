//! Right: the count and the flag are one atomic number, with the flag in the lowest bit. So one step reads or
//! changes the count and the flag, without a lock.
#![allow(unused)]

use crate::sync::Arc;
use crate::sync::atomic::{AtomicUsize, Ordering};

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
    /// `STOPPED` if the log is stopped, plus `ONE` for each line that is accepted or being put and is not
    /// written yet.
    state: AtomicUsize,
}

const STOPPED: usize = 1;
const ONE: usize = 2;

impl Log {
    /// Makes an open log whose lines go through the given queue.
    pub fn new(lines: Arc<dyn Lines>) -> Self {
        Self { lines, state: AtomicUsize::new(0) }
    }

    /// Accepts a line: `Ok` means that the line will be written. Waits while the queue is full.
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

    /// Writes the lines one after the other, the oldest line first. `run` is called once, on the thread of
    /// the writer. `run` returns when the log is stopped and every accepted line is written.
    pub fn run(&self, mut write: impl FnMut(String)) {
        while self.state.load(Ordering::SeqCst) != STOPPED {
            if let Some(line) = self.lines.take() {
                write(line);
                self.end_one();
            }
        }
    }

    /// Stops the log: from now on the log accepts no line. `stop` waits for no other thread, and may be
    /// called more than once.
    pub fn stop(&self) {
        self.state.fetch_or(STOPPED, Ordering::SeqCst);
        self.lines.wake();
    }

    /// Ends a reservation. Returns true if the log is stopped and no reservation is left.
    fn end_one(&self) -> bool {
        self.state.fetch_sub(ONE, Ordering::SeqCst) == STOPPED | ONE
    }
}
