//! The quick way: each task has many positions; if there is room, it gives half of them to a new task.

use super::puzzle::{Position, Puzzle};
use super::unfinished::{Answer, Unfinished};
use super::{door::sync::Arc, end::End, search::Search, under_way::UnderWay};
use executor::{CancelToken, Executor, OwnedPermit, Semaphore, prelude::*};
use std::collections::VecDeque;

/// The limit for queued and running tasks, and the number of positions between two checks of a token.
pub struct Bounds(pub usize, pub usize);

type Part = (VecDeque<Position>, UnderWay<Position>, OwnedPermit);

struct Batches<P> {
    search: Arc<Search<P>>,
    pool: Arc<dyn Executor>,
    places: Arc<Semaphore>,
    batch: usize,
}

// ANCHOR: batches
impl<P: Puzzle> Batches<P> {
    fn submit(self: &Arc<Self>, part: Part) {
        let own = Arc::clone(self);
        let _ = self.pool.execute(move || own.run(part));
    }

    fn run(self: &Arc<Self>, (mut mine, under_way, _place): Part) {
        let stop = CancelToken::linked([under_way.stop(), &CancelToken::current()]);
        while !mine.is_empty() {
            if stop.is_cancelled() {
                return under_way.give_up(Unfinished::Cancelled);
            }
            for _ in 0..self.batch.min(mine.len()) {
                let position = mine.pop_front().expect("there are enough");
                if self.search.puzzle.is_solved(position) {
                    return under_way.found(position);
                }
                if let Err(why) = self.search.expand(position, |next| mine.push_back(next)) {
                    return under_way.give_up(why);
                }
            }
            if let Some(place) = (mine.len() > self.batch).then(|| self.places.try_acquire()).flatten() {
                self.submit((mine.split_off(mine.len() / 2), under_way.another(), place.into_owned()));
            }
        }
        under_way.complete();
    }
}
// ANCHOR_END: batches

pub fn solve<P: Puzzle>(search: &Arc<Search<P>>, pool: &Arc<dyn Executor>, bounds: Bounds) -> Answer {
    let (end, first) = End::with_first();
    let (search, pool, places) = (Arc::clone(search), Arc::clone(pool), Arc::new(Semaphore::new(bounds.0)));
    let place = places.try_acquire().expect("one task at least").into_owned();
    let start = (VecDeque::from([search.start()?]), first, place);
    Arc::new(Batches { search, pool, places, batch: bounds.1 }).submit(start);
    end.wait()
}
