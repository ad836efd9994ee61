//! The smallest pools: how a pool counts the threads that start and end, and how it finds a sleeping thread.
//! Shuttle checks larger pools.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor_model::{Latch, PoolState, ThreadPoolExecutor, prelude::*};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::model_bounded;

#[test]
fn a_pool_that_was_shut_down_ends_after_its_task_and_shows_what_that_did() {
    model_bounded(2, || {
        let pool = ThreadPoolExecutor::fixed(1);
        let value = Arc::new(AtomicUsize::new(0));
        let there = Arc::clone(&value);
        pool.execute(move || there.store(7, Relaxed)).unwrap();
        pool.shutdown();
        assert!(pool.await_termination(Duration::MAX)); // otherwise loom reports a deadlock
        assert_eq!(value.load(Relaxed), 7);
        let stats = pool.stats();
        assert_eq!((stats.state, stats.threads, stats.completed), (PoolState::Terminated, 0, 1));
    });
}

#[test]
fn a_task_finds_the_thread_that_sleeps_or_is_about_to() {
    model_bounded(2, || {
        let pool = ThreadPoolExecutor::fixed(1);
        for n in 0..2 {
            // If a thread waits forever, loom reports a deadlock.
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        pool.close();
    });
}

#[test]
fn a_task_that_comes_as_the_last_thread_times_out_is_run() {
    model_bounded(2, || {
        let pool =
            ThreadPoolExecutor::builder().core_threads(0).keep_alive(Duration::from_secs(1)).build().unwrap();
        for n in 0..2 {
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().threads), (2, 0));
    });
}

#[test]
fn a_task_submitted_during_a_shutdown_is_run_or_comes_back() {
    model_bounded(2, || {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let other = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.shutdown()
        });
        let accepted = pool.execute(|| ()).is_ok();
        other.join().unwrap();
        assert!(pool.await_termination(Duration::MAX));
        assert_eq!(pool.stats().completed, u64::from(accepted));
    });
}

/// Both workers sleep when the two tasks are submitted. No task ends before the other task runs, so the pool
/// must wake both workers.
#[test]
fn two_tasks_that_wait_for_each_other_wake_two_threads() {
    model_bounded(2, || {
        let pool = ThreadPoolExecutor::builder().threads(2).prestart().build().unwrap();
        let both_here = Arc::new(Latch::new(2));
        let tasks = [(); 2].map(|()| {
            let both_here = Arc::clone(&both_here);
            pool.submit(move || {
                both_here.count_down();
                both_here.wait().is_ok()
            })
        });
        for task in tasks {
            assert!(task.unwrap().join().unwrap()); // otherwise loom reports a deadlock
        }
        pool.close();
    });
}

/// The second task must see the store of the first task, even if the first worker has ended and another
/// worker runs the second task. Neither the access to the cell nor the access to the list of threads makes
/// this store visible.
#[test]
fn a_task_sees_what_the_one_before_has_done_also_from_a_worker_that_has_left() {
    static REPLACED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    model_bounded(2, || {
        let builder = ThreadPoolExecutor::builder().threads(1).core_timeout(true);
        let pool = builder.keep_alive(Duration::from_secs(1)).build().unwrap();
        let (cell, threads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let task = |value| {
            let (cell, threads) = (Arc::clone(&cell), Arc::clone(&threads));
            move || {
                threads.lock().unwrap().push(thread::current().id());
                let seen = cell.load(Relaxed);
                cell.store(value, Relaxed);
                seen
            }
        };
        let first = pool.submit(task(7)).unwrap();
        let second = pool.submit(task(8)).unwrap();
        assert_eq!(second.join().unwrap(), 7);
        assert_eq!(first.join().unwrap(), 0);
        pool.close();
        assert_eq!(cell.load(Relaxed), 8);
        let threads = threads.lock().unwrap();
        REPLACED[usize::from(threads[0] != threads[1])].store(true, Relaxed);
    });
    assert!(REPLACED.iter().all(|seen| seen.load(Relaxed)), "one worker for both, and one for each");
}
