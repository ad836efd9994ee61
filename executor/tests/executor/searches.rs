//! Tests the searches of `examples/puzzle`: they find the solutions, notice when there is no solution, and
//! end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use executor::{
    CancelToken, Discard, Executor, FifoQueue, LifoQueue, ThreadPoolExecutor, WaitError, prelude::*,
};

use crate::support::{LONG, SHORT, assert_matches, eventually, within_deadline};

mod door {
    pub(crate) use std::sync;
}

#[path = "../../examples/puzzle/batches.rs"]
#[allow(unreachable_pub)] // they read like modules of a library
mod batches;
#[path = "../../examples/puzzle/blocks.rs"]
#[allow(unreachable_pub, dead_code)] // the drawing is only for the example
mod blocks;
#[path = "../../examples/puzzle/classic.rs"]
#[allow(unreachable_pub)]
mod classic;
#[path = "../../examples/puzzle/counted.rs"]
#[allow(unreachable_pub)]
mod counted;
#[path = "../../examples/puzzle/end.rs"]
#[allow(unreachable_pub)]
mod end;
#[path = "../../examples/puzzle/entry.rs"]
#[allow(unreachable_pub)]
mod entry;
#[path = "../../examples/puzzle/levels.rs"]
#[allow(unreachable_pub)]
mod levels;
#[path = "../../examples/puzzle/mix.rs"]
#[allow(unreachable_pub)]
mod mix;
#[path = "../../examples/puzzle/moves.rs"]
#[allow(unreachable_pub)]
mod moves;
#[path = "../../examples/puzzle/puzzle.rs"]
#[allow(unreachable_pub)]
mod puzzle;
#[path = "../../examples/puzzle/puzzles.rs"]
#[allow(unreachable_pub, dead_code)] // the large puzzle is only for the example
mod puzzles;
#[path = "../../examples/puzzle/search.rs"]
#[allow(unreachable_pub)]
mod search;
#[path = "../../examples/puzzle/seen.rs"]
#[allow(unreachable_pub)]
mod seen;
#[path = "../../examples/puzzle/slide.rs"]
#[allow(unreachable_pub)]
mod slide;
#[path = "../../examples/puzzle/under_way.rs"]
#[allow(unreachable_pub)]
mod under_way;
#[path = "../../examples/puzzle/unfinished.rs"]
#[allow(unreachable_pub)]
mod unfinished;

use batches::Bounds;
use blocks::Blocks;
use puzzle::{Move, Position, Puzzle};
use search::Search;
use unfinished::{Answer, Unfinished};

/// A function that searches with tasks on an executor.
type Way<P> = fn(&Arc<Search<P>>, &Arc<dyn Executor>) -> Answer;

fn ways<P: Puzzle>() -> [Way<P>; 3] {
    [
        |search, pool| counted::solve(search, pool),
        |search, pool| batches::solve(search, pool, Bounds(4, 8)),
        |search, pool| levels::solve(search, pool, 4),
    ]
}

/// A number that is larger than the number of positions of each puzzle in this file, except the large puzzle.
const MOST: usize = 1 << 20;

fn fresh<P: Puzzle>(puzzle: P) -> Arc<Search<P>> {
    Arc::new(Search::new(puzzle, MOST))
}

fn pool_of(threads: usize) -> (Arc<ThreadPoolExecutor>, Arc<dyn Executor>) {
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads));
    (Arc::clone(&pool), pool)
}

fn nothing_is_left(pool: &ThreadPoolExecutor) {
    eventually("no task is left", || {
        let now = pool.stats(); // one snapshot: between two, a task that runs may submit another one and end
        now.queued + now.active == 0
    });
}

/// Asserts that the puzzle allows each step of the way to a position, and returns the number of steps.
fn steps(search: &Search<impl Puzzle>, solved: Position) -> usize {
    let way = search.seen.way_to(&search.puzzle, solved);
    assert_eq!(way[0], (Move::NONE, search.puzzle.start()));
    for pair in way.windows(2) {
        assert!(search.puzzle.moves(pair[0].1).contains(&pair[1]), "{pair:?}");
    }
    assert!(search.puzzle.is_solved(way.last().unwrap().1));
    way.len() - 1
}

#[test]
fn the_fewest_steps_of_klotski_are_found_in_order_and_by_levels() {
    within_deadline(|| {
        let search = fresh(puzzles::klotski());
        assert_eq!(steps(&search, search.sequential().unwrap().unwrap()), 116);
        let search = fresh(puzzles::klotski());
        let solved = levels::solve(&search, &*pool_of(2).1, 8).unwrap().unwrap();
        assert_eq!(steps(&search, solved), 116);
    });
}

