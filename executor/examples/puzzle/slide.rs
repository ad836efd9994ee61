//! The movement of a block by one cell.

use super::blocks::{Blocks, Board, COVERED, EMPTY, Kind};

/// The directions are up, right, down and left. The opposite of direction `d` is direction `(d + 2) % 4`.
const STEPS: [(isize, isize); 4] = [(0, -1), (1, 0), (0, 1), (-1, 0)];

impl Blocks {
    pub fn kind(&self, number: u8) -> Kind {
        self.kinds[usize::from(number) - 1]
    }

    /// Returns the cells of a block.
    pub fn cells(&self, kind: Kind, corner: usize) -> impl Iterator<Item = usize> {
        let width = self.width;
        (0..kind.height).flat_map(move |y| (0..kind.width).map(move |x| corner + y * width + x))
    }

    /// Puts a block into its cells, which are empty; does nothing if `begins` is `EMPTY`.
    pub fn put(&self, board: &mut Board, corner: usize, begins: u8) {
        if begins != EMPTY {
            self.cells(self.kind(begins), corner).for_each(|cell| board[cell] = COVERED);
            board[corner] = begins;
        }
    }

    /// Removes the block in `corner` from the board.
    pub fn lift(&self, board: &mut Board, corner: usize) -> u8 {
        let number = board[corner];
        self.cells(self.kind(number), corner).for_each(|cell| board[cell] = EMPTY);
        number
    }

    /// Returns the corner that the block would have after one step, if the block's new cells are empty.
    pub fn step(&self, board: &Board, kind: Kind, corner: usize, direction: usize) -> Option<usize> {
        let x = (corner % self.width).checked_add_signed(STEPS[direction].0)?;
        let y = (corner / self.width).checked_add_signed(STEPS[direction].1)?;
        let inside = x + kind.width <= self.width && y + kind.height <= self.height;
        let to = y * self.width + x;
        (inside && self.cells(kind, to).all(|cell| board[cell] == EMPTY)).then_some(to)
    }
}
