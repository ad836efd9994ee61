//! Detects the end of a search by many tasks: either a task has found a solution, or no task is queued or
//! running any more.

use super::door::sync::{Arc, Mutex};
use super::under_way::UnderWay;
use super::unfinished::Unfinished;
use executor::{CancelToken, Latch, masked};

pub struct End<T> {
    pub(super) state: Mutex<State<T>>,
    pub(super) none_under_way: Latch,
    pub(super) stop: CancelToken,
}

pub(super) struct State<T> {
    pub(super) under_way: usize,
    pub(super) found: Option<T>,
    pub(super) unfinished: Option<Unfinished>,
}

impl<T> End<T> {
    /// Creates the `End` value of a search that begins with one task. If the caller's token is cancelled, the
    /// search is cancelled, too.
    pub fn with_first() -> (Arc<Self>, UnderWay<T>) {
        let state = Mutex::new(State { under_way: 1, found: None, unfinished: None });
        let stop = CancelToken::current().child();
        let end = Arc::new(Self { state, none_under_way: Latch::new(1), stop });
        (Arc::clone(&end), UnderWay::new(end))
    }

    // ANCHOR: wait
    /// Waits until no task is queued or running. `None` means that the tasks have seen all positions but
    /// found no solution.
    pub fn wait(&self) -> Result<Option<T>, Unfinished> {
        if self.none_under_way.wait().is_err() {
            // The caller was cancelled, so its search is cancelled, too, and the tasks end soon.
            masked(|| self.none_under_way.wait()).expect("a masked wait is not cut short");
        }
        let mut state = self.state.lock().unwrap();
        match (state.found.take(), state.unfinished) {
            (None, Some(why)) => Err(why),
            (found, _) => Ok(found),
        }
    }
    // ANCHOR_END: wait
}