/// The expected number of steps is well known. The block can never reach this target, so the search sees all
/// positions.
#[test]
fn klotski_has_25955_positions() {
    within_deadline(|| {
        let search = fresh(Blocks { target: blocks::CELLS - 1, ..puzzles::klotski() });
        assert_eq!(search.sequential(), Ok(None));
        assert_eq!(search.seen.count(), 25_955);
    });
}

/// Returns a puzzle in which a large block must be moved from one corner to the opposite corner.
fn small() -> Blocks {
    puzzles::draw("AAB AAC DEF G..", 7)
}

#[test]
fn a_solution_that_tasks_find_is_a_way_from_the_start() {
    within_deadline(|| {
        let search = fresh(small());
        let fewest = steps(&search, search.sequential().unwrap().unwrap());
        for way in ways() {
            let (search, (pool, executor)) = (fresh(small()), pool_of(3));
            let solved = way(&search, &executor).unwrap().unwrap();
            assert!(steps(&search, solved) >= fewest);
            nothing_is_left(&pool);
        }
    });
}

/// The tasks search the positions in the order in which the queue gives out the tasks.
#[test]
fn a_search_by_tasks_promises_no_shortest_solution() {
    within_deadline(|| {
        let lifo = ThreadPoolExecutor::builder().threads(1).queue(LifoQueue::unbounded()).build().unwrap();
        let search = fresh(puzzles::klotski());
        let solved = counted::solve(&search, &(Arc::new(lifo) as Arc<dyn Executor>)).unwrap().unwrap();
        assert!(steps(&search, solved) > 116);
    });
}

#[test]
fn the_classic_finds_a_solution_and_never_learns_that_there_is_none() {
    within_deadline(|| {
        let (pool, executor) = pool_of(2);
        let search = fresh(small());
        let solved = classic::solve(&search, &executor, LONG).unwrap().unwrap();
        steps(&search, solved);
        nothing_is_left(&pool);

        let search = fresh(puzzles::without_solution());
        let its_search = Arc::clone(&search);
        let caller = CancelToken::new();
        let token = caller.clone();
        let waiting_for_it =
            thread::spawn(move || token.attach(|| classic::solve(&its_search, &executor, 2 * LONG)));
        eventually("all positions are seen", || search.seen.count() == 168);
        nothing_is_left(&pool);
        assert!(!waiting_for_it.is_finished());
        caller.cancel();
        assert_matches!(waiting_for_it.join().unwrap(), Err(WaitError::Interrupted));
    });
}

#[test]
fn a_puzzle_without_solution_is_known_to_have_none() {
    within_deadline(|| {
        for way in ways() {
            for threads in 1..=3 {
                let search = fresh(puzzles::without_solution());
                assert_eq!(way(&search, &pool_of(threads).1), Ok(None));
                assert_eq!(search.seen.count(), 168);
            }
        }
    });
}

/// A puzzle with so many positions, in random order, that no search sees all of them. The closure decides
/// for each position whether it is a solution.
struct Endless<F>(F);

impl<F: Fn(u64) -> bool + Send + Sync + 'static> Puzzle for Endless<F> {
    fn start(&self) -> Position {
        Position(1)
    }

    fn is_solved(&self, Position(position): Position) -> bool {
        self.0(position)
    }

    fn moves(&self, Position(position): Position) -> Vec<(Move, Position)> {
        let next =
            |side: u8| (position.wrapping_mul(6_364_136_223_846_793_005) + u64::from(side)) % (1 << 56);
        [0, 1].map(|side| (Move(side), Position(next(side)))).into()
    }

    fn before(&self, _: Move, _: Position) -> Position {
        unreachable!("no way back is asked for")
    }
}

fn endless() -> Arc<Search<impl Puzzle>> {
    Arc::new(Search::new(Endless(|_| false), usize::MAX))
}

