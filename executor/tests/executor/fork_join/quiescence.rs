//! Tests of waits until a pool has no task left: waits of threads outside the pool, waits of the pool's
//! workers, and nested waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use executor::fork_join::fork;
use executor::{JoinError, OnStarvation, StarvedWait, TaskHandle, ThreadPoolExecutor, WaitsFor, prelude::*};

use super::pool;
use crate::support::{LONG, Signal, Spot, within_deadline};

/// FJ-14
#[test]
fn a_worker_that_waits_for_quiescence_runs_what_there_is() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let left = pool.submit(move || {
            let forks: Vec<_> = (0..10).map(|n| fork(move || n)).collect();
            let is_quiet = own.await_quiescence(LONG);
            (is_quiet, own.stats().queued, forks.iter().filter(|fork| !fork.is_finished()).count())
        });
        assert_eq!(left.unwrap().join().unwrap(), (true, 0, 0));
    });
}

/// The worker runs the tasks one after the other, so its stack does not become deeper if there are more
/// tasks.
#[test]
fn a_worker_that_waits_for_quiescence_runs_a_hundred_tasks() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let left = pool.submit(move || {
            let forks: Vec<_> = (0..100).map(|n| fork(move || n)).collect();
            (own.await_quiescence(LONG / 2), forks.iter().filter(|fork| !fork.is_finished()).count())
        });
        assert_eq!(left.unwrap().join_timeout(LONG).unwrap(), (true, 0));
    });
}

#[test]
fn two_workers_may_wait_for_quiescence_at_the_same_time() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let both = Arc::new(std::sync::Barrier::new(2));
        let waits: Vec<_> = (0..2)
            .map(|_| {
                let (own, both) = (Arc::clone(&pool), Arc::clone(&both));
                pool.submit(move || {
                    both.wait();
                    own.await_quiescence(LONG)
                })
                .unwrap()
            })
            .collect();
        assert!(waits.into_iter().all(|wait| wait.join().unwrap()));
        assert!(pool.await_quiescence(LONG));
    });
}

#[test]
fn quiescence_is_not_there_while_a_task_runs() {
    within_deadline(|| {
        let pool = pool(1);
        let go = Signal::new();
        let until = go.clone();
        pool.execute(move || until.wait()).unwrap();
        assert!(!pool.await_quiescence(Duration::from_millis(20)));
        go.set();
        assert!(pool.await_quiescence(LONG));
    });
}

/// While a thread waits for quiescence, it runs a task that also waits for quiescence. If the first task is
/// below the inner wait on the stack, the inner wait must not count this task twice.
#[test]
fn a_wait_inside_a_wait_ends_when_all_other_forks_have_run() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let (own, inner) = (Arc::clone(&pool), Arc::clone(&pool));
        let end = pool.submit(move || {
            let other = fork(|| ()).shared(); // the oldest, which runs last
            let seen = other.clone();
            let waits = fork(move || (inner.await_quiescence(LONG), seen.is_finished()));
            let is_quiet = own.await_quiescence(LONG);
            (waits.join().unwrap(), is_quiet, other.is_finished())
        });
        assert_eq!(end.unwrap().join().unwrap(), ((true, true), true, true));
    });
}

#[test]
fn each_of_three_waits_inside_each_other_has_run_its_own_forks() {
    fn level(own: &Arc<executor::fork_join::ForkJoinPool>, left: usize) -> bool {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let (ran, own) = (Arc::clone(&ran), Arc::clone(own));
            drop(fork(move || {
                assert!(left == 0 || level(&own, left - 1));
                ran.fetch_add(1, Ordering::SeqCst);
            }));
        }
        // On the stack, the outer waits are below the innermost wait.
        let is_quiet = own.await_quiescence(LONG);
        is_quiet && own.stats().queued == 0
    }
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        assert!(pool.submit(move || level(&own, 2)).unwrap().join().unwrap());
        assert!(pool.await_quiescence(LONG));
        assert_eq!(pool.stats().panicked, 0);
    });
}

