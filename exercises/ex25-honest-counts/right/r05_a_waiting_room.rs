//! Right: a logger that has to wait leaves its line with the others that wait, and the writer lets it in: no logger overtakes it.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;

use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Condvar, Mutex};

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
}

#[derive(Default)]
struct State {
    lines: VecDeque<Waiting>,
    missing: u64,
    outside: VecDeque<Visitor>,
    counts: Counts,
    stopped: bool,
}

struct Waiting {
    line: String,
    gap: u64,
    expendable: bool,
}

/// A logger that sleeps until its answer is there.
struct Visitor {
    line: String,
    answer: Arc<Mutex<Option<Result<(), NotLogged>>>>,
    thread: Thread,
}

impl Visitor {
    fn answer(self, answer: Result<(), NotLogged>) {
        *self.answer.lock().unwrap() = Some(answer);
        self.thread.unpark();
    }
}

impl State {
    fn push(&mut self, line: String, expendable: bool) {
        self.counts.accepted += 1;
        let gap = mem::take(&mut self.missing);
        self.lines.push_back(Waiting { line, gap, expendable });
    }

    /// A place for one line, if it can be had.
    fn has_room(&mut self, room: usize, overflow: Overflow) -> bool {
        if self.lines.len() < room {
            return true;
        }
        let oldest = self.lines.iter().position(|waiting| waiting.expendable);
        let Some(at) = oldest.filter(|_| overflow == Overflow::DropOldest) else { return false };
        let gap = self.lines[at].gap + 1;
        self.lines.remove(at);
        *self.lines.get_mut(at).map_or(&mut self.missing, |next| &mut next.gap) += gap;
        self.counts.dropped += 1;
        self.counts.dropped_accepted += 1;
        true
    }
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        let mut state = self.state.lock().unwrap();
        if state.stopped {
            state.counts.refused += 1;
            return Err(NotLogged::Stopped);
        }
        if state.has_room(self.room, overflow) {
            state.push(line, overflow == Overflow::DropOldest);
            self.work.notify_one();
            return Ok(());
        }
        if overflow != Overflow::Block {
            state.counts.dropped += 1;
            state.missing += 1;
            return Err(NotLogged::Full);
        }
        let answer = Arc::new(Mutex::new(None));
        state.outside.push_back(Visitor { line, answer: Arc::clone(&answer), thread: thread::current() });
        drop(state);
        loop {
            if let Some(answer) = *answer.lock().unwrap() {
                return answer;
            }
            thread::park();
        }
    }

    /// What the writer's thread does.
    pub fn run(&self, mut out: impl FnMut(Record)) {
        loop {
            let idle = |state: &mut State| state.lines.is_empty() && !state.stopped;
            let mut state = self.work.wait_while(self.state.lock().unwrap(), idle).unwrap();
            let lines = mem::take(&mut state.lines);
            let last_gap = mem::take(&mut state.missing);
            let places = self.room.min(state.outside.len());
            let come_in: Vec<Visitor> = state.outside.drain(..places).collect();
            for mut visitor in come_in {
                state.push(mem::take(&mut visitor.line), false);
                visitor.answer(Ok(()));
            }
            drop(state);
            if lines.is_empty() {
                return;
            }
            for Waiting { line, gap, .. } in lines {
                (gap > 0).then(|| out(Record::Missing(gap)));
                out(Record::Line(line));
                self.state.lock().unwrap().counts.written += 1;
            }
            (last_gap > 0).then(|| out(Record::Missing(last_gap)));
        }
    }

    /// From now on every put() is refused, also those that wait.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.stopped = true;
        state.counts.refused += state.outside.len() as u64;
        for visitor in mem::take(&mut state.outside) {
            visitor.answer(Err(NotLogged::Stopped));
        }
        drop(state);
        self.work.notify_one();
    }

    /// What has become of the lines, all at one moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}
