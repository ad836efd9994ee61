//! The end of a search by many tasks: this test compiles the files of `executor/examples/puzzle` against the
//! model, with a puzzle of seven positions.

use std::collections::HashSet;
use std::sync::Mutex as StdMutex;

use executor::{CancelToken, Executor, ThreadPoolExecutor, prelude::*};

use crate::door;
use door::sync::Arc;
use door::sync::atomic::{AtomicBool, Ordering};
use door::thread;
use door::time::Duration;

#[path = "../../../examples/puzzle/batches.rs"]
#[allow(unreachable_pub)] // they read like modules of a library
mod batches;
#[path = "../../../examples/puzzle/counted.rs"]
#[allow(unreachable_pub)]
mod counted;
#[path = "../../../examples/puzzle/end.rs"]
#[allow(unreachable_pub)]
mod end;
#[path = "../../../examples/puzzle/entry.rs"]
#[allow(unreachable_pub)]
mod entry;
#[path = "../../../examples/puzzle/mix.rs"]
#[allow(unreachable_pub)]
mod mix;
#[path = "../../../examples/puzzle/puzzle.rs"]
#[allow(unreachable_pub)]
mod puzzle;
#[path = "../../../examples/puzzle/search.rs"]
#[allow(unreachable_pub, dead_code)] // the search on one thread needs no model
mod search;
#[path = "../../../examples/puzzle/seen.rs"]
#[allow(unreachable_pub, dead_code)]
mod seen;
#[path = "../../../examples/puzzle/under_way.rs"]
#[allow(unreachable_pub)]
mod under_way;
#[path = "../../../examples/puzzle/unfinished.rs"]
#[allow(unreachable_pub)]
mod unfinished;

use batches::Bounds;
use puzzle::{Move, Position, Puzzle};
use search::Search;
use unfinished::{Answer, Unfinished};

const SCHEDULES: usize = 1_000;

/// The number of positions. From position `n`, moves lead to `2n`, `2n + 1` and `2(n ^ 1)`, so some positions
/// can be reached in several ways.
const POSITIONS: u8 = 7;

/// A puzzle that records which positions are solutions, and which positions a task has looked at.
struct Tree {
    solutions: &'static [u64],
    looked_at: StdMutex<HashSet<u64>>,
    is_over: AtomicBool,
    was_late: AtomicBool,
}

impl Puzzle for Tree {
    fn start(&self) -> Position {
        Position(1)
    }

    fn is_solved(&self, Position(position): Position) -> bool {
        self.looked_at.lock().unwrap().insert(position);
        if self.is_over.load(Ordering::SeqCst) {
            self.was_late.store(true, Ordering::SeqCst);
        }
        self.solutions.contains(&position)
    }

    fn moves(&self, Position(position): Position) -> Vec<(Move, Position)> {
        let below = [2 * position, 2 * position + 1, 2 * (position ^ 1)].into_iter();
        below
            .filter(|next| (2..=POSITIONS.into()).contains(next))
            .map(|next| (Move(0), Position(next)))
            .collect()
    }

    fn before(&self, _: Move, _: Position) -> Position {
        unreachable!("no way back is asked for")
    }
}

type Way = fn(&Arc<Search<Tree>>, &Arc<dyn Executor>) -> Answer;

/// Runs one of the two searches on a pool of two threads. The closure `meanwhile` is called during the
/// search, with the pool and the caller's token. When this function returns, no task of the search is running
/// any more.
fn search(
    solutions: &'static [u64],
    way: Way,
    meanwhile: fn(&ThreadPoolExecutor, &CancelToken),
) -> (Answer, usize) {
    let (pool, token) = (Arc::new(ThreadPoolExecutor::fixed(2)), CancelToken::new());
    let flags = (AtomicBool::new(false), AtomicBool::new(false));
    let tree = Tree { solutions, looked_at: StdMutex::default(), is_over: flags.0, was_late: flags.1 };
    let search = Arc::new(Search::new(tree, 1_000));
    let other = {
        let (pool, token) = (Arc::clone(&pool), token.clone());
        thread::spawn(move || meanwhile(&pool, &token))
    };
    let executor: Arc<dyn Executor> = pool.clone();
    let answer = token.attach(|| way(&search, &executor));
    search.puzzle.is_over.store(true, Ordering::SeqCst);
    other.join().unwrap();
    pool.close();
    assert!(!search.puzzle.was_late.load(Ordering::SeqCst), "a task runs after the end");
    let looked_at = search.puzzle.looked_at.lock().unwrap().len();
    (answer, looked_at)
}

fn of_each_way(
    solutions: &'static [u64],
    meanwhile: fn(&ThreadPoolExecutor, &CancelToken),
    expect: fn(Answer, usize),
) {
    let ways: [Way; 2] = [
        |search, pool| counted::solve(search, pool),
        |search, pool| batches::solve(search, pool, Bounds(2, 1)),
    ];
    for way in ways {
        let run = move || {
            let (answer, looked_at) = search(solutions, way, meanwhile);
            expect(answer, looked_at);
        };
        shuttle::check_random(run, SCHEDULES);
        shuttle::check_pct(run, SCHEDULES, 3);
    }
}

const ALL: usize = POSITIONS as usize;

#[test]
fn it_ends_without_solution_when_all_positions_were_looked_at() {
    of_each_way(&[], |_, _| (), |answer, looked_at| assert_eq!((answer, looked_at), (Ok(None), ALL)));
}

#[test]
fn it_ends_with_one_of_the_solutions() {
    of_each_way(
        &[6, 7],
        |_, _| (),
        |answer, _| {
            assert!(matches!(answer, Ok(Some(Position(6 | 7)))), "{answer:?}");
        },
    );
}

/// The cancellation can come at any moment, and the answer must be correct in every case.
#[test]
fn a_cancel_ends_it_and_nothing_runs_on() {
    of_each_way(
        &[7],
        |_, token| _ = token.cancel(),
        |answer, _| {
            assert!(matches!(answer, Ok(Some(Position(7))) | Err(Unfinished::Cancelled)), "{answer:?}");
        },
    );
}

#[test]
fn a_time_limit_ends_it_and_nothing_runs_on() {
    let limited = |solve: fn(&Arc<Search<Tree>>, &Arc<dyn Executor>) -> Answer| {
        move || {
            let (answer, _) = search(&[], solve, |_, _| ());
            assert!(matches!(answer, Ok(None) | Err(Unfinished::Cancelled)), "{answer:?}");
        }
    };
    let run = limited(|search, pool| {
        let token = CancelToken::current().with_timeout(Duration::from_millis(1));
        token.attach(|| counted::solve(search, pool))
    });
    shuttle::check_random(run, SCHEDULES);
}

/// The pool can be stopped at any moment, and the test drops the tasks that come back.
#[test]
fn with_tasks_lost_it_is_not_said_that_there_is_no_solution() {
    of_each_way(
        &[],
        |pool, _| drop(pool.shutdown_now()),
        |answer, looked_at| match answer {
            Ok(None) => assert_eq!(looked_at, ALL),
            Ok(Some(solution)) => panic!("{solution:?} solves nothing"),
            Err(why) => assert!(matches!(why, Unfinished::Cancelled | Unfinished::TaskLost), "{why}"),
        },
    );
}
