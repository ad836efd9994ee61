//! A lock may be held across a join, a scope or a parallel loop. In each test, a piece of a parallel loop
//! holds a lock and runs another parallel loop. A waiting thread must not run a piece of the outer loop,
//! because then the test would hang.

use std::sync::Mutex;
use std::time::Duration;

use executor::fork_join::{ForkJoinPool, fork, join, par_for_each, par_map};
use executor::{ExecutorExt, ThreadPoolExecutor};

use crate::support::{rounds, within_deadline};

const OUTER: usize = 50;
const INNER: usize = 16;
const THREADS: usize = 4;

/// Sleeps for a time in which another thread can begin to help.
fn work() {
    std::thread::sleep(Duration::from_micros(50));
}

/// Runs the loop `outer` several times; each piece of this loop holds a lock while it calls `inner`, and each
/// round has its own lock.
fn under_a_lock(outer: impl Fn(&(dyn Fn() + Sync)), inner: impl Fn() + Sync) {
    for _ in rounds(4) {
        let done = Mutex::new(0);
        outer(&|| {
            let mut done = done.lock().unwrap();
            inner();
            *done += 1;
        });
        assert_eq!(done.into_inner().unwrap(), OUTER);
    }
}

fn scope_of(executor: &impl ExecutorExt, pieces: usize, piece: impl Fn() + Sync) {
    executor
        .scope(|scope| {
            for _ in 0..pieces {
                scope.spawn(&piece).unwrap();
            }
        })
        .unwrap();
}

fn halves(pieces: usize) {
    if pieces == 1 {
        return work();
    }
    join(|| halves(pieces / 2), || halves(pieces / 2));
}

#[test]
fn a_loop_in_a_loop() {
    within_deadline(|| {
        let pool = ForkJoinPool::new(THREADS).unwrap();
        let outer = |f: &(dyn Fn() + Sync)| pool.invoke(|| par_for_each(0..OUTER, |_| f())).unwrap();
        under_a_lock(outer, || par_for_each(0..INNER, |_| work()));
        under_a_lock(outer, || drop(par_map(0..INNER, |_| work())));
    });
}

#[test]
fn a_join_or_a_scope_or_a_task_in_a_scope_of_a_fork_join_pool() {
    within_deadline(|| {
        let pool = ForkJoinPool::new(THREADS).unwrap();
        let outer = |f: &(dyn Fn() + Sync)| pool.invoke(|| scope_of(&pool, OUTER, f)).unwrap();
        under_a_lock(outer, || halves(INNER));
        under_a_lock(outer, || scope_of(&pool, INNER, work));
        under_a_lock(outer, || fork(|| halves(INNER)).join().unwrap());
    });
}

#[test]
fn a_scope_in_a_scope_of_a_thread_pool() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(THREADS);
        let outer = |f: &(dyn Fn() + Sync)| scope_of(&pool, OUTER, f);
        under_a_lock(outer, || scope_of(&pool, INNER, work));
    });
}
