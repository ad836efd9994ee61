//! Measures the cost of thousands of waits. These tests are a separate program, because they occupy the lock
//! that every search for starving waits needs. Other tests check whether a thread sleeps, and a thread that
//! waits for this lock sleeps, too.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use executor::{ExecutorCompletionService, OnStarvation, Promise, ThreadPoolExecutor, prelude::*};

/// Runs a test, and fails if the test takes minutes; this happens if a search is too slow.
fn within_deadline(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        test();
        let _ = done.send(()); // fails only if the test has given up
    });
    assert!(is_done.recv_timeout(Duration::from_secs(20)).is_ok(), "it panicked, or is not done after 20 s");
}

/// Each thread waits for the previous thread. If each search looked at all threads, this test would take half
/// a minute.
#[test]
fn thousands_of_threads_that_wait_are_searched_quickly() {
    within_deadline(|| {
        const THREADS: usize = 2500;
        let pool = ThreadPoolExecutor::cached();
        let (promise, mut last) = Promise::new();
        for _ in 0..THREADS {
            let before = last;
            last = pool.submit(move || before.join().unwrap() + 1).unwrap();
        }
        while pool.stats().active < THREADS {
            thread::yield_now(); // until all have begun
        }
        promise.complete(0).unwrap();
        assert_eq!(last.join().unwrap(), THREADS);
    });
}

/// A thread that waits for tasks runs these tasks itself. The thread must not search for each of these tasks,
/// because each search would look at all remaining tasks.
#[test]
fn help_with_a_hundred_thousand_tasks_takes_no_search_for_each() {
    within_deadline(|| {
        const TASKS: usize = 100_000;
        let builder = ThreadPoolExecutor::builder().on_starvation(OnStarvation::HelpOthers { depth: 1 });
        let pool = Arc::new(builder.build().unwrap());
        let own = Arc::clone(&pool);
        let takes = pool.submit(move || {
            let service = ExecutorCompletionService::new(own);
            for _ in 0..TASKS {
                service.submit(|| 1).unwrap();
            }
            let handles = std::iter::from_fn(|| service.take().unwrap());
            handles.map(|handle| handle.join().unwrap()).sum::<usize>()
        });
        assert_eq!(takes.unwrap().join().unwrap(), TASKS);
        assert_eq!(pool.stats().helped, TASKS as u64);
    });
}
