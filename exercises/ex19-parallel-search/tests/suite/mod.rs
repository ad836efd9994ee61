//! The properties of a parallel search; each property is a function. `exercise.toml` lists the properties and
//! says what each of them promises.

use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{expect, fail, panic_on_purpose};

use super::exercise::Answer;
use crate::below::{Gate, Threads, on_a_thread};
use crate::probe::{Counter, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod below;
mod board;
mod many;
mod trial;

pub use many::*;

use below::Below;
use board::{Asks, Board, Edge};
use trial::Trial;

const NO_END: &str = "a search ends with a solution, or when no task is under way any more. Count the tasks that are \
                      submitted or run; the task that takes the count to zero tells the waiting callers that there is no \
                      solution";
const EARLY: &str = "the count of tasks was zero, though the search was not over. Count a position before you submit it, \
                     while the position that led to it is still counted. Count a position off, once, when the positions \
                     that come next are counted and its solution is told";
const TWICE: &str = "two moves lead to one position, and each time it was taken for a new one. Checking whether it was \
                     seen, and noting that it is seen now, is one step under one lock; and the start is a position, too, \
                     also for a second call of solve()";
const STAYS_COUNTED: &str = "a position was counted and is not counted off. Count it off in each case: it was seen \
                             before, it is a dead end, it is a solution, or its task panicked";
const BELOW_RUNS: &str = "the puzzle is searched where the inner executor calls your jobs: on no thread of yours, and in \
                          solve() only what the executor refuses";
const ONE_BY_ONE: &str = "known positions must not wait for each other: give each to the executor, and hold no lock while \
                          the puzzle is asked";
const CALLED_AT_ONCE: &str =
    "the inner executor may call a job before its execute() returns: hold no lock then that a job needs";
const WAY: &str = "the moves belong to the position: each new position knows the last move and the position before it, \
                   and nothing else changes these. From the solution go back to the start, and turn the list round";
const FIRST: &str = "the first answer stays: a thread that has another answer looks, under the same lock, whether there is one \
                     already";
const NOT_FOR_ALL: &str =
    "the answer is for each caller of solve(), now or later: notify_all(), and leave the answer where it is";
const STOPS_WAITING: &str = "solve() waits for the answer, and not for the tasks: a task may stay in moves() for long, \
                             and must not delay the answer";
const GOES_ON: &str = "when there is an answer, nothing new is begun: look for the answer before each position, also \
                       before those that the executor took or refused earlier, and before each submission";
const PANIC: &str = "a panic of the puzzle costs one position: catch it, count the position off as any other, and note \
                     that a part was not searched. Then the answer cannot be \"no solution\", but a solution that was \
                     found elsewhere still counts";
const PANIC_OF_REFUSED: &str = "a position that was refused is searched by a job of another position, or by solve(): its \
                                panic must not end that job, and must not come out of solve(). Catch it for each position";
const REFUSED: &str = "a position that is refused is counted and seen already. The thread that was refused searches it, \
                       and then counts it off: no other thread will search it";
const NESTED: &str = "each refused position is searched inside the search of the one before, and a long line of refused \
                      positions overflows the stack. Put them on a list of your own, and search one after the other in a \
                      loop";
const CANCEL: &str =
    "a cancel is an answer of its own: tell it at once to each waiter, and do not wait for a task";
const CANCELLED: &str = "a cancel is an answer of its own, and the first answer stays: a thread that has another answer \
                         looks, under the same lock, whether there is one already";
const ONE_SEARCH: &str = "the first call of solve() begins the search, and all other calls wait for its answer: \
                          checking whether the search has begun, and noting that it has, is one step";

/// Waits until all jobs that the executor calls on its threads have returned.
fn join(threads: &Threads) {
    threads
        .join("a job that the executor has called does not return: a job must not wait for another thread");
}

/// A board in which two ways lead to position 4, and one way leads back to the start. There is no solution.
const CIRCLES: &[Edge] = &[(1, 'a', 2), (1, 'b', 3), (2, 'c', 4), (3, 'd', 4), (4, 'e', 1)];
/// A board in which each position is reached in only one way.
const TREE: &[Edge] = &[(1, 'a', 2), (1, 'b', 3), (3, 'c', 4)];
/// A board with three positions after the first.
const FAN: &[Edge] = &[(1, 'a', 2), (1, 'b', 3), (1, 'c', 4)];

pub fn the_moves_lead_to_a_solution() {
    let ways = [(1, 'a', 2), (1, 'b', 3), (2, 'c', 4), (3, 'd', 5), (4, 'e', 6)];
    for solved in [1, 6] {
        let (threads, below) = Below::threads();
        let trial = Trial::new(Board::new(&ways, &[solved]), &below);
        let answer = trial.solve(NO_END);
        trial.check_solved(&answer, EARLY);
        join(&threads);
    }
}

pub fn no_solution_is_told() {
    let (threads, below) = Below::threads();
    let trial = Trial::new(Board::new(TREE, &[]), &below);
    let answer = trial.solve(NO_END);
    trial.check_no_solution(&answer, EARLY);
    join(&threads);
}

pub fn a_solution_is_found_if_there_is_one() {
    let (threads, below) = Below::threads();
    let trial = Trial::new(Board::new(TREE, &[4]), &below);
    let answer = trial.solve(NO_END);
    trial.check_solved(&answer, EARLY);
    join(&threads);
}

pub fn every_position_is_looked_at_once() {
    let (threads, below) = Below::threads();
    let trial = Trial::new(Board::new(CIRCLES, &[]), &below);
    let answer = trial.solve(STAYS_COUNTED);
    trial.check_no_solution(&answer, EARLY);
    join(&threads);
}

pub fn positions_are_searched_where_the_executor_calls_them() {
    let (desk, below) = Below::desk();
    let here = thread::current().id();
    let look = move || {
        if thread::current().id() != here {
            fail("a position is looked at on a thread that is not the executor's", BELOW_RUNS);
        }
    };
    let board = Board::new(FAN, &[]);
    let board = (1..=4).fold(board, |board, position| board.when(Asks::IsSolved, position, Box::new(look)));
    let trial = Trial::new(board, &below);
    let asked = trial.asks("solver", NO_END);
    below.until_given();
    others_come_to_rest();
    if !trial.board.looked_at().is_empty() {
        fail("a position was looked at, though the inner executor has called nothing yet", BELOW_RUNS);
    }
    desk.run_all(STOPS_WAITING);
    let answer = asked.answer();
    trial.check_no_solution(&answer, EARLY);
}

pub fn positions_are_searched_at_once() {
    for asks in [Asks::Moves, Asks::IsSolved] {
        let (threads, below) = Below::threads();
        let both = Arc::new(Counter::new("two positions to be searched at once"));
        let meet = |both: &Arc<Counter>| {
            let both = Arc::clone(both);
            Box::new(move || {
                both.add();
                both.wait_for(2);
            })
        };
        let board = Board::new(TREE, &[]).when(asks, 2, meet(&both)).when(asks, 3, meet(&both));
        let trial = Trial::new(board, &below);
        let answer = trial.solve(ONE_BY_ONE);
        trial.check_no_solution(&answer, EARLY);
        join(&threads);
    }
}

pub fn the_executor_may_call_at_once() {
    for elsewhere in [false, true] {
        let trial = Trial::new(Board::new(CIRCLES, &[]), &Below::at_once(elsewhere));
        let answer = trial.solve(CALLED_AT_ONCE);
        trial.check_no_solution(&answer, EARLY);
        let trial = Trial::new(Board::new(CIRCLES, &[4]), &Below::at_once(elsewhere));
        let answer = trial.solve(CALLED_AT_ONCE);
        trial.check_solved(&answer, EARLY);
    }
}

/// When a search asks the question, position 2 waits at the gate, and position 3 waits until position 2 has
/// come to the gate.
fn held_at(gate: &Arc<Gate>, asks: Asks, solved: &[u32]) -> Board {
    let (two, three) = (Arc::clone(gate), Arc::clone(gate));
    let edges = [(1, 'a', 2), (1, 'b', 3), (2, 'c', 4), (2, 'd', 5)];
    Board::new(&edges, solved).when(asks, 2, Box::new(move || two.pass())).when(
        Asks::IsSolved,
        3,
        Box::new(move || three.until_reached(ONE_BY_ONE)),
    )
}

pub fn a_solution_ends_the_wait_at_once() {
    let (gate, (threads, below)) = (Gate::new(), Below::threads());
    let trial = Trial::new(held_at(&gate, Asks::Moves, &[3]), &below);
    let answer = trial.solve(STOPS_WAITING);
    trial.check_solved(&answer, EARLY);
    gate.open();
    join(&threads);
}

pub fn the_first_answer_stays() {
    let (gate, (threads, below)) = (Gate::new(), Below::threads());
    let trial = Trial::new(held_at(&gate, Asks::IsSolved, &[2, 3]), &below);
    let first = trial.solve(NO_END);
    gate.open();
    join(&threads);
    let second = trial.solve(NOT_FOR_ALL);
    trial.check(&second, &first, FIRST);
    trial.cancel();
    let third = trial.solve(NOT_FOR_ALL);
    trial.check(&third, &first, FIRST);
}

pub fn what_comes_after_a_cancel_changes_nothing() {
    for solved in [&[2][..], &[]] {
        let (gate, (threads, below)) = (Gate::new(), Below::threads());
        let trial = Trial::new(held_at(&gate, Asks::IsSolved, solved), &below);
        let asked = trial.asks("solver", CANCEL);
        gate.until_reached(NO_END);
        trial.cancel();
        gate.open();
        join(&threads);
        for answer in [asked.answer(), trial.solve(NOT_FOR_ALL)] {
            trial.check(&answer, &Answer::Cancelled, CANCELLED);
        }
    }
}

pub fn after_the_answer_nothing_is_begun() {
    let (gate, (threads, below)) = (Gate::new(), Below::threads());
    let trial = Trial::new(held_at(&gate, Asks::Moves, &[3]), &below);
    let answer = trial.solve(STOPS_WAITING);
    trial.check_solved(&answer, EARLY);
    nothing_is_begun(&trial, || {
        gate.open();
        join(&threads);
    });
    let (desk, below) = Below::desk();
    let trial = Trial::new(Board::new(FAN, &[2, 3, 4]), &below);
    let asked = trial.asks("solver", NO_END);
    below.until_given();
    desk.run_all(STOPS_WAITING);
    trial.check_solved(&asked.answer(), EARLY);
    only_one_was_looked_at(&trial);
    let trial = Trial::new(Board::new(FAN, &[2, 3, 4]), &Below::refusing());
    trial.check_solved(&trial.solve(REFUSED), REFUSED);
    only_one_was_looked_at(&trial);
    let trial = Trial::new(Board::new(FAN, &[2, 3, 4]), &Below::at_once(false));
    trial.check_solved(&trial.solve(CALLED_AT_ONCE), EARLY);
    only_one_was_looked_at(&trial);
    let given = trial.below.given();
    if given > 2 {
        let seen = format!(
            "the executor calls at once, the second position was a solution, and the executor was given {given}"
        );
        fail(&seen, GOES_ON);
    }
}

/// Checks that a search whose answer is known asks nothing more when its other jobs go on.
fn nothing_is_begun(trial: &Trial, others_go_on: impl FnOnce()) {
    let given = trial.below.given();
    trial.board.is_over();
    others_go_on();
    let more = trial.below.given() - given;
    if more > 0 {
        fail(&format!("the answer is known, and after that the executor is given {more} more"), GOES_ON);
    }
}

/// Checks that a search has looked at only one position after the first, if all positions after the first are
/// solved.
fn only_one_was_looked_at(trial: &Trial) {
    let looked_at = trial.board.looked_at();
    if looked_at.len() > 2 {
        let seen = format!(
            "the first position after the start was a solution, and these positions were looked at: {looked_at:?}"
        );
        fail(&seen, GOES_ON);
    }
}

pub fn after_a_cancel_nothing_is_begun() {
    let (desk, below) = Below::desk();
    let trial = Trial::new(Board::new(FAN, &[]), &below);
    let asked = trial.asks("solver", CANCEL);
    below.until_given();
    trial.cancel();
    trial.check(&asked.answer(), &Answer::Cancelled, CANCEL);
    nothing_is_begun(&trial, || desk.run_all(STOPS_WAITING));
    let (gate, (threads, below)) = (Gate::new(), Below::threads());
    let trial = Trial::new(held_at(&gate, Asks::Moves, &[]), &below);
    let asked = trial.asks("solver", CANCEL);
    gate.until_reached(NO_END);
    others_come_to_rest();
    trial.cancel();
    trial.check(&asked.answer(), &Answer::Cancelled, CANCEL);
    gate.open();
    join(&threads);
    let looked_at = trial.board.looked_at();
    if looked_at.iter().any(|position| *position > 3) {
        let seen = format!(
            "position 2 was in moves() when the search was cancelled, and later positions were looked at: {looked_at:?}"
        );
        fail(&seen, GOES_ON);
    }
    let trial = Trial::new(Board::new(FAN, &[]), &Below::refusing());
    trial.cancel();
    trial.board.is_over();
    let answer = trial.solve(CANCEL);
    trial.check(&answer, &Answer::Cancelled, CANCEL);
    nothing_is_begun(&trial, || {});
}

/// The event that ends a search while several threads wait for its answer.
#[derive(Clone, Copy)]
enum End {
    Solution,
    NoSolution,
    Cancel,
}

pub fn everybody_gets_the_answer() {
    for end in [End::Solution, End::NoSolution, End::Cancel] {
        let (gate, (threads, below)) = (Gate::new(), Below::threads());
        let at_gate = Arc::clone(&gate);
        let solved: &[u32] = if matches!(end, End::Solution) { &[2] } else { &[] };
        let board = Board::new(&[(1, 'a', 2)], solved).when(Asks::Moves, 1, Box::new(move || at_gate.pass()));
        let trial = Trial::new(board, &below);
        let asked = [trial.asks("one", NOT_FOR_ALL), trial.asks("another", NOT_FOR_ALL)];
        gate.until_reached(NO_END);
        until_others_wait(
            "solve() runs on and on while there is no answer",
            "wait on a Condvar until there is an answer: checking again and again keeps a core busy",
        );
        let expected = match end {
            End::Solution => Answer::Solved(vec!['a']),
            End::NoSolution => Answer::NoSolution,
            End::Cancel => Answer::Cancelled,
        };
        if matches!(end, End::Cancel) {
            trial.cancel();
        } else {
            gate.open();
        }
        for asked in asked {
            trial.check(&asked.answer(), &expected, EARLY);
        }
        let late = trial.solve(NOT_FOR_ALL);
        trial.check(&late, &expected, NOT_FOR_ALL);
        gate.open();
        join(&threads);
    }
}

pub fn several_calls_are_one_search() {
    let (threads, below) = Below::threads();
    let trial = Trial::new(Board::new(&[(1, 'a', 2)], &[]), &below);
    let other = trial.asks("another", ONE_SEARCH);
    let answer = trial.solve(ONE_SEARCH);
    for answer in [answer, other.answer()] {
        trial.check_no_solution(&answer, ONE_SEARCH);
    }
    join(&threads);
}

pub fn a_panic_is_told() {
    let found = Answer::Solved(vec!['b', 'c']);
    for (asks, solved, expected) in [(Asks::Moves, &[][..], Answer::Panicked), (Asks::IsSolved, &[4], found)]
    {
        let (threads, below) = Below::threads();
        let board = Board::new(TREE, solved).when(asks, 2, Box::new(|| panic_on_purpose()));
        let trial = Trial::new(board, &below);
        let answer = trial.solve(PANIC);
        trial.check(&answer, &expected, PANIC);
        if solved.is_empty() {
            trial.check_all_looked_at(PANIC);
        }
        join(&threads);
    }
}

pub fn a_panic_in_a_refused_position_stays_there() {
    for at in 1..=4 {
        let board = Board::new(FAN, &[]).when(Asks::Moves, at, Box::new(|| panic_on_purpose()));
        let trial = Trial::new(board, &Below::refusing());
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| trial.solve(PANIC_OF_REFUSED))) else {
            fail(&format!("the panic of moves({at}) came out of solve()"), PANIC_OF_REFUSED)
        };
        trial.check(&answer, &Answer::Panicked, PANIC_OF_REFUSED);
        if at > 1 {
            trial.check_all_looked_at(PANIC_OF_REFUSED);
        }
    }
}

