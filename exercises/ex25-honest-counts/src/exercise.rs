//! The queue of a logger: when it is full it drops lines by a policy, says where lines are missing, and keeps
//! its books.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;

use crate::sync::{Condvar, Mutex};

/// What becomes of a line when the queue has no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// put() waits until there is room, or until the queue is stopped.
    Block,
    /// The line is dropped.
    DropNewest,
    /// The oldest line that was accepted under this policy, and that the writer has not taken, is dropped and
    /// makes room. If there is none, the line itself is dropped.
    DropOldest,
}

/// Why a line was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLogged {
    /// There was no room: the line was dropped.
    Full,
    /// The queue has been stopped: the line was refused.
    Stopped,
}

/// What the writer hands out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A line that was accepted.
    Line(String),
    /// Here so many lines are missing, at least one.
    Missing(u64),
}

/// What has become of the lines so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines for which put() returned `Ok`.
    pub accepted: u64,
    /// Of these, the lines that were handed out.
    pub written: u64,
    /// Lines that were dropped because there was no room, accepted before or not.
    pub dropped: u64,
    /// Of these, the lines that had been accepted.
    pub dropped_accepted: u64,
    /// Lines for which put() returned `Stopped`.
    pub refused: u64,
}

/// Lines on their way from many threads to one writer.
pub struct LogQueue {
    // The room; and behind one lock: the lines, where lines are missing, the counts, and whether the queue is
    // stopped.
}

impl LogQueue {
    /// Makes an empty queue, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        todo!("make an empty queue")
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        todo!("accept, drop or refuse the line, and count it")
    }

    /// Hands lines and gaps to `out`, in their order, and waits while there are none: the loop of the
    /// writer's thread. Returns when the queue is stopped and all is handed out.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        todo!("take what waits, and hand it out while no lock is held")
    }

    /// Stops the queue: from now on every put() is refused, also those that wait. Returns at once; run()
    /// writes what was accepted.
    pub fn stop(&self) {
        todo!("accept nothing from now on, and tell the threads that wait")
    }

    /// Returns the counts, all of one moment.
    pub fn counts(&self) -> Counts {
        todo!("return a copy of the counts")
    }
}
