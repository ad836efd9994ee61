//! The classic solver: it submits a task for each position, and the first solution opens a latch.

use super::door::sync::{Arc, Mutex};
use super::puzzle::{Position, Puzzle};
use super::search::Search;
use executor::{CancelToken, Executor, Latch, WaitError, prelude::*};
use std::time::Duration;

// ANCHOR: classic
pub struct Classic<P> {
    search: Arc<Search<P>>,
    pool: Arc<dyn Executor>,
    first: Mutex<Option<Position>>,
    is_found: Latch,
    stop: CancelToken,
}

impl<P: Puzzle> Classic<P> {
    fn submit(self: &Arc<Self>, position: Position) {
        let own = Arc::clone(self);
        let _ = self.pool.execute(move || own.visit(position)); // a refused position is not searched
    }

    fn visit(self: &Arc<Self>, position: Position) {
        if self.stop.is_cancelled() {
            return;
        }
        if self.search.puzzle.is_solved(position) {
            self.first.lock().unwrap().get_or_insert(position);
            self.stop.cancel();
            return self.is_found.count_down();
        }
        let _ = self.search.expand(position, |next| self.submit(next)); // without room, the task ends
    }
}

/// Returns the first solution that a task finds. If there is no solution, only the time limit ends the wait.
pub fn solve<P: Puzzle>(
    search: &Arc<Search<P>>,
    pool: &Arc<dyn Executor>,
    limit: Duration,
) -> Result<Option<Position>, WaitError> {
    let (search, pool) = (Arc::clone(search), Arc::clone(pool));
    let (is_found, stop) = (Latch::new(1), CancelToken::current().child());
    let solver = Arc::new(Classic { search, pool, first: Mutex::new(None), is_found, stop });
    solver.submit(solver.search.start().expect("there is room for one"));
    let waited = solver.is_found.wait_timeout(limit);
    solver.stop.cancel();
    waited.map(|()| *solver.first.lock().unwrap())
}
// ANCHOR_END: classic