pub fn a_refused_position_is_searched() {
    for solved in [&[][..], &[4]] {
        let trial = Trial::new(Board::new(CIRCLES, solved), &Below::refusing());
        let answer = trial.solve(REFUSED);
        let (threads, below) = Below::threads_for_some();
        let other = Trial::new(Board::new(CIRCLES, solved), &below);
        let answer_of_other = other.solve(REFUSED);
        for (trial, answer) in [(trial, answer), (other, answer_of_other)] {
            if solved.is_empty() {
                trial.check_no_solution(&answer, REFUSED);
            } else {
                trial.check_solved(&answer, REFUSED);
            }
        }
        join(&threads);
    }
}

/// The number of positions of a puzzle in which each position has one move, to the next position.
const LINE: u32 = 100;

/// A limit for the stack of a search, in bytes. A search without nested calls uses fewer bytes of stack than
/// this limit; a search with nested calls uses more.
const DEEP: usize = 64 * LINE as usize;

pub fn refusals_do_not_nest() {
    let edges: Vec<Edge> = (1..LINE).map(|position| (position, 'n', position + 1)).collect();
    let trial = Trial::new(Board::new(&edges, &[]), &Below::refusing());
    let answer = trial.solve(REFUSED);
    trial.check_no_solution(&answer, REFUSED);
    let depth = trial.board.depth();
    if depth > DEEP {
        let seen =
            format!("{LINE} positions in a row were refused, and the stack grew by more than {DEEP} bytes");
        fail(&seen, NESTED);
    }
}

