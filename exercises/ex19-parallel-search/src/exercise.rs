//! A solver that searches many positions of a puzzle at the same time, on any executor, and detects that
//! there is no solution.
//!
//! This is the only file to edit. `cargo test -p ex19-parallel-search` checks your answer.
#![allow(unused)]

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// A closure that is run once.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that `execute` returns when it refuses a job. The error contains the refused job, which was not
/// called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. If the executor takes the job, it calls the job once, either later or
    /// before `execute` returns, on a thread of the executor or on the thread that calls `execute`. The
    /// executor catches a panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

/// A position of a puzzle.
pub type Position = u32;

/// A move, which leads from one position to another.
pub type Move = char;

/// The methods of a puzzle that a search calls.
pub trait Puzzle: Send + Sync {
    /// Returns the position in which the puzzle begins.
    fn start(&self) -> Position;
    /// Returns true if the position is a solution. The call may panic.
    fn is_solved(&self, position: Position) -> bool;
    /// Returns the moves that are possible in the position, each with the position to which it leads. The
    /// call may panic.
    fn moves(&self, position: Position) -> Vec<(Move, Position)>;
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These moves lead from the start to a solved position.
    Solved(Vec<Move>),
    /// All positions that can be reached were searched, and none is solved.
    NoSolution,
    /// The puzzle panicked at some position, and no solution was found elsewhere.
    Panicked,
    /// `cancel` was called before there was another answer.
    Cancelled,
}

// ----- Yours. -----

/// A search for a solution of a puzzle. The solver searches many positions at the same time, no matter on
/// which threads the executor calls the jobs.
pub struct Solver {
    puzzle: Arc<dyn Puzzle>,
    executor: Arc<dyn Executor>,
    seen: Arc<Mutex<HashSet<Position>>>, // What else must the jobs share, and under which lock?
}

impl Solver {
    /// Makes a search that has not begun.
    pub fn new(puzzle: Arc<dyn Puzzle>, executor: Arc<dyn Executor>) -> Self {
        todo!("keep both, and begin with no position seen")
    }

    /// Waits for the answer, which is the same for all callers. The first call begins the search.
    pub fn solve(&self) -> Answer {
        todo!("give the start to the executor, unless that was done, and wait until there is an answer")
    }

    /// Ends the search and wakes every caller that waits for the answer, unless there is an answer already.
    /// The call does not wait for jobs.
    pub fn cancel(&self) {
        todo!("tell all waiting threads that the search was cancelled, unless there is another answer")
    }
}
