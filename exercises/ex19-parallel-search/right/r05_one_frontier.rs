//! Right: all positions are in one queue. Each job searches the position that is first in the queue when the
//! job begins. If the executor refuses a job, the submitter does the work of this job itself.
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
    search: Arc<Search>,
}

struct Search {
    puzzle: Arc<dyn Puzzle>,
    executor: Arc<dyn Executor>,
    state: Mutex<State>,
    answered: Condvar,
}

struct State {
    /// For each seen position, the move by which the search first reached it; `None` for the start.
    seen: HashMap<Position, Option<(Move, Position)>>,
    /// The positions that wait to be searched. For each of these positions there is a job, or a thread whose
    /// job was refused.
    frontier: VecDeque<Position>,
    /// The number of positions that were seen and have not been searched completely.
    under_way: usize,
    panicked: bool,
    answer: Option<Answer>,
}

impl Solver {
    /// Makes a search that has not begun.
    pub fn new(puzzle: Arc<dyn Puzzle>, executor: Arc<dyn Executor>) -> Self {
        let state = State { seen: HashMap::new(), frontier: VecDeque::new(), under_way: 0, panicked: false, answer: None };
        let (state, answered) = (Mutex::new(state), Condvar::new());
        Self { search: Arc::new(Search { puzzle, executor, state, answered }) }
    }

    /// Waits for the answer, which is the same for all callers. The first call begins the search.
    pub fn solve(&self) -> Answer {
        let start = self.search.puzzle.start();
        if self.search.is_new(start, None) && !self.search.submit() {
            self.search.run();
        }
        self.search.wait()
    }

    /// Ends the search and wakes every caller that waits for the answer, unless there is an answer already.
    /// The call does not wait for jobs.
    pub fn cancel(&self) {
        self.search.tell(Answer::Cancelled);
    }
}

impl Search {
    /// Counts a position as under way and returns true, unless the position was seen before or the answer is
    /// known.
    fn is_new(&self, position: Position, reached: Option<(Move, Position)>) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.answer.is_some() {
            return false;
        }
        let Entry::Vacant(place) = state.seen.entry(position) else { return false };
        place.insert(reached);
        state.frontier.push_back(position);
        state.under_way += 1;
        true
    }

    /// Gives the executor a job for a position; the executor may refuse the job. No lock is held here,
    /// because the executor may call the job at once.
    fn submit(self: &Arc<Self>) -> bool {
        let search = Arc::clone(self);
        self.executor.execute(Box::new(move || search.run())).is_ok()
    }

    /// The job: searches a position, and one more position for each job that the executor refuses meanwhile.
    fn run(self: &Arc<Self>) {
        let mut jobs = 1;
        while jobs > 0 {
            jobs -= 1;
            let first = self.state.lock().unwrap().frontier.pop_front();
            let position = first.expect("there is a position for each job");
            let searched = catch_unwind(AssertUnwindSafe(|| jobs += self.visit(position)));
            self.count_off(searched.is_err());
        }
    }

    /// Looks at a position, and counts the new positions to which its moves lead. Returns the number of
    /// refused jobs for the new positions.
    fn visit(self: &Arc<Self>, position: Position) -> usize {
        if self.is_over() {
            return 0;
        }
        if self.puzzle.is_solved(position) {
            self.tell_way_to(position);
            return 0;
        }
        let moves = self.puzzle.moves(position).into_iter();
        let refused = |(last, next)| self.is_new(next, Some((last, position))) && !self.submit();
        moves.filter(|next| refused(*next)).count()
    }

    /// Subtracts a searched position from the count. All positions that were reached from this position were
    /// counted before this call.
    fn count_off(&self, panicked: bool) {
        let mut state = self.state.lock().unwrap();
        state.panicked |= panicked;
        state.under_way -= 1;
        if state.under_way == 0 && state.answer.is_none() {
            let answer = if state.panicked { Answer::Panicked } else { Answer::NoSolution };
            state.answer = Some(answer);
            self.answered.notify_all();
        }
    }

    fn is_over(&self) -> bool {
        self.state.lock().unwrap().answer.is_some()
    }

    fn tell_way_to(&self, position: Position) {
        let way = self.state.lock().unwrap().way_to(position);
        self.tell(Answer::Solved(way));
    }

    /// Sets the answer, unless there is one already: the first answer stays.
    fn tell(&self, answer: Answer) {
        let mut state = self.state.lock().unwrap();
        if state.answer.is_none() {
            state.answer = Some(answer);
            self.answered.notify_all();
        }
    }

    fn wait(&self) -> Answer {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(answer) = &state.answer {
                return answer.clone();
            }
            state = self.answered.wait(state).unwrap();
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
