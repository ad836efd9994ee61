//! Right: Lines that may be dropped have a queue of their own, and lines that may not; numbers say how the two belong together, and a list of gaps, what is missing before which number.
#![allow(unused)]

use std::collections::{BTreeMap, VecDeque};
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
pub enum Entry {
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
    kept: VecDeque<(u64, String)>,
    expendable: VecDeque<(u64, String)>,
    /// How many lines are missing at a number.
    gaps: BTreeMap<u64, u64>,
    next: u64,
    counts: Counts,
    stopped: bool,
}

impl State {
    fn lines(&self) -> usize {
        self.kept.len() + self.expendable.len()
    }

    fn is_missing_at(&mut self, number: u64) {
        self.counts.dropped += 1;
        *self.gaps.entry(number).or_default() += 1;
    }

    /// The next line, with its number; no number if there is none.
    fn first(&mut self) -> (Option<u64>, Option<String>) {
        let kept = self.kept.front().map(|(number, _)| *number);
        let expendable = self.expendable.front().map(|(number, _)| *number);
        let from = match (kept, expendable) {
            (Some(kept), Some(expendable)) if expendable < kept => &mut self.expendable,
            (None, _) => &mut self.expendable,
            _ => &mut self.kept,
        };
        from.pop_front().map_or((None, None), |(number, line)| (Some(number), Some(line)))
    }
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new(), not_full: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        let mut state = self.state.lock().unwrap();
        while overflow == Overflow::Block && state.lines() == self.room && !state.stopped {
            state = self.not_full.wait(state).unwrap();
        }
        if state.stopped {
            state.counts.refused += 1;
            return Err(NotLogged::Stopped);
        }
        let number = state.next;
        if state.lines() == self.room {
            match state.expendable.front() {
                Some((oldest, _)) if overflow == Overflow::DropOldest => {
                    let oldest = *oldest;
                    state.is_missing_at(oldest);
                    state.expendable.pop_front();
                    state.counts.dropped_accepted += 1;
                }
                _ => {
                    state.is_missing_at(number);
                    return Err(NotLogged::Full);
                }
            }
        }
        state.next += 1;
        state.counts.accepted += 1;
        let queue = if overflow == Overflow::DropOldest { &mut state.expendable } else { &mut state.kept };
        queue.push_back((number, line));
        self.work.notify_one();
        Ok(())
    }

    /// What the writer's thread does: one line at a time, with all gaps up to it.
    pub fn run(&self, mut out: impl FnMut(Entry)) {
        loop {
            let idle = |state: &mut State| state.lines() == 0 && !state.stopped;
            let mut state = self.work.wait_while(self.state.lock().unwrap(), idle).unwrap();
            let (number, line) = state.first();
            let later = state.gaps.split_off(&number.map_or(u64::MAX, |number| number + 1));
            let missing: u64 = mem::replace(&mut state.gaps, later).into_values().sum();
            drop(state);
            self.not_full.notify_one();
            if missing > 0 {
                out(Entry::Missing(missing));
            }
            let Some(line) = line else { return };
            out(Entry::Line(line));
            self.state.lock().unwrap().counts.written += 1;
        }
    }

    /// From now on every put() is refused, also those that wait.
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
