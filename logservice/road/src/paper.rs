//! The logs of this lesson write on paper, which replaces a file; a test can read the written lines afterwards.
//! A test can block writes to the paper, and so control how long a write takes.

use crate::door::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Represents the file of a log. All clones write to the same paper.
#[derive(Clone, Default)]
pub struct Paper(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<String>,
    held: Option<fn(&str) -> bool>,
    writing: usize,
    is_closed: bool,
    lost: usize,
}

impl Paper {
    /// Creates an empty paper.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a line. A line that is written after the paper was closed is lost.
    pub fn write(&self, line: &str) {
        let mut state = self.lock();
        state.writing += 1;
        self.0.changed.notify_all();
        let mut state = self.wait_while(state, |state| state.held.is_some_and(|is_held| is_held(line)));
        state.writing -= 1;
        if state.is_closed {
            state.lost += 1;
        } else {
            state.lines.push(line.to_owned());
        }
        self.0.changed.notify_all();
    }

    /// Closes the paper like a file, even while threads are about to write.
    pub fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Returns the written lines, in order.
    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.clone()
    }

    /// Returns the number of lines that came after the paper was closed.
    pub fn lost(&self) -> usize {
        self.lock().lost
    }

    /// From now on, blocks the write of a line if `lines` returns true for the line.
    pub fn hold(&self, lines: fn(&str) -> bool) {
        self.lock().held = Some(lines);
    }

    /// Lets the blocked writes continue.
    pub fn let_go(&self) {
        self.lock().held = None;
        self.0.changed.notify_all();
    }

    /// Waits until `writers` threads are blocked in a write.
    pub fn wait_for_writers(&self, writers: usize) {
        drop(self.wait_while(self.lock(), |state| state.writing < writers));
    }

    /// Waits until `lines` lines have been written or lost.
    pub fn wait_for_lines(&self, lines: usize) {
        drop(self.wait_while(self.lock(), |state| state.lines.len() + state.lost < lines));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.0.changed.wait_while(state, |state| condition(state)).unwrap()
    }
}
