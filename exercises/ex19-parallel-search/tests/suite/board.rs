//! The puzzle of the properties: a few positions, an action at each position, and a record of a search.

use std::hint::black_box;
use std::ptr;

use exercises_harness::{fail, step};

use super::super::exercise::{Answer, Move, Position, Puzzle};
use super::{GOES_ON, TWICE, WAY};
use crate::probe::Shared;
use crate::sync::thread;

/// A move from one position to another. Position 1 is the start.
pub(super) type Edge = (Position, Move, Position);

/// The questions that a search asks about a position.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asks {
    IsSolved,
    Moves,
}

type Does = Box<dyn Fn() + Send + Sync>;

/// A puzzle.
pub(super) struct Board {
    edges: Vec<Edge>,
    solved: Vec<Position>,
    does: Vec<(Asks, Position, Does)>,
    /// The positions for which the search has called `is_solved`, and those for which it has called `moves`.
    looked_at: Shared<Vec<Position>>,
    moved_from: Shared<Vec<Position>>,
    /// True if the answer is known, and every call that began before the answer has ended or waits at a gate.
    over: Shared<bool>,
    /// The lowest and the highest stack address at which `is_solved` ran.
    stack: Shared<Option<(usize, usize)>>,
}

impl Board {
    pub(super) fn new(edges: &[Edge], solved: &[Position]) -> Self {
        Self {
            edges: edges.to_vec(),
            solved: solved.to_vec(),
            does: Vec::new(),
            looked_at: Shared::default(),
            moved_from: Shared::default(),
            over: Shared::default(),
            stack: Shared::default(),
        }
    }

    /// Calls the action whenever a search asks the given question about the position.
    pub(super) fn when(mut self, asks: Asks, position: Position, does: Does) -> Self {
        self.does.push((asks, position, does));
        self
    }

    /// Returns all positions that can be reached.
    pub(super) fn positions(&self) -> Vec<Position> {
        let mut positions: Vec<Position> = self.edges.iter().map(|(_, _, to)| *to).chain([1]).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Returns the positions that a search has looked at, sorted.
    pub(super) fn looked_at(&self) -> Vec<Position> {
        let mut looked_at = self.looked_at.with(|looked_at| looked_at.clone());
        looked_at.sort_unstable();
        looked_at
    }

    /// Records that the answer is known: from now on, the search must ask nothing more.
    pub(super) fn is_over(&self) {
        step("the answer is known");
        self.over.with(|over| *over = true);
    }

    /// Returns the number of bytes of stack between the lowest and the highest call of `is_solved`.
    pub(super) fn depth(&self) -> usize {
        self.stack.with(|stack| stack.map_or(0, |(low, high)| high - low))
    }

    /// Checks that the moves of a solution lead to a solved position.
    pub(super) fn check_way(&self, answer: &Answer) {
        let Answer::Solved(way) = answer else { return };
        let mut position = Some(1);
        for one in way {
            let edge = self.edges.iter().find(|(from, name, _)| Some(*from) == position && name == one);
            position = edge.map(|(_, _, to)| *to);
        }
        let Some(end) = position else {
            let seen = format!(
                "solve() returned the moves {way:?}, which are not possible from the start, in this order"
            );
            fail(&seen, WAY)
        };
        if !self.solved.contains(&end) {
            fail(
                &format!(
                    "solve() returned the moves {way:?}; they lead to position {end}, which is not solved"
                ),
                WAY,
            );
        }
    }

    fn asked(&self, asks: Asks, position: Position) {
        let (asked, what) = match asks {
            Asks::IsSolved => (&self.looked_at, "is_solved"),
            Asks::Moves => (&self.moved_from, "moves"),
        };
        step(&format!("{what}({position})"));
        if self.over.with(|over| *over) {
            fail(&format!("the answer is known, and after that {what}({position}) is called"), GOES_ON);
        }
        let again = asked.with(|asked| {
            let again = asked.contains(&position);
            asked.push(position);
            again
        });
        if again {
            fail(&format!("{what}({position}) is called a second time"), TWICE);
        }
        thread::yield_now(); // gives other threads the time to do the same
        for (_, _, does) in self.does.iter().filter(|(when, place, _)| *when == asks && *place == position) {
            does();
        }
    }

    fn note_stack(&self) {
        let here = 0_u8;
        let here = ptr::from_ref(black_box(&here)).addr();
        self.stack.with(|stack| {
            let (low, high) = stack.unwrap_or((here, here));
            *stack = Some((low.min(here), high.max(here)));
        });
    }
}

impl Puzzle for Board {
    fn start(&self) -> Position {
        1
    }

    fn is_solved(&self, position: Position) -> bool {
        self.note_stack();
        self.asked(Asks::IsSolved, position);
        self.solved.contains(&position)
    }

    fn moves(&self, position: Position) -> Vec<(Move, Position)> {
        self.asked(Asks::Moves, position);
        let from_here = self.edges.iter().filter(|(from, _, _)| *from == position);
        from_here.map(|(_, name, to)| (*name, *to)).collect()
    }
}
