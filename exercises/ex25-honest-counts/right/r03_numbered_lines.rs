//! Right: every line that is accepted or dropped uses up a number; what is missing is read from the numbers, by the writer.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;

use crate::sync::{Condvar, Mutex};

/// What becomes of a line when the queue has no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// put() waits until there is room, or until the queue is stopped.
    Block,
    /// The line is dropped.
    DropNewest,
    /// The oldest line that was accepted under this policy, and that the writer has not taken, is dropped and makes room. If
    /// there is none, the line itself is dropped.
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
    room: usize,
    state: Mutex<State>,
    work: Condvar,
    not_full: Condvar,
}

#[derive(Default)]
struct State {
    /// By their numbers, and whether they may be dropped.
    lines: BTreeMap<u64, (String, bool)>,
    /// The number of the next line, accepted or not.
    next: u64,
    accepted: u64,
    written: u64,
    dropped_accepted: u64,
    refused: u64,
    stopped: bool,
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new(), not_full: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
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

    /// What the writer's thread does.
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

    /// From now on every put() is refused, also those that wait.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.stopped = true;
        self.work.notify_one();
        self.not_full.notify_all();
    }

    /// What has become of the lines, all at one moment.
    pub fn counts(&self) -> Counts {
        let State { next, accepted, written, dropped_accepted, refused, .. } = *self.state.lock().unwrap();
        Counts { accepted, written, dropped: next - accepted + dropped_accepted, dropped_accepted, refused }
    }
}
