//! Searches level by level: first all positions that are one move away, then all positions that are two moves
//! away, and so on. Therefore the first solution that a search finds is a shortest solution.

use super::door::sync::Arc;
use super::puzzle::{Position, Puzzle};
use super::search::Search;
use super::unfinished::{Answer, Unfinished};
use executor::{CancelToken, Executor, InvokeFailure, prelude::*};

/// The smallest number of positions that a task gets, unless the whole level has fewer positions.
const BATCH: usize = 64;

/// The result of a task: a solution, or positions of the next level.
enum Part {
    Solved(Position),
    Next(Vec<Position>),
}

// ANCHOR: levels
fn visit<P: Puzzle>(search: &Search<P>, part: &[Position], token: &CancelToken) -> Result<Part, Unfinished> {
    let mut all_next = Vec::new();
    for position in part {
        if search.puzzle.is_solved(*position) {
            return Ok(Part::Solved(*position));
        }
        token.check().map_err(|_| Unfinished::Cancelled)?;
        search.expand(*position, |next| all_next.push(next))?;
    }
    Ok(Part::Next(all_next))
}

/// At most `tasks` tasks search each level. A level has fewer tasks if it has too few positions for `tasks`
/// batches.
pub fn solve<P: Puzzle>(search: &Arc<Search<P>>, pool: &dyn Executor, tasks: usize) -> Answer {
    let mut level = vec![search.start()?];
    while !level.is_empty() {
        let size = level.len().div_ceil(tasks).max(BATCH);
        let parts = level.chunks(size).map(|part| {
            let (search, part) = (Arc::clone(search), part.to_vec());
            move || visit(&search, &part, &CancelToken::current())
        });
        let ended = pool.invoke_all(parts).map_err(|failed| match failed.reason {
            InvokeFailure::Interrupted => Unfinished::Cancelled,
            _ => Unfinished::TaskLost,
        });
        level.clear();
        for part in ended? {
            match part.join().map_err(|_| Unfinished::TaskLost)?? {
                Part::Solved(position) => return Ok(Some(position)),
                Part::Next(next) => level.extend(next),
            }
        }
    }
    Ok(None)
}
// ANCHOR_END: levels
