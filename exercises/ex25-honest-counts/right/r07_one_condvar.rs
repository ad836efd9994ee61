//! Right: writer and loggers wait on one Condvar, and put() wakes one thread: it is the writer, since no logger waits while the writer does. The writer and the stop wake all.
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
    /// There is a line, or the queue is stopped.
    work: Condvar,
    /// There is room, or the queue is stopped.
    not_full: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Waiting>,
    /// How many lines are missing after the last one.
    missing: u64,
    counts: Counts,
    stopped: bool,
}

struct Waiting {
    line: String,
    /// How many lines are missing before it.
    gap: u64,
    expendable: bool,
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new(), not_full: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
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
        self.not_full.notify_one();
        Ok(())
    }

    /// What the writer's thread does: hands lines and gaps to `out`, in their order, and waits while there are none. Returns
    /// when the queue is stopped and all is handed out.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        loop {
            let mut state = self.state.lock().unwrap();
            while state.lines.is_empty() && !state.stopped {
                state = self.not_full.wait(state).unwrap();
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

    /// From now on every put() is refused, also those that wait. Returns at once; run() writes what was accepted.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.work.notify_all();
        self.not_full.notify_all();
    }

    /// What has become of the lines, all at one moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}

impl State {
    /// Drops the oldest line that may be dropped, if there is one.
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