pub fn a_cancel_ends_the_wait() {
    let (gate, (threads, below)) = (Gate::new(), Below::threads());
    let at_gate = Arc::clone(&gate);
    let board = Board::new(TREE, &[]).when(Asks::Moves, 1, Box::new(move || at_gate.pass()));
    let trial = Trial::new(board, &below);
    let asked = trial.asks("solver", CANCEL);
    gate.until_reached(NO_END);
    trial.cancel();
    trial.check(&asked.answer(), &Answer::Cancelled, CANCEL);
    gate.open();
    join(&threads);
}

pub fn a_cancel_may_come_at_any_moment() {
    let (threads, below) = Below::threads();
    let trial = Trial::new(Board::new(&[(1, 'a', 2)], &[]), &below);
    let other = Arc::clone(&trial);
    let canceller = on_a_thread("canceller", Box::new(move || other.cancel()));
    let first = trial.solve(CANCEL);
    if expect("cancel()", CANCEL, || canceller.join()).is_err() {
        fail("cancel() panicked", CANCEL);
    }
    match first {
        Answer::Cancelled => {}
        _ => trial.check_no_solution(&first, CANCEL),
    }
    join(&threads);
    let second = trial.solve(NOT_FOR_ALL);
    trial.check(&second, &first, FIRST);
}
