//! The tasks of a search that are queued or running.
//!
//! 1. Each task has an [`UnderWay`]. Before a task submits another task, it makes the new task's `UnderWay`,
//!    and keeps its own. Therefore the count is zero only when no task of the search is left.
//! 2. A task's `UnderWay` is dropped with the task, even if the task has panicked or was refused.
//! 3. A task calls [`complete`](UnderWay::complete) only after it has looked at all its positions.

use super::door::sync::Arc;
use super::{end::End, unfinished::Unfinished};
use executor::CancelToken;

// ANCHOR: under_way
pub struct UnderWay<T> {
    end: Arc<End<T>>,
    why_not: Option<Unfinished>,
}

impl<T> UnderWay<T> {
    /// Makes the `UnderWay` of a task that is already counted.
    pub(super) fn new(end: Arc<End<T>>) -> Self {
        Self { end, why_not: Some(Unfinished::TaskLost) }
    }

    pub fn another(&self) -> Self {
        self.end.state.lock().unwrap().under_way += 1;
        Self::new(Arc::clone(&self.end))
    }

    pub fn complete(mut self) {
        self.why_not = None;
    }

    pub fn found(self, solution: T) {
        self.end.state.lock().unwrap().found.get_or_insert(solution);
        self.give_up(Unfinished::Cancelled); // the other tasks need not go on
    }

    pub fn give_up(self, why: Unfinished) {
        self.end.state.lock().unwrap().unfinished.get_or_insert(why); // before the others report their stop
        self.end.stop.cancel();
    }

    pub fn stop(&self) -> &CancelToken {
        &self.end.stop
    }
}

impl<T> Drop for UnderWay<T> {
    fn drop(&mut self) {
        let mut state = self.end.state.lock().unwrap();
        state.unfinished = state.unfinished.or(self.why_not);
        state.under_way -= 1;
        if state.under_way == 0 {
            drop(state);
            self.end.none_under_way.count_down();
        }
    }
}
// ANCHOR_END: under_way
