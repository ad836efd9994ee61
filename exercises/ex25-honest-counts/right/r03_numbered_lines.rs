//! Right: every line that is accepted or dropped gets a number. The writer finds the missing lines by the
//! missing numbers.
#![allow(unused)]

use std::collections::BTreeMap;
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
    room: usize,
    state: Mutex<State>,
    work: Condvar,
    not_full: Condvar,
}

#[derive(Default)]
struct State {
    /// The waiting lines, with their numbers as keys; the flag of a line is true if the line may be dropped
    /// to make room.
    lines: BTreeMap<u64, (String, bool)>,
    /// The number of the next line that is accepted or dropped.
    next: u64,
    accepted: u64,
    written: u64,
    dropped_accepted: u64,
    refused: u64,
    stopped: bool,
}

impl LogQueue {
    /// Makes an empty queue, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new(), not_full: Condvar::new() }
    }

    /// Accepts the line, or returns the reason why it was not accepted. If there is no room, follows the
    /// policy `overflow`.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        let mut state = self.state.lock().unwrap();
        if overflow == Overflow::Block {
            let full = |state: &mut State| state.lines.len() == self.room && !state.stopped;
            state = self.not_full.wait_while(state, full).unwrap();
        }
        if state.stopped {
            state.refused += 1;
            return Err(NotLogged::Stopped);
        }
        let number = state.next;
        state.next += 1;
        if state.lines.len() == self.room {
            let mut may_go = state.lines.iter().filter(|(_, (_, expendable))| *expendable);
            let oldest = may_go.next().map(|(number, _)| *number);
            let oldest = oldest.filter(|_| overflow == Overflow::DropOldest).ok_or(NotLogged::Full)?;
            state.lines.remove(&oldest);
            state.dropped_accepted += 1;
        }
        state.lines.insert(number, (line, overflow == Overflow::DropOldest));
        state.accepted += 1;
        drop(state);
        self.work.notify_one();
        Ok(())
    }

    /// Runs the loop of the writer's thread: hands lines and gaps to `out` in their order, and waits while
    /// there are none.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        let mut expected = 0;
        let mut skip_to = |number: u64, out: &mut dyn FnMut(Record)| {
            if number > expected {
                out(Record::Missing(number - expected));
            }
            expected = number + 1;
        };
        loop {
            let idle = |state: &mut State| state.lines.is_empty() && !state.stopped;
            let mut state = self.work.wait_while(self.state.lock().unwrap(), idle).unwrap();
            let lines = mem::take(&mut state.lines);
            let next = state.next;
            drop(state);
            self.not_full.notify_all();
            if lines.is_empty() {
                return skip_to(next, &mut out);
            }
            for (number, (line, _)) in lines {
                skip_to(number, &mut out);
                out(Record::Line(line));
                self.state.lock().unwrap().written += 1;
            }
        }
    }

    /// Stops the queue: every later put() and every waiting put() is refused.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.stopped = true;
        self.work.notify_one();
        self.not_full.notify_all();
    }

    /// Returns counts that were all true at the same moment.
    pub fn counts(&self) -> Counts {
        let State { next, accepted, written, dropped_accepted, refused, .. } = *self.state.lock().unwrap();
        Counts { accepted, written, dropped: next - accepted + dropped_accepted, dropped_accepted, refused }
    }
}
