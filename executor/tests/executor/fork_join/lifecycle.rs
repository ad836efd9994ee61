//! Tests how workers start and end, and how the pool ends.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::fork_join::{ForkJoinBuilder, ForkJoinConfigError, ForkJoinPool, InvokeError, fork, join};
use executor::{CancelToken, RejectReason, TaskState, prelude::*};

use super::{fibonacci, pool};
use crate::support::{LONG, SHORT, Signal, eventually, within_deadline};

/// FJ-2, FJ-3
#[test]
fn the_number_of_threads_is_checked_and_shown() {
    assert_eq!(pool(3).threads(), 3);
    assert!(matches!(ForkJoinPool::new(0), Err(ForkJoinConfigError::NoThreads)));
    let most = ForkJoinBuilder::MAX_THREADS;
    let too_many = ForkJoinPool::builder().threads(most).spare_threads(1).build();
    assert_eq!(too_many.unwrap_err().to_string(), "32767 threads and 1 spare ones are more than 32767");
    assert!(ForkJoinPool::new(usize::MAX).is_err());
    assert_eq!(ForkJoinPool::builder().threads(most).spare_threads(0).build().unwrap().threads(), most);
}

/// FJ-4
#[test]
fn there_is_no_worker_before_the_first_task_and_none_after_the_end() {
    within_deadline(|| {
        let pool = pool(4);
        let counts = |pool: &ForkJoinPool| (pool.stats().workers, pool.stats().active);
        assert_eq!(counts(&pool), (0, 0));
        let own = &pool;
        assert_eq!(pool.invoke(|| counts(own)).unwrap(), (1, 1));
        pool.close();
        assert_eq!(counts(&pool), (0, 0));
        assert!(pool.is_terminated() && pool.is_shutdown());
    });
}

#[test]
fn a_worker_without_work_leaves_after_its_time_and_another_comes_when_there_is_some() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(2).keep_alive(SHORT).build().unwrap();
        for _ in 0..5 {
            assert_eq!(pool.invoke(|| fibonacci(15)).unwrap(), 610);
            eventually("all are gone", || pool.stats().workers == 0);
        }
    });
}

#[test]
fn a_worker_that_sleeps_hears_of_the_shutdown() {
    within_deadline(|| {
        let pool = pool(2);
        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        eventually("it sleeps", || pool.stats().awake == 0);
        assert_eq!(pool.stats().workers, 1);
        pool.shutdown();
        assert!(pool.await_termination(LONG));
    });
}

/// END-18
#[test]
fn after_a_shutdown_nothing_new_is_accepted_and_what_was_runs_with_its_forks() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (begun, go) = (Signal::new(), Signal::new());
        let (there, until, own) = (begun.clone(), go.clone(), Arc::clone(&pool));
        let computation = pool.submit(move || {
            there.set();
            until.wait();
            let refused = own.execute(|| ()).unwrap_err();
            assert!(matches!(refused.reason, RejectReason::Shutdown));
            fork(|| fibonacci(12)).join().unwrap() + fibonacci(12)
        });
        begun.wait();
        pool.shutdown();
        assert!(pool.is_shutdown() && !pool.is_terminated());
        assert!(matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown));
        assert!(matches!(pool.execute_externally(|| ()).unwrap_err().reason, RejectReason::Shutdown));
        assert!(matches!(pool.invoke(|| 1), Err(InvokeError::Rejected(RejectReason::Shutdown))));
        assert!(!pool.await_termination(SHORT));
        go.set();
        assert_eq!(computation.unwrap().join().unwrap(), 288);
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn stopping_at_once_hands_back_submissions_cancels_forks_and_asks_what_runs_to_stop() {
    within_deadline(|| {
        let pool = pool(1);
        let begun = Signal::new();
        let there = begun.clone();
        let runs = pool.submit(move || {
            let forked = fork(|| ());
            there.set();
            let cut_short = CancelToken::current().sleep(LONG).is_err();
            (cut_short, forked.state(), fork(|| ()).state())
        });
        begun.wait();
        let waits = pool.submit(|| 7).unwrap();
        let cancelled = pool.submit(|| 8).unwrap();
        cancelled.cancel();
        let handed_back = pool.shutdown_now();
        assert_eq!(handed_back.len(), 1);
        let (cut_short, of_fork, of_later_fork) = runs.unwrap().join().unwrap();
        assert!(cut_short);
        assert_eq!((of_fork, of_later_fork), (TaskState::Cancelled, TaskState::Cancelled));
        assert!(pool.await_termination(LONG));
        assert_eq!(waits.state(), TaskState::Pending);
        for task in handed_back {
            task.run();
        }
        assert_eq!(waits.join().unwrap(), 7);
    });
}

