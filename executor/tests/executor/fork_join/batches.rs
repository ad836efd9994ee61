//! Tests of batches of tasks, and of computations that fork only when thieves look for work.

use std::sync::Arc;

use executor::fork_join::{ForkJoinPool, fork, in_pool, surplus};
use executor::{JoinError, TaskHandle, prelude::*};

use super::pool;
use crate::support::{LONG, rounds, within_deadline};

/// Runs `count` tasks with one call of `invoke_all`, and adds their results. The argument `failing` is the
/// number of the task that fails, if there is such a task.
fn sum_of_batch(pool: &ForkJoinPool, count: u32, failing: Option<u32>) -> (u32, Vec<String>) {
    let task = |n| {
        move || {
            assert_ne!(Some(n), failing, "task {n} fails");
            assert!(in_pool());
            n
        }
    };
    let (mut sum, mut failures) = (0, Vec::new());
    for handle in pool.invoke_all((1..=count).map(task)).unwrap() {
        assert!(handle.is_finished());
        match handle.join() {
            Ok(n) => sum += n,
            Err(JoinError::Panicked(panic)) => failures.push(panic.message().to_owned()),
            Err(other) => panic!("{other:?}"),
        }
    }
    (sum, failures)
}

/// FJ-30, FJ-31, FJ-32, FJ-33, FJ-35, FJ-36, FJ-37
#[test]
fn a_batch_runs_one_two_three_or_many_and_says_which_has_failed_from_outside_and_from_inside() {
    within_deadline(|| {
        for threads in [1, 2] {
            let pool = Arc::new(pool(threads));
            let check = |pool: &ForkJoinPool| {
                for count in [1, 2, 3, 50] {
                    let all = (1..=count).sum();
                    assert_eq!(sum_of_batch(pool, count, None), (all, vec![]));
                    let (sum, failures) = sum_of_batch(pool, count, Some(count));
                    assert_eq!((sum, failures.len()), (all - count, 1));
                    assert!(failures[0].contains(&format!("task {count} fails")));
                }
            };
            check(&pool);
            let own = Arc::clone(&pool);
            pool.submit(move || check(&own)).unwrap().join().unwrap();
        }
    });
}

/// FJ-39
#[test]
fn the_surplus_is_what_is_queued_beyond_what_idle_workers_could_steal() {
    within_deadline(|| {
        assert_eq!(surplus(), 0, "outside any pool");
        let alone = pool(1);
        let body = || {
            let before = surplus();
            let forks = [fork(|| ()), fork(|| ()), fork(|| ())];
            let with_three = surplus();
            forks.into_iter().rev().for_each(|fork| fork.join().unwrap());
            (before, with_three, surplus())
        };
        assert_eq!(alone.invoke(body).unwrap(), (0, 3, 0));
        assert!(alone.await_quiescence(LONG));
        assert_eq!(pool(4).invoke(surplus).unwrap(), -3, "three could be started, and find nothing");
    });
}

#[derive(Clone, Copy)]
enum Forking {
    Never,
    Always,
    WhileWanted,
}

/// Computes the integral of a cubic. The function splits the range into halves until two rules give the same
/// result.
fn integral(from: f64, to: f64, area: f64, forking: Forking) -> f64 {
    fn at(x: f64) -> f64 {
        (x * x + 1.0) * x
    }
    let trapezium = |from, to| (at(from) + at(to)) * 0.5 * (to - from);
    let middle = f64::midpoint(from, to);
    let (left, right) = (trapezium(from, middle), trapezium(middle, to));
    if (left + right - area).abs() < 1e-4 {
        return left + right;
    }
    let is_forked = match forking {
        Forking::Never => false,
        Forking::Always => true,
        Forking::WhileWanted => surplus() <= 3,
    };
    if !is_forked {
        return integral(from, middle, left, forking) + integral(middle, to, right, forking);
    }
    let forked = fork(move || integral(middle, to, right, forking));
    let left = integral(from, middle, left, forking);
    let right = match forking {
        // If no thief has the second half, the join runs the second half on this thread.
        Forking::WhileWanted => match forked.remove() {
            Some(task) => {
                task.run();
                forked.try_join().expect("it was run here")
            }
            None => forked.join().unwrap(),
        },
        _ => forked.join().unwrap(),
    };
    left + right
}

/// FJ-94
#[test]
fn quadrature_comes_out_the_same_however_much_it_forks() {
    within_deadline(|| {
        let expected = integral(0.0, 16.0, 0.0, Forking::Never);
        let exact = 16_f64.powi(4) / 4.0 + 16_f64.powi(2) / 2.0;
        assert!((expected - exact).abs() < 0.5, "{expected}");
        for threads in [1, 2, 4] {
            let pool = pool(threads);
            for forking in [Forking::Never, Forking::Always, Forking::WhileWanted] {
                let found = pool.invoke(|| integral(0.0, 16.0, 0.0, forking)).unwrap();
                assert_eq!(found.to_bits(), expected.to_bits(), "{threads} workers");
            }
        }
    });
}

/// Returns the number of ways to place queens in row `row` and all later rows. Each bit of `columns`, `left`
/// and `right` represents a threatened square.
fn queens(size: u32, row: u32, columns: u32, left: u32, right: u32) -> u32 {
    if row == size {
        return 1;
    }
    let free = (0..size).map(|column| 1 << column).filter(|&place| (columns | left | right) & place == 0);
    let with = |place: u32| (columns | place, (left | place) << 1, (right | place) >> 1);
    if row >= 3 {
        return free
            .map(with)
            .map(|(columns, left, right)| queens(size, row + 1, columns, left, right))
            .sum();
    }
    let forked: Vec<TaskHandle<u32>> = free
        .map(with)
        .map(|(columns, left, right)| fork(move || queens(size, row + 1, columns, left, right)))
        .collect();
    forked.into_iter().rev().map(|rest| rest.join().unwrap()).sum()
}

/// FJ-95
#[test]
fn queens_are_counted_right_on_every_board_and_steals_are_counted() {
    within_deadline(|| {
        let pool = pool(2);
        let mut steals = 0;
        for (size, ways) in (1..).zip([1, 0, 0, 2, 10, 4, 40, 92]) {
            assert_eq!(pool.invoke(|| queens(size, 0, 0, 0, 0)).unwrap(), ways, "{size}");
            assert!(pool.stats().steals >= steals, "it does not fall");
            steals = pool.stats().steals;
        }
        let stolen = rounds(usize::MAX).any(|_| {
            let _ = pool.invoke(|| queens(8, 0, 0, 0, 0)).unwrap();
            pool.stats().steals > 0
        });
        assert!(stolen, "two workers have shared nothing");
    });
}
