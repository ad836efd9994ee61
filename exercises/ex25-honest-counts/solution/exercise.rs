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
    room: usize,
    state: Mutex<State>,
    /// Notified when a line has come, or when the queue is stopped.
    work: Condvar,
    /// Notified when there is room, or when the queue is stopped.
    not_full: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Waiting>,
    /// The number of lines that are missing after the last line in the queue.
    missing: u64,
    counts: Counts,
    stopped: bool,
}

struct Waiting {
    line: String,
    /// The number of lines that are missing before this line.
    gap: u64,
    expendable: bool,
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
        while overflow == Overflow::Block && state.lines.len() == self.room && !state.stopped {
            state = self.not_full.wait(state).unwrap();
        }
        if state.stopped {
            state.counts.refused += 1;
            return Err(NotLogged::Stopped);
        }
        if state.lines.len() == self.room && !(overflow == Overflow::DropOldest && state.drop_oldest()) {
            state.counts.dropped += 1;
            state.missing += 1;
            return Err(NotLogged::Full);
        }
        state.counts.accepted += 1;
        let gap = mem::take(&mut state.missing);
        state.lines.push_back(Waiting { line, gap, expendable: overflow == Overflow::DropOldest });
        self.work.notify_one();
        Ok(())
    }

    /// Runs the loop of the writer's thread: hands lines and gaps to `out` in their order, and waits while
    /// there are none. Returns when the queue is stopped and every line and gap is handed out.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        loop {
            let mut state = self.state.lock().unwrap();
            while state.lines.is_empty() && !state.stopped {
                state = self.work.wait(state).unwrap();
            }
            let lines = mem::take(&mut state.lines);
            let missing_after = mem::take(&mut state.missing);
            drop(state);
            if lines.is_empty() {
                return;
            }
            self.not_full.notify_all();
            for Waiting { line, gap, .. } in lines {
                tell(gap, &mut out);
                out(Record::Line(line));
                self.state.lock().unwrap().counts.written += 1;
            }
            tell(missing_after, &mut out);
        }
    }

    /// Stops the queue: every later put() and every waiting put() is refused. `stop` returns at once, and
    /// run() still writes the accepted lines.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.work.notify_all();
        self.not_full.notify_all();
    }

    /// Returns counts that were all true at the same moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}

impl State {
    /// Drops the oldest line that may be dropped, and returns false if no line may be dropped.
    fn drop_oldest(&mut self) -> bool {
        let Some(at) = self.lines.iter().position(|waiting| waiting.expendable) else { return false };
        let gap = 1 + self.lines.remove(at).map_or(0, |dropped| dropped.gap);
        match self.lines.get_mut(at) {
            Some(next) => next.gap += gap,
            None => self.missing += gap,
        }
        self.counts.dropped += 1;
        self.counts.dropped_accepted += 1;
        true
    }
}

fn tell(missing: u64, out: &mut impl FnMut(Record)) {
    if missing > 0 {
        out(Record::Missing(missing));
    }
}