#[test]
fn a_cancel_stops_a_search_and_leaves_nothing_in_the_pool() {
    within_deadline(|| {
        for way in ways() {
            let (search, (pool, executor), token) = (endless(), pool_of(2), CancelToken::new());
            let (own, its_token) = (Arc::clone(&search), token.clone());
            let solver = thread::spawn(move || its_token.attach(|| way(&own, &executor)));
            eventually("the search goes on", || search.seen.count() > 1_000);
            token.cancel();
            assert_eq!(solver.join().unwrap(), Err(Unfinished::Cancelled));
            nothing_is_left(&pool);
        }
        let (search, token) = (endless(), CancelToken::new().with_timeout(SHORT));
        assert_eq!(token.attach(|| search.sequential()), Err(Unfinished::Cancelled));
    });
}

/// The endless puzzle must have a solution, because a search without a solution would never end.
#[test]
fn a_solution_stops_those_who_still_search() {
    within_deadline(|| {
        for way in ways() {
            let (search, (pool, executor)) =
                (Arc::new(Search::new(Endless(|at| at % 1_000 == 7), usize::MAX)), pool_of(2));
            assert_matches!(way(&search, &executor), Ok(Some(Position(at))) if at % 1_000 == 7);
            nothing_is_left(&pool);
        }
    });
}

#[test]
fn a_time_limit_stops_a_search() {
    within_deadline(|| {
        for way in ways() {
            let (search, (pool, executor)) = (endless(), pool_of(2));
            let token = CancelToken::new().with_timeout(SHORT);
            assert_eq!(token.attach(|| way(&search, &executor)), Err(Unfinished::Cancelled));
            nothing_is_left(&pool);
        }
    });
}

#[test]
fn a_search_sees_no_more_positions_than_it_has_room_for() {
    within_deadline(|| {
        for way in ways() {
            let (search, (pool, executor)) = (Arc::new(Search::new(puzzles::klotski(), 640)), pool_of(2));
            assert_eq!(way(&search, &executor), Err(Unfinished::NoRoom));
            assert!(search.seen.count() <= 640);
            nothing_is_left(&pool);
        }
    });
}

/// If a task of the search is lost, the search must not answer that there is no solution.
#[test]
fn a_task_that_is_dropped_or_refused_or_panics_is_no_sign_that_there_is_no_solution() {
    within_deadline(|| {
        let bounded = || ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
        let discarding = bounded().rejection_handler(Discard).build().unwrap();
        let refusing = bounded().build().unwrap();
        for pool in [discarding, refusing] {
            let (search, executor) =
                (fresh(puzzles::without_solution()), Arc::new(pool) as Arc<dyn Executor>);
            assert_eq!(counted::solve(&search, &executor), Err(Unfinished::TaskLost));
        }
        for way in ways() {
            let (pool, executor) = pool_of(2);
            pool.shutdown();
            assert_eq!(way(&fresh(puzzles::klotski()), &executor), Err(Unfinished::TaskLost));
        }
        for way in ways() {
            let panics = Endless(|position| {
                assert!(position % 100 != 7, "a position that the puzzle cannot stand");
                false
            });
            let (search, (_, executor)) = (Arc::new(Search::new(panics, 5_000)), pool_of(2));
            assert_eq!(way(&search, &executor), Err(Unfinished::TaskLost));
        }
    });
}

/// The pool's request to stop must also reach a task that submits no further task.
#[test]
fn a_pool_that_is_shut_down_now_ends_its_searches() {
    within_deadline(|| {
        for way in ways() {
            let (search, (pool, executor)) = (endless(), pool_of(1));
            let own = Arc::clone(&search);
            let solver = thread::spawn(move || way(&own, &executor));
            eventually("the search goes on", || search.seen.count() > 1_000);
            drop(pool.shutdown_now());
            assert_matches!(solver.join().unwrap(), Err(Unfinished::Cancelled | Unfinished::TaskLost));
            assert!(pool.await_termination(LONG));
        }
    });
}

/// The number of tasks that the search has in the pool does not grow with the number of positions.
#[test]
fn batches_have_at_most_so_many_tasks_at_a_time() {
    within_deadline(|| {
        let ((pool, executor), most) = (pool_of(2), Arc::new(AtomicUsize::new(0)));
        let noted = Arc::clone(&most);
        let look = move |_| {
            let stats = pool.stats();
            noted.fetch_max(stats.queued + stats.active, Ordering::Relaxed);
            false
        };
        let search = Arc::new(Search::new(Endless(look), 5_000));
        assert_eq!(batches::solve(&search, &executor, Bounds(3, 4)), Err(Unfinished::NoRoom));
        // On each thread, one more task may still be running, although this task has already given back its
        // permit (`places`).
        assert!((3..=5).contains(&most.load(Ordering::Relaxed)), "{most:?}");
    });
}