/// If 32 waits are nested on the stack, the next wait gives up. So the stack does not grow any further, and
/// no task is left.
#[test]
fn any_number_of_tasks_may_wait_in_each_other_on_one_worker() {
    within_deadline(|| {
        for tasks in [10, 33, 34, 600, 100_000] {
            let pool = Arc::new(pool(1));
            let own = Arc::clone(&pool);
            let end = pool.submit(move || {
                for _ in 0..tasks {
                    let own = Arc::clone(&own);
                    drop(fork(move || own.await_quiescence(Duration::MAX)));
                }
                own.await_quiescence(Duration::MAX)
            });
            assert!(end.unwrap().join().unwrap(), "{tasks} tasks");
            assert_eq!(pool.stats().completed, tasks + 1);
        }
    });
}

/// For a thread outside the pool, a task that waits for quiescence counts as unfinished.
#[test]
fn from_outside_a_task_that_has_waited_for_quiet_counts() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (waited, go) = (Signal::new(), Signal::new());
        let (own, tell, until) = (Arc::clone(&pool), waited.clone(), go.clone());
        let task = move || {
            let is_quiet = own.await_quiescence(LONG);
            tell.set();
            until.wait();
            is_quiet
        };
        let task = pool.submit(task).unwrap();
        let (own, (tell, told)) = (Arc::clone(&pool), mpsc::channel());
        std::thread::spawn(move || tell.send((own.await_quiescence(LONG), own.stats().unfinished)));
        waited.wait();
        assert!(!pool.await_quiescence(Duration::from_millis(20)));
        assert!(told.try_recv().is_err(), "it has said that the pool is quiet");
        go.set();
        assert!(task.join().unwrap());
        assert_eq!(told.recv_timeout(LONG).unwrap(), (true, 0));
    });
}

/// The other task waits for the task that runs here. The task whose wait begins last gets the report.
#[test]
fn a_wait_for_quiet_and_a_join_that_wait_for_each_other_are_found() {
    within_deadline(|| {
        for _ in 0..50 {
            let pool = Arc::new(pool(2));
            let (give, given) = mpsc::channel::<TaskHandle<bool>>();
            let (own, begun) = (Arc::clone(&pool), Signal::new());
            let (tell, told) = mpsc::channel();
            let waits = pool.submit(move || {
                let tell_begun = begun.clone();
                let joins = move || {
                    tell_begun.set();
                    let is_found = match given.recv().unwrap().join() {
                        Err(JoinError::Starved(handle, starvation)) => {
                            handle.cancel();
                            let is_quiet =
                                |wait: &StarvedWait| matches!(wait.waits_for, WaitsFor::Quiescence { .. });
                            starvation.chain().iter().any(is_quiet)
                        }
                        Ok(is_quiet) => !is_quiet, // the other task got the report
                        Err(other) => panic!("{other}"),
                    };
                    tell.send(is_found).unwrap();
                };
                own.execute(joins).unwrap();
                begun.wait(); // so the other worker has the task
                own.await_quiescence(Duration::MAX)
            });
            give.send(waits.unwrap()).unwrap();
            assert!(told.recv_timeout(LONG).unwrap());
            assert!(pool.await_quiescence(LONG));
        }
    });
}

/// A thread of another pool waits for a task of this pool, and therefore runs the task. While the task runs,
/// this thread counts as a thread of this pool.
#[test]
fn a_helper_of_another_pool_that_waits_for_quiet_does_not_wait_for_itself() {
    within_deadline(|| {
        let forks = Arc::new(pool(1));
        let helps = ThreadPoolExecutor::builder().on_starvation(OnStarvation::Help { depth: 4 });
        let threads = Arc::new(helps.build().unwrap());
        let (to_worker, for_worker) = mpsc::channel::<TaskHandle<bool>>();
        let (spot, go) = (Spot::default(), Signal::new());
        let there = spot.clone();
        let worker = forks.submit(move || {
            let handle = for_worker.recv().unwrap();
            there.arrive();
            handle.join().map_err(|error| error.to_string())
        });
        let own = Arc::clone(&forks);
        let waits = forks.submit(move || own.await_quiescence(Duration::MAX)).unwrap();
        let until = go.clone();
        let there = threads.submit(move || {
            until.wait();
            waits.join().unwrap() // the only worker waits for this task, so this thread runs the waiting one
        });
        to_worker.send(there.unwrap()).unwrap();
        spot.wait_until_blocked();
        go.set();
        assert_eq!(
            worker.unwrap().join().unwrap(),
            Ok(false),
            "its worker waits for the helper, so it is not quiet"
        );
    });
}
