//! Threads stop pools that they do not own, while other threads submit to these pools, close them and drop
//! them.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelToken, JoinError, Latch, RejectReason, Stopper, ThreadPoolExecutor, prelude::*};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

fn hanging_on(token: &CancelToken, threads: usize) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().threads(threads).cancel_token(token).build().unwrap()
}

#[test]
fn of_tasks_submitted_during_a_cancel_of_the_pools_token_each_has_its_end() {
    check(|| {
        let token = CancelToken::new();
        let pool = Arc::new(hanging_on(&token, 2));
        let submitter = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                let runs = Arc::new(AtomicUsize::new(0));
                let handles = [(); 4].map(|()| {
                    let runs = Arc::clone(&runs);
                    pool.submit(move || _ = runs.fetch_add(1, SeqCst))
                });
                let mut ran = 0;
                for handle in handles {
                    match handle {
                        Ok(handle) => match handle.join() {
                            Ok(()) => ran += 1,
                            Err(JoinError::Cancelled(_)) => {}
                            Err(other) => panic!("{other}"),
                        },
                        Err(refused) => {
                            assert!(matches!(refused.reason, RejectReason::Shutdown), "{refused}");
                        }
                    }
                }
                assert_eq!(runs.load(SeqCst), ran);
            }
        });
        assert!(token.cancel());
        assert!(pool.is_shutdown(), "the cancel has returned");
        submitter.join().unwrap();
        assert!(pool.await_termination(Duration::MAX));
    });
}

#[test]
fn a_pool_may_end_while_its_token_is_cancelled() {
    check(|| {
        let token = CancelToken::new();
        let pool = hanging_on(&token, 1);
        pool.execute(|| ()).unwrap();
        let cancels = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        drop(pool); // waits for the end, or shuttle reports a deadlock
        assert!(cancels.join().unwrap());
    });
}

#[test]
fn a_token_cancelled_while_the_pool_is_made_stops_it() {
    check(|| {
        let token = CancelToken::new();
        let cancels = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        let pool = hanging_on(&token, 1);
        let task = pool.submit_cancellable(|token| token.sleep(Duration::MAX));
        cancels.join().unwrap();
        assert!(pool.await_termination(Duration::MAX));
        assert!(task.is_err() || matches!(task.unwrap().join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn a_stopper_may_be_used_while_the_pool_is_dropped_and_after_that() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let task = pool.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap();
        let stopper = pool.stopper();
        let stops = thread::spawn(move || {
            let back = stopper.shutdown_now();
            assert!(stopper.await_termination(Duration::MAX));
            assert!(stopper.shutdown_now().is_empty() && stopper.is_terminated());
            back.len()
        });
        drop(pool); // only the stopper ends the task
        assert!(stops.join().unwrap() <= 1);
        assert!(matches!(task.join(), Err(JoinError::Cancelled(_))));
    });
}

/// A value whose drop waits for the end of the pool.
struct WaitsForTheEnd(Stopper);

impl Drop for WaitsForTheEnd {
    fn drop(&mut self) {
        assert!(self.0.await_termination(Duration::MAX)); // otherwise shuttle reports a deadlock
    }
}

#[test]
fn what_a_cancel_drops_may_wait_for_the_end_of_the_pool() {
    check(|| {
        let token = CancelToken::new();
        let pool = hanging_on(&token, 1);
        let begun = Arc::new(Latch::new(1));
        let there = Arc::clone(&begun);
        let runs = pool.submit_cancellable(move |token| {
            there.count_down();
            token.sleep(Duration::MAX)
        });
        begun.wait().unwrap();
        let waits = WaitsForTheEnd(pool.stopper());
        pool.execute(move || drop(waits)).unwrap();
        assert!(token.cancel());
        assert!(matches!(runs.unwrap().join(), Err(JoinError::Cancelled(_))));
        assert!(pool.await_termination(Duration::MAX));
    });
}
