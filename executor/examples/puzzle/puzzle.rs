//! What a search knows of a puzzle: positions, and the moves that lead from one to others.

/// A position in 56 bits, so that it and the move that led to it fit into a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub u64);

/// One of 255 moves. Only the puzzle knows what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move(pub u8);

impl Move {
    /// What led to the position in which the puzzle begins.
    pub const NONE: Self = Self(u8::MAX);
}

// ANCHOR: puzzle
pub trait Puzzle: Send + Sync + 'static {
    fn start(&self) -> Position;
    fn is_solved(&self, position: Position) -> bool;
    /// The moves that are possible, and where each leads.
    fn moves(&self, position: Position) -> Vec<(Move, Position)>;
    /// Takes a move back: from where it led to this position.
    fn before(&self, last: Move, position: Position) -> Position;
}
// ANCHOR_END: puzzle
