//! The record of a position that a search has seen; the record has eight bytes.

use super::puzzle::{Move, Position};
use std::hash::{Hash, Hasher};

// ANCHOR: entry
/// The upper 56 bits are the position; the lower 8 bits are the move that led to the position.
#[derive(Clone, Copy)]
pub struct Entry(u64);

impl Entry {
    pub fn new(last: Move, Position(position): Position) -> Self {
        Self(position << 8 | u64::from(last.0))
    }

    pub fn last(self) -> Move {
        Move(self.0.to_le_bytes()[0])
    }

    fn position(self) -> u64 {
        self.0 >> 8
    }
}

/// Entries for the same position are equal, even if different moves led to the position.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position()
    }
}
// ANCHOR_END: entry

impl Eq for Entry {}

impl Hash for Entry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.position());
    }
}
