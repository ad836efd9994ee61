//! Right: Gaps stand in the queue as entries of their own, and two that meet become one.
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
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is handed out, and whether it may be dropped.
    entries: VecDeque<(Entry, bool)>,
    lines: usize,
    counts: Counts,
    stopped: bool,
}

impl State {
    /// A line is missing at this place.
    fn add_gap(&mut self, at: usize) {
        if at < self.entries.len()
            && let Entry::Missing(after) = &mut self.entries[at].0
        {
            *after += 1;
        } else {
            self.entries.insert(at, (Entry::Missing(1), false));
        }
        if at > 0
            && let (Entry::Missing(before), Entry::Missing(here)) =
                (&self.entries[at - 1].0, &self.entries[at].0)
        {
            let sum = before + here;
            self.entries.remove(at);
            self.entries[at - 1].0 = Entry::Missing(sum);
        }
        self.counts.dropped += 1;
    }
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        let waits =
            |state: &mut State| overflow == Overflow::Block && state.lines == self.room && !state.stopped;
        let mut state = self.changed.wait_while(self.state.lock().unwrap(), waits).unwrap();
        if state.stopped {
            state.counts.refused += 1;
            return Err(NotLogged::Stopped);
        }
        let expendable = overflow == Overflow::DropOldest;
        if state.lines == self.room {
            let oldest = state.entries.iter().position(|(_, may_be_dropped)| *may_be_dropped);
            let Some(oldest) = oldest.filter(|_| expendable) else {
                let end = state.entries.len();
                state.add_gap(end);
                return Err(NotLogged::Full);
            };
            state.entries.remove(oldest);
            state.add_gap(oldest);
            state.lines -= 1;
            state.counts.dropped_accepted += 1;
        }
        state.entries.push_back((Entry::Line(line), expendable));
        state.lines += 1;
        state.counts.accepted += 1;
        self.changed.notify_all();
        Ok(())
    }

    /// What the writer's thread does.
    pub fn run(&self, mut out: impl FnMut(Entry)) {
        let nothing = |state: &mut State| state.entries.is_empty() && !state.stopped;
        let mut state = self.state.lock().unwrap();
        loop {
            state = self.changed.wait_while(state, nothing).unwrap();
            let Some((entry, _)) = state.entries.pop_front() else { return };
            let is_line = matches!(entry, Entry::Line(_));
            state.lines -= usize::from(is_line);
            drop(state);
            self.changed.notify_all();
            out(entry);
            state = self.state.lock().unwrap();
            state.counts.written += u64::from(is_line);
        }
    }

    /// From now on every put() is refused, also those that wait.
    pub fn stop(&self) {
        self.state.lock().unwrap().stopped = true;
        self.changed.notify_all();
    }

    /// What has become of the lines, all at one moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}
