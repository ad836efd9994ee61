//! What a search knows of a puzzle: positions, and the moves that lead from one position to others.

/// A position in 56 bits, so that one word holds the position and the move that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub u64);

/// One of 255 moves. Only the puzzle knows what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move(pub u8);

impl Move {
    /// Stands for the move that led to the start.
    pub const NONE: Self = Self(u8::MAX);
}

// ANCHOR: puzzle
pub trait Puzzle: Send + Sync + 'static {
    fn start(&self) -> Position;
    fn is_solved(&self, position: Position) -> bool;
    /// The possible moves, and the position that each leads to.
    fn moves(&self, position: Position) -> Vec<(Move, Position)>;
    /// Takes a move back: returns the position before it.
    fn before(&self, last: Move, position: Position) -> Position;
}
// ANCHOR_END: puzzle
