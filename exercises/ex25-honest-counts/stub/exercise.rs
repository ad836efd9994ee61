//! The queue of a logger: it drops lines by a policy when it is full, reports where lines are missing, and
//! counts all lines.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;

use crate::sync::{Condvar, Mutex};

/// The policy for a line for which the queue has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Block: put() waits until there is room, or until the queue is stopped.
    Block,
    /// DropNewest: if there is no room, the new line is dropped.
    DropNewest,
    /// DropOldest: the oldest waiting line that was put with `DropOldest` is dropped to make room. If no
    /// waiting line was put with `DropOldest`, the new line is dropped.
    DropOldest,
}

/// The reason why a line was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLogged {
    /// The line was dropped, because there was no room.
    Full,
    /// The line was refused, because the queue has been stopped.
    Stopped,
}

/// An entry that the writer hands out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A line that was accepted.
    Line(String),
    /// A gap: the number of lines that are missing at this place, at least one.
    Missing(u64),
}

/// The numbers of accepted, written, dropped and refused lines so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of lines for which put() returned `Ok`.
    pub accepted: u64,
    /// The number of accepted lines that were handed out.
    pub written: u64,
    /// The number of lines that were dropped because there was no room, including lines that had been
    /// accepted before.
    pub dropped: u64,
    /// The number of dropped lines that had been accepted before.
    pub dropped_accepted: u64,
    /// The number of lines for which put() returned `Stopped`.
    pub refused: u64,
}

/// A queue for lines from many threads to one writer.
pub struct LogQueue {
    // Add the room. Add fields behind one lock: the lines, the gaps, the counts, and a flag that says whether
    // the queue is stopped.
}

impl LogQueue {
    /// Makes an empty queue, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        todo!("make an empty queue")
    }

    /// Accepts the line, or returns the reason why it was not accepted. If there is no room, follows the
    /// policy `overflow`.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        todo!("accept, drop or refuse the line, and count it")
    }

    /// Runs the loop of the writer's thread: hands lines and gaps to `out` in their order, and waits while
    /// there are none. Returns when the queue is stopped and every line and gap is handed out.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        todo!("take what waits, and hand it out while no lock is held")
    }

    /// Stops the queue: every later put() and every waiting put() is refused. `stop` returns at once, and
    /// run() still writes the accepted lines.
    pub fn stop(&self) {
        todo!("accept nothing from now on, and tell the threads that wait")
    }

    /// Returns counts that were all true at the same moment.
    pub fn counts(&self) -> Counts {
        todo!("return a copy of the counts")
    }
}
