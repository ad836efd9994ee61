//! Paper, on which the logs of the road write: a file's stand-in that shows afterwards what was written. A
//! test can hold it, and so decides how long a write takes.

use crate::door::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Stands for the file of a log. Clones are the same paper.
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
    /// Makes an empty paper.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a line. A line on closed paper is lost.
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

    /// Closes the paper, as a file can be closed, even while threads are about to write.
    pub fn close(&self) {
        self.lock().is_closed = true;
    }

    /// The written lines, in order.
    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.clone()
    }

    /// How many lines came after the paper was closed.
    pub fn lost(&self) -> usize {
        self.lock().lost
    }

    /// From now on, the writes of lines for which `lines` is true wait.
    pub fn hold(&self, lines: fn(&str) -> bool) {
        self.lock().held = Some(lines);
    }

    /// Lets the waiting writes go on.
    pub fn let_go(&self) {
        self.lock().held = None;
        self.0.changed.notify_all();
    }

    /// Waits until `writers` threads are in a write on paper that is held.
    pub fn wait_for_writers(&self, writers: usize) {
        drop(self.wait_while(self.lock(), |state| state.writing < writers));
    }

    /// Waits until `lines` lines are written or lost.
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
