//! The rules of a board's puzzle: the possible steps, and the position after each step.

use super::blocks::{Blocks, COVERED, EMPTY};
use super::puzzle::{Move, Position, Puzzle};

/// A move is a step of a block: the direction, and the cell that the step led to.
impl Move {
    fn step(to: usize, direction: usize) -> Self {
        Self(u8::try_from(to * 4 + direction).expect("a board has few cells"))
    }

    pub fn to(self) -> usize {
        usize::from(self.0 / 4)
    }

    pub fn back(self) -> usize {
        usize::from((self.0 + 2) % 4)
    }
}

impl Puzzle for Blocks {
    fn start(&self) -> Position {
        self.start
    }

    fn is_solved(&self, position: Position) -> bool {
        self.unpack(position)[self.target] == 1
    }

    fn moves(&self, position: Position) -> Vec<(Move, Position)> {
        let board = self.unpack(position);
        let mut moves = Vec::new();
        for corner in (0..self.width * self.height).filter(|cell| !matches!(board[*cell], EMPTY | COVERED)) {
            let mut others = board;
            let number = self.lift(&mut others, corner);
            for direction in 0..4 {
                if let Some(to) = self.step(&others, self.kind(number), corner, direction) {
                    let mut after = others;
                    self.put(&mut after, to, number);
                    moves.push((Move::step(to, direction), self.pack(&after)));
                }
            }
        }
        moves
    }

    fn before(&self, last: Move, position: Position) -> Position {
        let mut board = self.unpack(position);
        let number = self.lift(&mut board, last.to());
        let from = self.step(&board, self.kind(number), last.to(), last.back());
        self.put(&mut board, from.expect("it came from there"), number);
        self.pack(&board)
    }
}
