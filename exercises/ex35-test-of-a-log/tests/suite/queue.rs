//! The queue between the clients of a log and its writer.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

/// A queue with room for a given number of lines.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    lines: VecDeque<String>,
    room: usize,
    is_woken: bool,
}

impl Queue {
    pub fn new(room: usize) -> Self {
        let state = State { lines: VecDeque::new(), room, is_woken: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits while the queue is full, and then adds a line.
    pub fn put(&self, line: String) {
        let mut state = self.state.lock().unwrap();
        while state.lines.len() >= state.room {
            state = self.changed.wait(state).unwrap();
        }
        state.lines.push_back(line);
        self.changed.notify_all();
    }

    /// Waits while the queue is empty, and then takes the oldest line. Returns `None` if a thread has called
    /// `wake`, even if the queue has lines.
    pub fn take(&self) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        while state.lines.is_empty() && !state.is_woken {
            state = self.changed.wait(state).unwrap();
        }
        if std::mem::take(&mut state.is_woken) {
            return None;
        }
        self.changed.notify_all();
        state.lines.pop_front()
    }

    pub fn wake(&self) {
        self.state.lock().unwrap().is_woken = true;
        self.changed.notify_all();
    }
}
