//! Searches the large puzzle: the first search is stopped right after its start, and the further searches run
//! on more and more threads.

use crate::batches::{self, Bounds};
use crate::blocks::Blocks;
use crate::search::Search;
use crate::unfinished::Answer;
use crate::{levels, puzzles};
use executor::{CancelToken, Executor, ThreadPoolExecutor};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A number that is larger than the number of positions of the large puzzle.
const MOST: usize = 20_000_000;

fn fresh() -> Arc<Search<Blocks>> {
    Arc::new(Search::new(puzzles::large(), MOST))
}

// ANCHOR: stop
pub fn stop() {
    let (search, pool) = (fresh(), Arc::new(ThreadPoolExecutor::fixed(2)));
    let executor: Arc<dyn Executor> = pool.clone();
    let (began, limit) = (Instant::now(), Duration::from_millis(100));
    let token = CancelToken::new().with_timeout(limit);
    let answer = token.attach(|| batches::solve(&search, &executor, Bounds(8, 64)));
    let late = began.elapsed().saturating_sub(limit);
    println!("{answer:?}, {} s after the limit; {} tasks are queued", late.as_secs(), pool.stats().queued);

    let small = Arc::new(Search::new(puzzles::large(), 10_000));
    println!("{:?} with room for 10000 positions", batches::solve(&small, &executor, Bounds(8, 64)));
}
// ANCHOR_END: stop

// ANCHOR: measure
pub fn measure() {
    println!("workers     batches      levels");
    let alone = timed(1, |search, _| search.sequential());
    println!("no pool   {alone:8.1} s  {alone:8.1} s");
    for workers in [1, 2, 4, 8] {
        let batches = timed(workers, |search, pool| batches::solve(search, &pool, Bounds(4 * workers, 64)));
        let levels = timed(workers, |search, pool| levels::solve(search, &pool, 4 * workers));
        println!("{workers:7}   {batches:8.1} s  {levels:8.1} s");
    }
}
// ANCHOR_END: measure

/// Returns the number of seconds until all positions were seen.
fn timed(workers: usize, solve: impl Fn(&Arc<Search<Blocks>>, Arc<dyn Executor>) -> Answer) -> f64 {
    let (search, pool) = (fresh(), Arc::new(ThreadPoolExecutor::fixed(workers)));
    let began = Instant::now();
    assert_eq!(solve(&search, pool), Ok(None));
    began.elapsed().as_secs_f64()
}
