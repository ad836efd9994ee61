//! Right: a logger that must wait puts its line into a second queue, and the writer moves lines from the
//! second queue into the log queue. So no logger overtakes a waiting logger.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;

use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Condvar, Mutex};

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

/// A logger that sleeps until the writer or stop() has answered.
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

    /// Returns true if there is room for one line. If the policy is `DropOldest`, first drops an older line
    /// to make room.
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
    /// Makes an empty queue, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new() }
    }

    /// Accepts the line, or returns the reason why it was not accepted. If there is no room, follows the
    /// policy `overflow`.
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

    /// Runs the loop of the writer's thread: hands lines and gaps to `out` in their order, and waits while
    /// there are none.
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

    /// Stops the queue: every later put() and every waiting put() is refused.
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

    /// Returns counts that were all true at the same moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}
