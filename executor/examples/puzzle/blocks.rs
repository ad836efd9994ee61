//! A board with sliding blocks; a few bits of one number store a position of the board.

use super::puzzle::Position;

/// No board has more cells than this number.
pub const CELLS: usize = 32;

/// A cell is `EMPTY` or `COVERED`, or it has the kind of the block whose upper left corner is in the cell.
pub type Board = [u8; CELLS];
pub const EMPTY: u8 = 0;
pub const COVERED: u8 = u8::MAX;

/// Blocks of the same size are alike: if two of these blocks change places, the position stays the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub width: usize,
    pub height: usize,
}

/// A sliding-block puzzle: the player must move a block of the first kind to a certain place.
pub struct Blocks {
    pub width: usize,
    pub height: usize,
    pub kinds: Vec<Kind>,
    pub start: Position,
    pub target: usize,
    /// The board at the start, as a drawing.
    pub letters: Vec<u8>,
}

impl Blocks {
    /// Returns the number of bits that are needed to distinguish an empty cell and the kinds of blocks.
    fn bits(&self) -> u32 {
        usize::BITS - self.kinds.len().leading_zeros()
    }

    // ANCHOR: pack
    /// Packs the contents of the cells into one number, beginning with the upper left cell of the board.
    /// Covered cells take no bits.
    pub fn pack(&self, board: &Board) -> Position {
        let (bits, cells) = (self.bits(), &board[..self.width * self.height]);
        let begins = cells.iter().filter(|begins| **begins != COVERED);
        Position(begins.fold(1, |packed, begins| packed << bits | u64::from(*begins)))
    }
    // ANCHOR_END: pack

    pub fn unpack(&self, Position(packed): Position) -> Board {
        let mut board = [EMPTY; CELLS];
        let mut left = (u64::BITS - 1 - packed.leading_zeros()) / self.bits();
        for cell in 0..self.width * self.height {
            if board[cell] != COVERED {
                left -= 1;
                let begins = packed >> (left * self.bits()) & ((1 << self.bits()) - 1);
                self.put(&mut board, cell, begins.to_le_bytes()[0]);
            }
        }
        board
    }
}
