//! Shows the length of the solution that each kind of search finds for the small puzzles.

use crate::blocks::Blocks;
use crate::puzzle::Position;
use crate::search::Search;
use crate::unfinished::Unfinished;
use crate::way::Way;
use crate::{counted, levels, puzzles};
use executor::{Executor, FifoQueue, LifoQueue, ThreadPoolBuilder, ThreadPoolExecutor};
use std::sync::Arc;

pub fn fresh(puzzle: Blocks) -> Arc<Search<Blocks>> {
    Arc::new(Search::new(puzzle, 1 << 20))
}

pub fn pool(builder: ThreadPoolBuilder) -> Arc<dyn Executor> {
    Arc::new(builder.build().expect("its settings do not contradict each other"))
}

pub fn solution() -> Result<Way, Unfinished> {
    let search = Search::new(puzzles::klotski(), 1 << 20);
    let solved = search.sequential()?.expect("Klotski has a solution");
    let boards = search.puzzle.shown(&search.seen.way_to(&search.puzzle, solved));
    Ok(Way { blocks: search.puzzle, boards })
}

// ANCHOR: ways
pub fn ways() -> Result<(), Unfinished> {
    let [a, b, c, d] = [(); 4].map(|()| fresh(puzzles::klotski()));
    print("one thread, no pool", &a, a.sequential()?);
    print("level by level", &b, levels::solve(&b, &ThreadPoolExecutor::fixed(2), 8)?);
    // Only one thread runs the tasks, in the order in which the queue gives them out.
    let one = || ThreadPoolExecutor::builder().threads(1);
    print("a task each, FIFO queue", &c, counted::solve(&c, &pool(one().queue(FifoQueue::unbounded())))?);
    print("a task each, LIFO queue", &d, counted::solve(&d, &pool(one().queue(LifoQueue::unbounded())))?);
    Ok(())
}
// ANCHOR_END: ways

fn print(way: &str, search: &Search<Blocks>, solution: Option<Position>) {
    let solution = solution.expect("Klotski has one");
    println!("{way:24} {:4} steps", search.seen.way_to(&search.puzzle, solution).len() - 1);
}
