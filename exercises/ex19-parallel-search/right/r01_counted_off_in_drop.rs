//! Right: whatever is under way has a guard that counts, and its drop counts it off: after a panic and a refusal, too.
#![allow(unused)]

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// What is to be done.
pub type Job = Box<dyn FnOnce() + Send>;

/// The executor did not take the job. Here it is, and it was not called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. A job that it takes is called once: some time later, or before `execute` returns; on a
    /// thread of the executor, or on the one that calls `execute`. A panic of the job ends there.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

/// A position of a puzzle.
pub type Position = u32;

/// What leads from one position to another.
pub type Move = char;

/// What a search knows of a puzzle.
pub trait Puzzle: Send + Sync {
    /// The position in which the puzzle begins.
    fn start(&self) -> Position;
    /// Whether the position is a solution. It may panic.
    fn is_solved(&self, position: Position) -> bool;
    /// The moves that are possible in the position, and where each of them leads. It may panic.
    fn moves(&self, position: Position) -> Vec<(Move, Position)>;
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These moves lead from the start to a solved position.
    Solved(Vec<Move>),
    /// All positions that can be reached were searched, and none is solved.
    NoSolution,
    /// The puzzle panicked at some position, and no solution was found elsewhere.
    Panicked,
    /// Somebody has called `cancel` before there was another answer.
    Cancelled,
}

// ----- Yours. -----

/// A search for a solution of a puzzle. It searches positions at once, where the executor calls its jobs.
pub struct Solver {
    search: Arc<Search>,
}

struct Search {
    puzzle: Arc<dyn Puzzle>,
    executor: Arc<dyn Executor>,
    state: Mutex<State>,
    answered: Condvar,
}

struct State {
    /// How each position was reached first; the start by no move.
    seen: HashMap<Position, Option<(Move, Position)>>,
    /// So many `UnderWay` there are.
    under_way: usize,
    panicked: bool,
    answer: Option<Answer>,
}

/// A position that is to be searched. The search is not over as long as there is one.
struct UnderWay {
    search: Arc<Search>,
    position: Position,
    asks_the_puzzle: bool,
}

impl Solver {
    /// Makes a search that has not begun.
    pub fn new(puzzle: Arc<dyn Puzzle>, executor: Arc<dyn Executor>) -> Self {
        let state = State { seen: HashMap::new(), under_way: 0, panicked: false, answer: None };
        let (state, answered) = (Mutex::new(state), Condvar::new());
        Self { search: Arc::new(Search { puzzle, executor, state, answered }) }
    }

    /// Waits for the answer, which is the same for all callers. The first call begins the search.
    pub fn solve(&self) -> Answer {
        let start = self.search.puzzle.start();
        let new = self.search.is_new(start, None);
        if let Some(refused) = new.and_then(UnderWay::submit) {
            refused.run();
        }
        let mut state = self.search.state.lock().unwrap();
        while state.answer.is_none() {
            state = self.search.answered.wait(state).unwrap();
        }
        state.answer.clone().unwrap()
    }

    /// Ends the search and every wait for its answer, unless there is an answer already. It does not wait for jobs.
    pub fn cancel(&self) {
        self.search.state.lock().unwrap().answer.get_or_insert(Answer::Cancelled);
        self.search.answered.notify_all();
    }
}

impl Search {
    /// A position, unless it was seen before or the answer is known.
    fn is_new(self: &Arc<Self>, position: Position, reached: Option<(Move, Position)>) -> Option<UnderWay> {
        let mut state = self.state.lock().unwrap();
        let is_new = state.answer.is_none() && !state.seen.contains_key(&position);
        is_new.then(|| {
            state.seen.insert(position, reached);
            state.under_way += 1;
            UnderWay { search: Arc::clone(self), position, asks_the_puzzle: false }
        })
    }
}

impl UnderWay {
    /// A second one for the same position.
    fn again(&self) -> Self {
        self.search.state.lock().unwrap().under_way += 1;
        Self { search: Arc::clone(&self.search), position: self.position, asks_the_puzzle: false }
    }

    /// Gives it to the executor. It comes back if that refuses.
    fn submit(self) -> Option<Self> {
        let (again, executor) = (self.again(), Arc::clone(&self.search.executor));
        executor.execute(Box::new(move || self.run())).is_err().then_some(again)
    }

    /// Searches this position, and then all that were refused.
    fn run(self) {
        let mut own = vec![self];
        while let Some(next) = own.pop() {
            drop(catch_unwind(AssertUnwindSafe(|| next.visit(&mut own))));
        }
    }

    fn visit(mut self, own: &mut Vec<Self>) {
        if self.search.state.lock().unwrap().answer.is_some() {
            return;
        }
        self.asks_the_puzzle = true;
        let is_solved = self.search.puzzle.is_solved(self.position);
        let moves = if is_solved { Vec::new() } else { self.search.puzzle.moves(self.position) };
        self.asks_the_puzzle = false;
        if is_solved {
            let mut state = self.search.state.lock().unwrap();
            let way = state.way_to(self.position);
            state.answer.get_or_insert(Answer::Solved(way));
            self.search.answered.notify_all();
        }
        for (last, position) in moves {
            let new = self.search.is_new(position, Some((last, self.position)));
            own.extend(new.and_then(Self::submit));
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.search.state.lock().unwrap();
        state.panicked |= self.asks_the_puzzle;
        state.under_way -= 1;
        if state.under_way == 0 {
            let answer = if state.panicked { Answer::Panicked } else { Answer::NoSolution };
            state.answer.get_or_insert(answer);
            self.search.answered.notify_all();
        }
    }
}

impl State {
    /// The moves from the start to a position that was seen.
    fn way_to(&self, mut position: Position) -> Vec<Move> {
        let mut way = Vec::new();
        while let Some((last, before)) = self.seen[&position] {
            way.push(last);
            position = before;
        }
        way.reverse();
        way
    }
}
