//! Shows which kinds of search notice that a puzzle has no solution.

use crate::trials::{fresh, pool};
use crate::{classic, counted, puzzles};
use executor::{Discard, Executor, FifoQueue, ThreadPoolExecutor};
use std::{sync::Arc, time::Duration};

pub fn none() {
    let [a, b, c] = [(); 3].map(|()| fresh(puzzles::without_solution()));
    let two = Arc::new(ThreadPoolExecutor::fixed(2));
    let all_of_it: Arc<dyn Executor> = two.clone();
    let first = classic::solve(&a, &all_of_it, Duration::from_secs(1));
    println!(
        "classic:  {first:?} after 1 s, with {} positions seen and {} tasks left",
        a.seen.count(),
        left(&two)
    );
    println!("counted:  {:?}, with {} positions seen", counted::solve(&b, &all_of_it), b.seen.count());
    let forgetful = pool(
        ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(2)).rejection_handler(Discard),
    );
    println!("the same, on a pool that discards: {:?}", counted::solve(&c, &forgetful));
}

fn left(pool: &ThreadPoolExecutor) -> usize {
    let stats = pool.stats();
    stats.queued + stats.active
}