#[test]
fn a_computation_that_runs_when_the_pool_is_stopped_still_has_both_results_of_its_joins() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (begun, go) = (Signal::new(), Signal::new());
        std::thread::scope(|scope| {
            let computation = scope.spawn(|| {
                pool.invoke(|| {
                    begun.set();
                    go.wait();
                    join(|| fibonacci(14), || fibonacci(15))
                })
            });
            begun.wait();
            assert!(pool.shutdown_now().is_empty());
            go.set();
            assert_eq!(computation.join().unwrap().unwrap(), (377, 610));
        });
    });
}

#[test]
fn dropping_a_pool_waits_for_what_was_accepted_and_for_what_that_submits() {
    within_deadline(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = pool(2);
        for _ in 0..100 {
            let ran = Arc::clone(&ran);
            pool.execute(move || {
                let inner = Arc::clone(&ran);
                drop(fork(move || inner.fetch_add(1, Ordering::SeqCst)));
                ran.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
        }
        drop(pool);
        assert_eq!(ran.load(Ordering::SeqCst), 200);
    });
}

#[test]
fn a_pool_that_is_dropped_while_its_owner_unwinds_does_not_wait() {
    within_deadline(|| {
        let pool = pool(1);
        let (begun, end) = (Signal::new(), Signal::new());
        let (is_begun, until) = (begun.clone(), end.clone());
        let runs = pool.submit(move || {
            is_begun.set();
            until.wait();
        });
        begun.wait();
        let runs = runs.unwrap();
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _pool = pool;
            resume_unwind(Box::new("the owner's own trouble"));
        }));
        assert!(unwound.is_err());
        assert!(!runs.is_finished(), "it was waited for");
        end.set();
        runs.join_timeout(LONG).unwrap();
    });
}

#[test]
fn a_task_that_closes_its_own_pool_does_not_wait_for_itself() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        pool.submit(move || own.close()).unwrap().join().unwrap();
        assert!(pool.await_termination(LONG));
    });
}

/// FJ-59
#[test]
fn the_common_pool_has_as_many_threads_as_the_environment_says_if_that_is_a_number_of_threads() {
    const EXPECTED: &str = "TEST_EXPECTED_THREADS";
    if let Ok(expected) = std::env::var(EXPECTED) {
        return assert_eq!(ForkJoinPool::common().threads().to_string(), expected); // in its own process
    }
    let default = std::thread::available_parallelism().unwrap().get().to_string();
    let default = default.as_str();
    let cases = [("1", "1"), ("7", "7"), ("16383", "16383"), ("0", default), ("16384", default)];
    let no_numbers = ["", "two", "-1", " 3", "99999999999999999999"].map(|value| (value, default));
    for (value, expected) in cases.into_iter().chain(no_numbers) {
        let this_test = std::thread::current().name().unwrap().to_owned();
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &this_test])
            .envs([("EXECUTOR_COMMON_THREADS", value), (EXPECTED, expected)])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && printed.contains("1 passed"), "{value:?}: {printed}");
    }
}

#[test]
fn the_common_pool_cannot_be_shut_down() {
    let common = ForkJoinPool::common();
    common.shutdown();
    assert!(common.shutdown_now().is_empty() && !common.is_shutdown());
    assert_eq!(common.invoke(|| fibonacci(10)).unwrap(), 55);
    common.close();
}

#[test]
fn submitting_against_a_shutdown_loses_no_task() {
    within_deadline(|| {
        for _ in 0..200 {
            let pool = pool(2);
            let ran = Arc::new(AtomicUsize::new(0));
            let accepted = std::thread::scope(|scope| {
                let submitter = scope.spawn(|| {
                    let submit = || {
                        let ran = Arc::clone(&ran);
                        pool.execute(move || _ = ran.fetch_add(1, Ordering::SeqCst)).is_ok()
                    };
                    (0..50).filter(|_| submit()).count()
                });
                pool.shutdown();
                submitter.join().unwrap()
            });
            assert!(pool.await_termination(LONG));
            assert_eq!(ran.load(Ordering::SeqCst), accepted);
        }
    });
}

#[test]
fn bursts_of_tasks_from_several_threads_all_run() {
    within_deadline(|| {
        let pool = pool(3);
        let ran = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert_eq!(pool.invoke(|| fibonacci(9)).unwrap(), 34);
                        ran.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(ran.load(Ordering::SeqCst), 200);
    });
}
