//! The outcomes of a search.

use super::puzzle::Position;
use std::{error, fmt};

/// A position that solves the puzzle, or `None` if there is no solution.
pub type Answer = Result<Option<Position>, Unfinished>;

/// The reasons why a search cannot be sure that there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    Cancelled,
    /// A task was refused or dropped, or it panicked.
    TaskLost,
    /// The puzzle has more positions than the search has room for.
    NoRoom,
}

impl error::Error for Unfinished {}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the search was not finished: {self:?}")
    }
}
