//! Wrong: a client checks whether the log is open, and puts its line later. The writer may end between the two steps.

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Log {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    is_stopped: bool,
}

impl Log {
    pub fn log(&self, line: String) -> Result<(), String> {
        // The mistake: the lock is free between the check and the push.
        if self.state.lock().unwrap().is_stopped {
            return Err(line);
        }
        self.state.lock().unwrap().lines.push_back(line);
        self.changed.notify_one();
        Ok(())
    }

    pub fn stop(&self) {
        self.state.lock().unwrap().is_stopped = true;
        self.changed.notify_one();
    }

    pub fn run(&self, write: impl Fn(String)) {
        loop {
            let mut state = self.state.lock().unwrap();
            while state.lines.is_empty() && !state.is_stopped {
                state = self.changed.wait(state).unwrap();
            }
            let Some(line) = state.lines.pop_front() else { return };
            drop(state);
            write(line);
        }
    }
}
