//! Right: Two buffers are swapped, as in the log service; a line that is dropped stays in its place as a mark, and the marks are removed when there are too many.
#![allow(unused)]

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
    filling: Vec<Place>,
    used: usize,
    counts: Counts,
    stopped: bool,
}

enum Place {
    Kept(String),
    Expendable(String),
    Gone(u64),
}

impl State {
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.filling.iter_mut().find(|place| matches!(place, Place::Expendable(_)));
        let Some(oldest) = oldest else { return false };
        *oldest = Place::Gone(1);
        self.used -= 1;
        self.counts.dropped += 1;
        self.counts.dropped_accepted += 1;
        true
    }

    fn squeeze(&mut self) {
        let mut squeezed: Vec<Place> = Vec::new();
        for place in self.filling.drain(..) {
            match (squeezed.last_mut(), place) {
                (Some(Place::Gone(before)), Place::Gone(count)) => *before += count,
                (_, place) => squeezed.push(place),
            }
        }
        self.filling = squeezed;
    }
}

impl LogQueue {
    /// Makes an empty one, in which at most `room` lines wait for the writer.
    pub fn new(room: usize) -> Self {
        Self { room, state: Mutex::default(), work: Condvar::new(), not_full: Condvar::new() }
    }

    /// Accepts the line, or says why not. If there is no room, does as `overflow` says.
    pub fn put(&self, line: String, overflow: Overflow) -> Result<(), NotLogged> {
        let mut guard = self.state.lock().unwrap();
        loop {
            if guard.stopped {
                guard.counts.refused += 1;
                return Err(NotLogged::Stopped);
            }
            if guard.used < self.room || overflow != Overflow::Block {
                break;
            }
            guard = self.not_full.wait(guard).unwrap();
        }
        let state = &mut *guard;
        if state.filling.len() / 2 > self.room {
            state.squeeze();
        }
        let place = match overflow {
            Overflow::DropOldest => Place::Expendable(line),
            _ => Place::Kept(line),
        };
        let has_room = state.used < self.room || matches!(place, Place::Expendable(_)) && state.drop_oldest();
        if !has_room {
            state.filling.push(Place::Gone(1));
            state.counts.dropped += 1;
            return Err(NotLogged::Full);
        }
        state.filling.push(place);
        state.used += 1;
        state.counts.accepted += 1;
        self.work.notify_one();
        Ok(())
    }

    /// What the writer's thread does.
    pub fn run(&self, mut out: impl FnMut(Entry)) {
        let mut writing = Vec::new();
        loop {
            let idle = |state: &mut State| state.filling.is_empty() && !state.stopped;
            let mut state = self.work.wait_while(self.state.lock().unwrap(), idle).unwrap();
            if state.filling.is_empty() {
                return;
            }
            mem::swap(&mut state.filling, &mut writing);
            state.used = 0;
            self.not_full.notify_all();
            drop(state);
            for place in writing.drain(..) {
                match place {
                    Place::Gone(count) => out(Entry::Missing(count)),
                    Place::Kept(line) | Place::Expendable(line) => {
                        out(Entry::Line(line));
                        self.state.lock().unwrap().counts.written += 1;
                    }
                }
            }
        }
    }

    /// From now on every put() is refused, also those that wait.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap();
        state.stopped = true;
        self.not_full.notify_all();
        self.work.notify_all();
    }

    /// What has become of the lines, all at one moment.
    pub fn counts(&self) -> Counts {
        self.state.lock().unwrap().counts
    }
}
