//! A latch releases all its waiters, and the waiters see all changes that were made before the latch opened.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelToken, Cancelled, Latch, WaitError};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{model, model_bounded};

#[test]
fn who_has_waited_sees_what_was_done_before_each_count() {
    model(|| {
        let latch = Arc::new(Latch::new(2));
        let done: [_; 2] = std::array::from_fn(|_| Arc::new(AtomicUsize::new(0)));
        let workers = done.clone().map(|done| {
            let latch = Arc::clone(&latch);
            thread::spawn(move || {
                done.store(1, Relaxed);
                latch.count_down();
            })
        });
        latch.wait().unwrap();
        assert_eq!(done.map(|done| done.load(Relaxed)), [1, 1]);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn an_opening_latch_lets_all_waiters_go() {
    model_bounded(4, || {
        let latch = Arc::new(Latch::new(1));
        let waiters: [_; 2] = std::array::from_fn(|_| {
            let latch = Arc::clone(&latch);
            thread::spawn(move || latch.wait())
        });
        latch.count_down();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Ok(()));
        }
    });
}

#[test]
fn a_cancel_ends_the_wait() {
    model(|| {
        let token = CancelToken::new();
        let waiter = thread::spawn({
            let token = token.clone();
            move || token.attach(|| Latch::new(1).wait())
        });
        token.cancel();
        assert_eq!(waiter.join().unwrap(), Err(Cancelled));
    });
}

#[test]
fn a_cancelled_waiter_leaves_the_others_waiting() {
    model_bounded(4, || {
        let latch = Arc::new(Latch::new(1));
        let token = CancelToken::new();
        let cancelled = thread::spawn({
            let (latch, token) = (Arc::clone(&latch), token.clone());
            move || token.attach(|| latch.wait())
        });
        let patient = thread::spawn({
            let latch = Arc::clone(&latch);
            move || latch.wait()
        });
        token.cancel();
        assert_eq!(cancelled.join().unwrap(), Err(Cancelled));
        latch.count_down();
        assert_eq!(patient.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_timed_wait_says_open_only_if_the_latch_is() {
    model(|| {
        let latch = Arc::new(Latch::new(1));
        let worker = thread::spawn({
            let latch = Arc::clone(&latch);
            move || latch.count_down()
        });
        match latch.wait_timeout(Duration::from_secs(1)) {
            Ok(()) => assert_eq!(latch.count(), 0),
            Err(error) => assert_eq!(error, WaitError::TimedOut),
        }
        latch.wait().unwrap();
        worker.join().unwrap();
    });
}

#[test]
fn a_sleep_ends_with_either_token() {
    model_bounded(3, || {
        let (own, given) = (CancelToken::new(), CancelToken::new());
        let sleepers = [&own, &given].map(|cancelled| {
            let (own, given, cancelled) = (own.child(), given.child(), cancelled.clone());
            let sleeper = thread::spawn(move || own.attach(|| given.sleep(Duration::MAX)));
            cancelled.cancel();
            sleeper
        });
        for sleeper in sleepers {
            assert_eq!(sleeper.join().unwrap(), Err(Cancelled));
        }
    });
}

#[test]
fn a_timed_wait_may_be_cancelled() {
    model(|| {
        let token = CancelToken::new();
        let waiter = thread::spawn({
            let token = token.clone();
            move || token.attach(|| Latch::new(1).wait_timeout(Duration::from_secs(1)))
        });
        token.cancel();
        let error = waiter.join().unwrap().unwrap_err();
        assert!(matches!(error, WaitError::Interrupted | WaitError::TimedOut));
    });
}
