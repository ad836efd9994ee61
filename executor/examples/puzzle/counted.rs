//! Submits a task for each position, and counts the tasks that are queued or running. With the count, the
//! search notices when there is no solution.

use super::door::sync::Arc;
use super::end::End;
use super::puzzle::{Position, Puzzle};
use super::search::Search;
use super::under_way::UnderWay;
use super::unfinished::{Answer, Unfinished};
use executor::{Executor, prelude::*};

// ANCHOR: counted
struct Counted<P> {
    search: Arc<Search<P>>,
    pool: Arc<dyn Executor>,
}

impl<P: Puzzle> Counted<P> {
    fn submit(self: &Arc<Self>, position: Position, under_way: UnderWay<Position>) {
        let own = Arc::clone(self);
        // If a task is refused, it is dropped, and the drop of its `UnderWay` updates the count.
        let _ = self.pool.execute(move || own.visit(position, under_way));
    }

    fn visit(self: &Arc<Self>, position: Position, under_way: UnderWay<Position>) {
        if under_way.stop().is_cancelled() {
            return under_way.give_up(Unfinished::Cancelled);
        }
        if self.search.puzzle.is_solved(position) {
            return under_way.found(position);
        }
        match self.search.expand(position, |next| self.submit(next, under_way.another())) {
            Ok(()) => under_way.complete(),
            Err(why) => under_way.give_up(why),
        }
    }
}

pub fn solve<P: Puzzle>(search: &Arc<Search<P>>, pool: &Arc<dyn Executor>) -> Answer {
    let (end, first) = End::with_first();
    let solver = Arc::new(Counted { search: Arc::clone(search), pool: Arc::clone(pool) });
    solver.submit(search.start()?, first);
    end.wait()
}
// ANCHOR_END: counted
