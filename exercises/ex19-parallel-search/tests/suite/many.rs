//! The properties of searches with many positions, of searches with unusual positions, and of two searches at
//! the same time.

use exercises_harness::fail;

use super::super::exercise::{Answer, Position};
use super::below::Below;
use super::board::{Asks, Board, Edge};
use super::trial::Trial;
use crate::probe::Shared;
use crate::sync::Arc;

const AT_SIZE: &str = "what holds for four positions holds for hundreds, and for any number that a position may have: no \
                       collection has a fixed size, and two positions are the same only if their numbers are equal";
const EACH_ITS_OWN: &str = "the state of a search is in its solver. Another search may be under way in the same process, \
                            on the same thread and with the same positions: it has its own answer, its own list and its \
                            own end";

/// The number of positions, without the start.
const MANY: u32 = 200;

/// A puzzle whose start leads to many positions that are far apart; each of these leads to the largest and to
/// the smallest number.
fn star() -> Vec<Edge> {
    let far = |place: u32| place * 21_000_000; // up to 4,200,000,000
    let name = |place: u32| char::from_u32(0x1000 + place).expect("a letter");
    (1..=MANY)
        .flat_map(|place| {
            [(1, name(place), far(place)), (far(place), 'm', Position::MAX), (far(place), 'z', 0)]
        })
        .collect()
}

pub fn many_positions_are_searched() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property does not look for a race
    }
    let row: Vec<Edge> = (1..MANY).map(|position| (position, 'n', position + 1)).collect();
    let refused = |edges: &[Edge], solved| Trial::new(Board::new(edges, solved), &Below::refusing());
    let at_once = |edges: &[Edge], solved| Trial::new(Board::new(edges, solved), &Below::at_once(false));
    for trial in [refused(&star(), &[Position::MAX]), at_once(&star(), &[0]), refused(&row, &[MANY])] {
        let answer = trial.solve(AT_SIZE);
        trial.check_solved(&answer, AT_SIZE);
    }
    for trial in [refused(&star(), &[]), at_once(&star(), &[])] {
        let answer = trial.solve(AT_SIZE);
        trial.check_no_solution(&answer, AT_SIZE);
    }
}

pub fn two_searches_do_not_know_each_other() {
    for below in [Below::refusing(), Below::at_once(false)] {
        let edges = [(1, 'a', 2), (1, 'b', 3), (3, 'c', 4)];
        let (other, told) =
            (Trial::new(Board::new(&edges, &[]), &below), Arc::<Shared<Vec<Answer>>>::default());
        let (inner, answers) = (Arc::clone(&other), Arc::clone(&told));
        let solves = move || {
            let answer = inner.solve(EACH_ITS_OWN);
            answers.with(|answers| answers.push(answer));
        };
        let board = Board::new(&edges, &[4]).when(Asks::Moves, 3, Box::new(solves));
        let trial = Trial::new(board, &below);
        let answer = trial.solve(EACH_ITS_OWN);
        trial.check(&answer, &Answer::Solved(vec!['b', 'c']), EACH_ITS_OWN);
        let Some(answer_of_other) = told.with(Vec::pop) else {
            fail("moves(3), which solves another puzzle, was not called", EACH_ITS_OWN)
        };
        other.check_no_solution(&answer_of_other, EACH_ITS_OWN);
    }
}
