//! Tests a second waiter, a waiter that is cancelled, and the help that a pool gives before a waiter gets the
//! report.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor_model::{
    CancelToken, JoinError, Latch, OnStarvation, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor, masked,
    prelude::*,
};

use super::{fixed, join, page, shared};
use crate::{check, thread};

// ----- against a second waiter -----

/// Makes a ring of pools with one thread each. The task of each pool waits for a task in the queue of the
/// next pool.
fn ring(length: usize, builder: fn() -> ThreadPoolBuilder) -> Vec<bool> {
    let pools: Vec<_> = (0..length).map(|_| shared(builder().threads(1))).collect();
    let all_begun = Arc::new(Latch::new(length));
    let tasks: Vec<_> = (0..length)
        .map(|n| {
            let (next, all_begun) = (Arc::clone(&pools[(n + 1) % length]), Arc::clone(&all_begun));
            let task = move || {
                all_begun.count_down();
                all_begun.wait().unwrap();
                join(next.submit(|| ()).unwrap()).is_none()
            };
            pools[n].submit(task).unwrap()
        })
        .collect();
    tasks.into_iter().map(|task| task.join().unwrap()).filter(|&told| told).collect()
}

#[test]
fn of_two_pools_that_wait_crosswise_one_is_told() {
    check(|| assert_eq!(ring(2, ThreadPoolExecutor::builder).len(), 1));
}

#[test]
fn in_a_ring_of_three_pools_one_is_told() {
    check(|| assert_eq!(ring(3, ThreadPoolExecutor::builder).len(), 1));
}

#[test]
fn of_two_that_wait_in_one_pool_one_is_told() {
    check(|| {
        let (pool, both_here) = (fixed(2), Arc::new(Latch::new(2)));
        let pages = [(); 2].map(|()| {
            let (own, both_here) = (Arc::clone(&pool), Arc::clone(&both_here));
            pool.submit(move || {
                both_here.count_down();
                both_here.wait().unwrap();
                join(own.submit(|| ()).unwrap()).is_none()
            })
        });
        let told = pages.map(|page| page.unwrap().join().unwrap()).into_iter().filter(|&told| told).count();
        assert_eq!(told, 1);
    });
}

// ----- against cancel -----

/// The first task is cancelled before the second task waits for the first task. The first task may not have
/// noticed its cancellation yet.
#[test]
fn one_that_was_cancelled_goes_on() {
    check(|| {
        let (pools, token, cancelled) = ([fixed(1), fixed(1)], CancelToken::new(), Arc::new(Latch::new(1)));
        let (queue, wait) = (Arc::clone(&pools[1]), token.clone());
        let (begun, second_begun) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
        let (says, may_wait) = (Arc::clone(&second_begun), Arc::clone(&cancelled));
        let (first_is, first) = (Arc::new(Mutex::new(None)), Arc::clone(&begun));
        let awaited = Arc::clone(&first_is);
        let second = pools[1].submit(move || {
            says.count_down();
            may_wait.wait().unwrap();
            let first: TaskHandle<bool> = awaited.lock().unwrap().take().unwrap();
            join(first)
        });
        second_begun.wait().unwrap();
        let task = pools[0].submit(move || {
            let header = queue.submit(|| ()).unwrap();
            first.count_down();
            wait.attach(|| matches!(header.join(), Err(JoinError::Interrupted(_))))
        });
        *first_is.lock().unwrap() = Some(task.unwrap());
        begun.wait().unwrap();
        token.cancel();
        cancelled.count_down();
        assert_eq!(second.unwrap().join().unwrap(), Some(true));
    });
}

#[test]
fn a_task_that_is_cancelled_in_the_queue_ends_the_wait_or_was_reported_before() {
    check(|| {
        let (pools, handed_over) = ([fixed(1), fixed(1)], Arc::new(Latch::new(1)));
        let canceller = Arc::new(Mutex::new(None));
        let (own, to, says) = (Arc::clone(&pools[0]), Arc::clone(&canceller), Arc::clone(&handed_over));
        let page = pools[0].submit(move || {
            let header = own.submit(|| ()).unwrap();
            *to.lock().unwrap() = Some(header.canceller());
            says.count_down();
            matches!(header.join(), Err(JoinError::Cancelled(_) | JoinError::Starved(..)))
        });
        let page = page.unwrap();
        let waits_for_it = pools[1].submit(move || join(page)).unwrap();
        handed_over.wait().unwrap();
        canceller.lock().unwrap().take().unwrap().cancel();
        assert_eq!(waits_for_it.join().unwrap(), Some(true));
    });
}

/// Tasks that are handed back are in no queue. The owner of these tasks drops them, and the drop ends the
/// wait for them.
#[test]
fn tasks_that_are_handed_back_are_waited_for_or_were_reported_before() {
    check(|| {
        let (pool, queued) = (fixed(1), Arc::new(Latch::new(1)));
        let (own, says) = (Arc::clone(&pool), Arc::clone(&queued));
        let page = pool.submit(move || {
            let header = own.submit(|| ()).unwrap();
            says.count_down();
            masked(|| matches!(header.join(), Err(JoinError::Cancelled(_) | JoinError::Starved(..))))
        });
        queued.wait().unwrap();
        let page = page.unwrap();
        drop(pool.shutdown_now());
        assert!(pool.await_termination(Duration::MAX));
        drop(page);
    });
}

// ----- relief -----

#[test]
fn who_helps_itself_is_not_told() {
    check(|| {
        let pool = shared(ThreadPoolExecutor::builder().on_starvation(OnStarvation::Help { depth: 1 }));
        let from_outside = thread::spawn({
            let pool = Arc::clone(&pool);
            move || drop(pool.execute(|| ()))
        });
        assert!(page(&pool).join().unwrap());
        from_outside.join().unwrap();
        pool.close();
        assert_eq!((pool.stats().helped, pool.stats().starved, pool.stats().completed), (1, 0, 3));
        let helps = || ThreadPoolExecutor::builder().on_starvation(OnStarvation::Help { depth: 1 });
        assert_eq!(ring(2, helps).len(), 0);
    });
}

#[test]
fn a_spare_thread_comes_and_leaves_with_the_wait() {
    check(|| {
        let pool = shared(ThreadPoolExecutor::builder().on_starvation(OnStarvation::Spare { at_most: 1 }));
        for _ in 0..2 {
            let own = Arc::clone(&pool);
            let page = pool.submit(move || (join(own.submit(|| ()).unwrap()), own.stats().spare_threads));
            assert_eq!(page.unwrap().join().unwrap(), (Some(()), 0));
        }
        pool.close();
        assert_eq!((pool.stats().starved, pool.stats().peak_threads), (0, 2));
    });
}
