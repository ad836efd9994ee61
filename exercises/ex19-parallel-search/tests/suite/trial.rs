//! A search under test: a puzzle, the inner executor, and the calls of `solve()`.

use exercises_harness::{at_once, expect, fail, step};

use super::super::exercise::{Answer, Position, Solver};
use super::CANCEL;
use super::below::Below;
use super::board::Board;
use crate::below::on_a_thread;
use crate::probe::Shared;
use crate::sync::{Arc, thread};

/// A puzzle, the inner executor, and a solver of the puzzle.
pub(super) struct Trial {
    solver: Arc<Solver>,
    pub(super) board: Arc<Board>,
    pub(super) below: Arc<Below>,
}

impl Trial {
    pub(super) fn new(board: Board, below: &Arc<Below>) -> Arc<Self> {
        let (board, below) = (Arc::new(board), Arc::clone(below));
        let solver = Arc::new(Solver::new(board.clone(), below.clone()));
        Arc::new(Self { solver, board, below })
    }

    /// Returns the answer. `cause` is the likely cause if no answer comes.
    pub(super) fn solve(&self, cause: &str) -> Answer {
        let answer = expect("solve()", cause, || self.solver.solve());
        step(&format!("solve() returns {answer:?}"));
        self.board.check_way(&answer);
        answer
    }

    /// Calls `solve()` on another thread.
    pub(super) fn asks(self: &Arc<Self>, name: &str, cause: &'static str) -> Asked {
        let (trial, answer) = (Arc::clone(self), Arc::<Shared<Option<Answer>>>::default());
        let told = Arc::clone(&answer);
        let work = move || {
            let answer = trial.solve(cause);
            told.with(|told| *told = Some(answer));
        };
        Asked { thread: on_a_thread(name, Box::new(work)), answer, cause }
    }

    pub(super) fn cancel(&self) {
        at_once("cancel()", CANCEL, || self.solver.cancel());
    }

    /// Checks that the answer is "no solution", and that all positions were searched.
    pub(super) fn check_no_solution(&self, answer: &Answer, cause: &str) {
        self.check(answer, &Answer::NoSolution, cause);
        self.check_all_looked_at(cause);
    }

    pub(super) fn check(&self, answer: &Answer, expected: &Answer, cause: &str) {
        if answer != expected {
            let looked_at = some(&self.board.looked_at());
            let seen = format!("solve() returned {answer:?}, and not {expected:?}; looked at: {looked_at}");
            fail(&seen, cause);
        }
    }

    /// Checks that a solution was found. `cause` is the likely cause if no solution was found.
    pub(super) fn check_solved(&self, answer: &Answer, cause: &str) {
        if !matches!(answer, Answer::Solved(_)) {
            let looked_at = some(&self.board.looked_at());
            fail(
                &format!("there is a solution, and solve() returned {answer:?}; looked at: {looked_at}"),
                cause,
            );
        }
    }

    pub(super) fn check_all_looked_at(&self, cause: &str) {
        let (all, looked_at) = (self.board.positions(), self.board.looked_at());
        if looked_at != all {
            let (all, looked_at) = (some(&all), some(&looked_at));
            let seen = format!(
                "solve() said that all was searched; of the positions {all} it has looked at {looked_at}"
            );
            fail(&seen, cause);
        }
    }
}

/// Returns positions as a text; if there are many positions, the text has the first ones and the number of
/// all positions.
fn some(positions: &[Position]) -> String {
    match positions {
        [first @ .., _] if first.len() > 10 => format!("{:?} … ({} in all)", &first[..5], positions.len()),
        _ => format!("{positions:?}"),
    }
}

/// A call of solve() on its own thread.
pub(super) struct Asked {
    thread: thread::JoinHandle<()>,
    answer: Arc<Shared<Option<Answer>>>,
    cause: &'static str,
}

impl Asked {
    pub(super) fn answer(self) -> Answer {
        if expect("solve() of another thread", self.cause, || self.thread.join()).is_err() {
            fail("solve() panicked", "solve() never panics: the answer says so");
        }
        self.answer.with(Option::take).expect("the thread has ended, and has told its answer")
    }
}
