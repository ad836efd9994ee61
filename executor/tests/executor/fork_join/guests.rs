//! Threads outside the pool help with computations that they have started.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use executor::fork_join::{ForkJoinPool, InvokeError, blocking, fork, in_pool, join, worker_index};
use executor::{CancelToken, JoinError, ThreadPoolExecutor, prelude::*};

use super::{fibonacci, pool};
use crate::support::{LONG, Signal, eventually, rounds, within_deadline};

fn runs_here(pool: &ForkJoinPool) -> bool {
    let caller = thread::current().id();
    pool.invoke(|| thread::current().id() == caller && in_pool()).unwrap()
}

#[test]
fn a_caller_runs_its_computation_itself_and_is_no_worker_afterwards() {
    within_deadline(|| {
        let pool = pool(1);
        for _ in 0..3 {
            assert!(runs_here(&pool));
            assert!(!in_pool() && worker_index().is_none());
            assert_eq!(pool.stats().workers, 0, "no thread was started");
        }
        let panicked = catch_unwind(AssertUnwindSafe(|| pool.invoke(|| panic!("inside"))));
        assert!(panicked.is_err() && !in_pool());
        assert!(runs_here(&pool));
    });
}

#[test]
fn a_worker_runs_it_if_the_pool_has_larger_stacks_or_the_caller_runs_a_task() {
    within_deadline(|| {
        let deep = ForkJoinPool::builder().threads(1).stack_size(1 << 22).build().unwrap();
        assert!(!runs_here(&deep));
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let other = ThreadPoolExecutor::single();
        assert!(!other.submit(move || runs_here(&own)).unwrap().join().unwrap());
        let (outer, own) = (super::pool(1), Arc::clone(&pool));
        assert!(!outer.invoke(|| runs_here(&own)).unwrap());
    });
}

#[test]
fn a_caller_that_finds_no_place_waits_until_a_guest_has_left_it() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let (begun, go) = (Signal::new(), Signal::new());
        let (there, until, own) = (begun.clone(), go.clone(), Arc::clone(&pool));
        let first = thread::spawn(move || {
            let body = || {
                there.set();
                until.wait();
            };
            own.invoke(body).unwrap();
        });
        begun.wait();
        let own = Arc::clone(&pool);
        let second = thread::spawn(move || runs_here(&own));
        eventually("the second one waits", || pool.stats().queued_submissions == 1);
        go.set();
        assert!(!second.join().unwrap());
        first.join().unwrap();
    });
}

#[test]
fn what_a_guest_has_forked_and_not_joined_is_run_by_a_worker() {
    within_deadline(|| {
        let pool = pool(1);
        let forked = pool.invoke(|| fork(thread::current)).unwrap();
        assert_ne!(forked.join().unwrap().id(), thread::current().id());
        drop(pool.invoke(|| fork(|| ())).unwrap());
        assert!(pool.await_quiescence(LONG));
        assert_eq!(pool.stats().completed, 4);
    });
}

#[test]
fn a_stop_reaches_a_guest_and_its_forks_and_waits_for_it() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let (begun, go) = (Signal::new(), Signal::new());
        let (there, until, own) = (begun.clone(), go.clone(), Arc::clone(&pool));
        let guest = thread::spawn(move || {
            let body = || {
                let forked = fork(|| ());
                there.set();
                until.wait();
                assert!(CancelToken::current().is_cancelled());
                assert!(matches!(forked.join(), Err(JoinError::Cancelled(_))));
                join(|| 1, || 2)
            };
            own.invoke(body).unwrap()
        });
        begun.wait();
        assert!(pool.shutdown_now().is_empty());
        assert!(!pool.is_terminated());
        go.set();
        assert_eq!(guest.join().unwrap(), (1, 2));
        assert!(pool.await_termination(LONG));
        assert!(matches!(pool.invoke(|| ()), Err(InvokeError::Rejected(_))));
    });
}

#[test]
fn a_cancelled_caller_begins_nothing() {
    within_deadline(|| {
        let (pool, token) = (pool(1), CancelToken::new());
        token.cancel();
        let mut ran = false;
        let result = token.attach(|| pool.invoke(|| ran = true));
        assert!(matches!(result, Err(InvokeError::Cancelled)) && !ran);
        assert_eq!(token.attach(|| executor::masked(|| pool.invoke(|| 1))).unwrap(), 1);
    });
}

#[test]
fn a_guest_that_blocks_is_stood_in_for_and_may_close_the_pool() {
    within_deadline(|| {
        let pool = pool(1);
        let own = &pool;
        let body = || {
            let forked = fork(|| fibonacci(10));
            blocking(|| eventually("a stand-in runs it", || forked.is_finished()));
            own.close(); // it does not wait for itself
        };
        pool.invoke(body).unwrap();
        assert!(pool.await_termination(LONG));
    });
}

/// The pool's worker sleeps, because a waiting guest has replaced the worker. No thread can wake the sleeping
/// worker. So a wait that relies on the sleeping worker would deadlock.
#[test]
fn a_worker_whose_place_has_a_guest_is_nobody_to_wait_for() {
    within_deadline(|| {
        for _ in rounds(300) {
            let (outer, inner) = (pool(1), pool(1));
            for pool in [&outer, &inner] {
                pool.execute(|| ()).unwrap();
                eventually("the worker sleeps", || pool.stats().unfinished + pool.stats().awake == 0);
            }
            let around = outer.invoke(|| inner.invoke(|| outer.invoke(|| ())).unwrap()).unwrap();
            assert!(matches!(around, Err(InvokeError::Starved(_))), "{around:?}");
        }
    });
}
