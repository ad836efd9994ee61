//! The state that all tasks of a search share, and the search on one thread.

use super::puzzle::{Move, Position, Puzzle};
use super::seen::Seen;
use super::unfinished::{Answer, Unfinished};
use executor::CancelToken;
use std::collections::VecDeque;

pub struct Search<P> {
    pub puzzle: P,
    pub seen: Seen,
}

impl<P: Puzzle> Search<P> {
    /// Makes a search that has room for `most` positions.
    pub fn new(puzzle: P, most: usize) -> Self {
        Self { puzzle, seen: Seen::with_room_for(most) }
    }

    /// Starts a search.
    pub fn start(&self) -> Result<Position, Unfinished> {
        let start = self.puzzle.start();
        self.seen.is_new(Move::NONE, start)?;
        Ok(start)
    }

    // ANCHOR: expand
    /// Calls `next` for each position that is one move away from `from`, and that the search has not seen
    /// before.
    pub fn expand(&self, from: Position, mut next: impl FnMut(Position)) -> Result<(), Unfinished> {
        for (last, position) in self.puzzle.moves(from) {
            if self.seen.is_new(last, position)? {
                next(position);
            }
        }
        Ok(())
    }
    // ANCHOR_END: expand

    // ANCHOR: sequential
    pub fn sequential(&self) -> Answer {
        let token = CancelToken::current();
        let mut frontier = VecDeque::from([self.start()?]);
        while let Some(position) = frontier.pop_front() {
            if self.puzzle.is_solved(position) {
                return Ok(Some(position));
            }
            token.check().map_err(|_| Unfinished::Cancelled)?;
            self.expand(position, |next| frontier.push_back(next))?;
        }
        Ok(None)
    }
    // ANCHOR_END: sequential
}
