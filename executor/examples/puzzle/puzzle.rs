//! The description of a puzzle for a search: the positions, and the moves that lead from one position to
//! another.

/// A position has 56 bits, so one word can hold a position and the move that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub u64);

/// A move is a number below 255. Only the puzzle knows what the number of a move means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move(pub u8);

impl Move {
    /// The start position has this value in place of a move, because no move has led to the start position.
    pub const NONE: Self = Self(u8::MAX);
}

// ANCHOR: puzzle
pub trait Puzzle: Send + Sync + 'static {
    fn start(&self) -> Position;
    fn is_solved(&self, position: Position) -> bool;
    /// Returns the possible moves, and the position that each move leads to.
    fn moves(&self, position: Position) -> Vec<(Move, Position)>;
    /// Undoes a move: returns the position before the move.
    fn before(&self, last: Move, position: Position) -> Position;
}
// ANCHOR_END: puzzle
