//! A solution, with its moves counted as people count them: if one block makes several steps in a row, these
//! steps are one move.

use super::blocks::{Blocks, COVERED, EMPTY, Kind};
use super::puzzle::{Move, Position};

/// A puzzle, and the boards of a solution from the first to the last.
pub struct Way {
    pub blocks: Blocks,
    pub boards: Vec<Shown>,
}

/// A board, and the corner of the block that moved last.
pub struct Shown {
    pub letters: Vec<u8>,
    pub position: Position,
    pub moved: Option<usize>,
}

impl Blocks {
    /// Returns the boards of a solution from the first to the last: the start, and one board after each move.
    pub fn shown(&self, way: &[(Move, Position)]) -> Vec<Shown> {
        let first = Shown { letters: self.letters.clone(), position: way[0].1, moved: None };
        let mut boards = vec![first];
        for (last, position) in &way[1..] {
            let before = boards.last().expect("there is the first");
            let mut board = self.unpack(*position);
            let kind = self.kind(self.lift(&mut board, last.to()));
            let from = self.step(&board, kind, last.to(), last.back()).expect("it came from there");
            let letters = self.relettered(&before.letters, kind, from, last.to());
            if before.moved == Some(from) {
                boards.pop();
            }
            boards.push(Shown { letters, position: *position, moved: Some(last.to()) });
        }
        boards
    }

    /// Returns the letters of the board after the move of a block.
    fn relettered(&self, letters: &[u8], kind: Kind, from: usize, to: usize) -> Vec<u8> {
        let mut after = letters.to_vec();
        self.cells(kind, from).for_each(|cell| after[cell] = b'.');
        self.cells(kind, to).for_each(|cell| after[cell] = letters[from]);
        after
    }

    /// Returns the blocks of a position, each with the cell of its corner.
    pub fn blocks(&self, position: Position) -> impl Iterator<Item = (usize, u8)> {
        let board = self.unpack(position).into_iter().enumerate();
        board.filter(|(_, begins)| !matches!(*begins, EMPTY | COVERED))
    }
}
