//! Each accepted task gets a worker and runs once. The pool counts the task before any thread can see the
//! task's result.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;

use executor_model::{JoinError, Latch, RejectReason, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*};
use shuttle::current;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

/// Starts all threads of a pool. When the function returns, each thread is idle or about to be idle.
fn warm_up(pool: &ThreadPoolExecutor, threads: usize) {
    for _ in 0..threads {
        pool.submit(|| ()).unwrap().join().unwrap();
    }
}

#[test]
fn tasks_that_wait_for_each_other_all_get_a_worker() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(3);
        warm_up(&pool, 3);
        let all_here = Arc::new(Latch::new(3));
        let tasks = [(); 3].map(|()| {
            let all_here = Arc::clone(&all_here);
            let body = move || {
                all_here.count_down();
                all_here.wait()
            };
            pool.submit(body).unwrap()
        });
        for task in tasks {
            task.join().unwrap().unwrap(); // before the shutdown, which would wake all workers
        }
        pool.close();
        assert_eq!(pool.stats().completed, 6);
    });
}

#[test]
fn tasks_of_several_submitters_run_once_each() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let runs: Arc<[AtomicUsize; 6]> = Arc::default();
        let submitters = [[0, 1, 2], [3, 4, 5]].map(|tasks| {
            let (pool, runs) = (Arc::clone(&pool), Arc::clone(&runs));
            thread::spawn(move || {
                for task in tasks {
                    let runs = Arc::clone(&runs);
                    pool.execute(move || _ = runs[task].fetch_add(1, SeqCst)).unwrap();
                }
            })
        });
        for submitter in submitters {
            submitter.join().unwrap();
        }
        pool.close();
        assert!(runs.iter().all(|runs| runs.load(SeqCst) == 1), "{runs:?}");
        let stats = pool.stats();
        assert_eq!((stats.completed, stats.task_count()), (6, 6));
        assert_eq!((stats.active, stats.queued, stats.threads), (0, 0, 0));
        assert_eq!(stats.peak_threads, 2);
    });
}

#[test]
fn a_single_thread_keeps_the_order_even_after_a_panic() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..4)
            .map(|task| {
                let count = Arc::clone(&count);
                pool.submit(move || {
                    let seen = count.load(SeqCst); // in two steps, so that an overlap shows
                    count.store(seen + 1, SeqCst);
                    if task == 1 {
                        resume_unwind(Box::new("task 1"));
                    }
                    seen
                })
                .unwrap()
            })
            .collect();
        for (task, handle) in handles.into_iter().enumerate() {
            match handle.join() {
                Ok(seen) => assert_eq!(seen, task),
                Err(JoinError::Panicked(panic)) => assert_eq!((task, panic.message()), (1, "task 1")),
                Err(other) => panic!("{other}"),
            }
        }
        pool.close();
        assert_eq!(pool.stats().peak_threads, 1);
    });
}

#[test]
fn a_panicking_task_costs_no_thread_and_no_count() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let handles: Vec<_> = (0..4)
            .map(|task| {
                let body = move || if task % 2 == 0 { resume_unwind(Box::new("even")) } else { task };
                pool.submit(body).unwrap()
            })
            .collect();
        let panicked = handles
            .into_iter()
            .map(executor_model::TaskHandle::join)
            .filter(|joined| matches!(joined, Err(JoinError::Panicked(_))))
            .count();
        let stats = pool.stats();
        assert_eq!((panicked, stats.panicked, stats.completed), (2, 2, 4));
        assert_eq!((stats.threads, stats.active), (2, 0));
        pool.close();
    });
}

#[test]
fn who_has_joined_a_task_finds_it_counted() {
    check(|| {
        let pool = ThreadPoolExecutor::single();
        pool.submit(|| ()).unwrap().join().unwrap();
        let stats = pool.stats();
        assert_eq!((stats.active, stats.completed, stats.task_count()), (0, 1, 1));
        pool.close();
    });
}

#[test]
fn a_task_may_wait_for_another_while_there_is_a_free_thread() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let outer = pool.submit({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 6).unwrap().join().unwrap() * 7
        });
        assert_eq!(outer.unwrap().join().unwrap(), 42);
        pool.close();
    });
}

#[test]
fn a_pool_that_gets_no_more_threads_goes_on_with_those_it_has() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        warm_up(&pool, 1);
        // A thread with this label cannot start other threads: see `primitives/shuttle.rs`.
        current::set_label_for_task(current::me(), io::ErrorKind::WouldBlock);
        assert_eq!(pool.submit(|| 7).unwrap().join().unwrap(), 7);
        let none = ThreadPoolExecutor::fixed(1);
        let refused = none.submit(|| 8).unwrap_err();
        current::remove_label_for_task::<io::ErrorKind>(current::me());
        none.execute(refused.task).unwrap();
        assert_eq!(refused.handle.join().unwrap(), 8);
        assert_eq!((pool.stats().threads, none.stats().threads), (1, 1));
        pool.close();
        none.close();
    });
}

#[test]
fn a_task_that_gets_no_thread_of_its_own_comes_back() {
    check(|| {
        let executor = ThreadPerTaskExecutor::new();
        let accepted = executor.submit(|| 7).unwrap();
        current::set_label_for_task(current::me(), io::ErrorKind::WouldBlock);
        let refused = executor.submit(|| 8).unwrap_err();
        assert!(matches!(refused.reason, RejectReason::NoThread(_)), "{refused}");
        refused.task.run();
        assert_eq!((accepted.join().unwrap(), refused.handle.join().unwrap()), (7, 8));
    });
}
