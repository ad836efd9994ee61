//! Runs the same trees on the real pool and in the simulation.

use super::measure::{costs, median, nanos, pool};
use super::pool::simulate;
use super::tree::Tree;
use super::trees;
use executor::fork_join::{ForkJoinPool, join};
use std::hint::black_box;
use std::thread;
use std::time::Instant;

/// The number of turns that are measured. Only a third of all turns is used: in these turns, two unrelated
/// threads disturbed each other less than in the other turns.
const TURNS: usize = 15;

pub fn check() {
    let (costs, steps) = (costs(), steps_in_a_micro());
    println!("measured here: {costs}");
    let pools = [pool(1), pool(2)];
    println!("tree                         workers   measured   simulated   difference   two at once");
    for (name, tree) in trees::to_check() {
        let alone = median((0..TURNS).map(|_| timed(|| alone(&tree, 0, steps))).collect());
        let turn = |_| {
            let before = side_by_side(&tree, steps);
            let measured = pools.each_ref().map(|pool| in_pool(pool, &tree, steps));
            (before.max(side_by_side(&tree, steps)), measured)
        };
        let mut turns: Vec<_> = (0..TURNS).map(turn).collect();
        turns.sort_unstable();
        turns.truncate(TURNS / 3);
        let beside = median(turns.iter().map(|turn| turn.0).collect()) as f64 / alone as f64;
        let as_it_was = tree.scaled(alone);
        for workers in [1, 2] {
            let measured = median(turns.iter().map(|turn| turn.1[workers - 1]).collect());
            let simulated = simulate(&as_it_was, workers, costs, 1, false).time;
            let difference = 100.0 * (simulated as f64 / measured as f64 - 1.0);
            let (measured, simulated) = (measured as f64 / 1e6, simulated as f64 / 1e6);
            print!("{name:<29}{workers:7}{measured:8.2} ms{simulated:9.2} ms{difference:+11.1} %");
            println!("{beside:14.2}");
        }
    }
}

/// Does work that uses no memory; the compiler cannot optimise the work away.
#[inline(never)] // the same code for all callers
fn work(nanos: u64, steps: u64) {
    let state = (0..nanos * steps / 1_000).fold(nanos, |state, step| black_box(state ^ step).rotate_left(5));
    black_box(state);
}

fn steps_in_a_micro() -> u64 {
    let time = median((0..101).map(|_| timed(|| work(1_000, 1_000_000))).collect());
    1_000_000_000 / time.max(1)
}

fn alone(tree: &Tree, number: usize, steps: u64) {
    let node = &tree.0[number];
    work(node.before, steps);
    if let Some(second) = node.second {
        alone(tree, number + 1, steps);
        alone(tree, second, steps);
        work(node.after, steps);
    }
}

fn joined(tree: &Tree, number: usize, steps: u64) {
    let node = &tree.0[number];
    work(node.before, steps);
    if let Some(second) = node.second {
        join(|| joined(tree, number + 1, steps), || joined(tree, second, steps));
        work(node.after, steps);
    }
}

fn timed(f: impl FnOnce()) -> u64 {
    let began = Instant::now();
    f();
    nanos(began)
}

/// Returns the time from the first call on a worker to the end of that call; the simulation measures the same
/// time.
fn in_pool(pool: &ForkJoinPool, tree: &Tree, steps: u64) -> u64 {
    pool.invoke(|| timed(|| joined(tree, 0, steps))).expect("the pool runs")
}

/// Returns the time of the slower of two threads; the two threads share no data.
fn side_by_side(tree: &Tree, steps: u64) -> u64 {
    let one = || timed(|| alone(tree, 0, steps));
    thread::scope(|scope| {
        let [first, second] = [scope.spawn(one), scope.spawn(one)];
        first.join().expect("it works").max(second.join().expect("it works"))
    })
}
