//! Shows how many threads are enough for chains of tasks: in a chain, each task waits for the next task.
//!
//! ```sh
//! cargo run --example how_big_a_pool
//! ```
//!
//! The book explains this example in the chapter "Tasks that wait for tasks".

use executor::{CallerRuns, HandOffQueue, ThreadPoolExecutor, prelude::*};
use std::iter::repeat_n;
use std::sync::{Arc, Barrier};

// ANCHOR: chain
/// The pool of each level, and the barrier at which the tasks of the level wait for each other.
type Levels = Arc<Vec<(Arc<ThreadPoolExecutor>, Barrier)>>;

/// A task of one level; it waits for a task of the next level, if there is a next level.
fn task(levels: &Levels, level: usize) -> bool {
    if level + 1 == levels.len() {
        return true;
    }
    levels[level].1.wait();
    let below = Arc::clone(levels);
    let next = levels[level + 1].0.submit(move || task(&below, level + 1));
    next.expect("the pool accepts tasks").join().unwrap_or(false)
}
// ANCHOR_END: chain

/// Runs `chains` chains at the same time; each level has its own pool. If `in_step` is true, each chain waits
/// for the other chains on each level.
fn run(pools: &[Arc<ThreadPoolExecutor>], chains: usize, in_step: bool) -> &'static str {
    let meet = if in_step { chains } else { 1 };
    let levels: Levels = Arc::new(pools.iter().map(|pool| (Arc::clone(pool), Barrier::new(meet))).collect());
    let first = (0..chains).map(|_| {
        let levels = Arc::clone(&levels);
        pools[0].submit(move || task(&levels, 0)).expect("the pool accepts tasks")
    });
    let first: Vec<_> = first.collect();
    let ends = first.into_iter().filter_map(|chain| chain.join().ok()).filter(|&is_done| is_done).count();
    if ends == chains { "done" } else { "starved" }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("depth  chains  waits  as many threads  one more  a thread per level  hand-off, one thread");
    for (depth, chains) in [(2, 1), (2, 3), (2, 10), (3, 1), (3, 3), (4, 3)] {
        let waits = (depth - 1) * chains;
        let all_on = |pool| repeat_n(Arc::new(pool), depth).collect::<Vec<_>>();
        let each: Vec<_> = (0..depth).map(|_| Arc::new(ThreadPoolExecutor::fixed(1))).collect();
        let hand_off = ThreadPoolExecutor::builder().queue(HandOffQueue::new()).rejection_handler(CallerRuns);
        println!(
            "{depth:5}  {chains:6}  {waits:5}  {:15}  {:8}  {:18}  {}",
            run(&all_on(ThreadPoolExecutor::fixed(waits)), chains, true),
            run(&all_on(ThreadPoolExecutor::fixed(waits + 1)), chains, true),
            run(&each, chains, false),
            run(&all_on(hand_off.build()?), chains, false),
        );
    }
    Ok(())
}
