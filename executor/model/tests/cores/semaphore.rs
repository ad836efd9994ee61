//! A permit is never given to two threads, and if a waiter cannot use a wake-up, the next waiter gets the
//! wake-up.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelToken, Permit, Semaphore, WaitError};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{model, model_bounded};

#[test]
fn one_permit_excludes_and_orders_its_holders() {
    model_bounded(4, || {
        let semaphore = Arc::new(Semaphore::new(1));
        let count = Arc::new(AtomicUsize::new(0));
        // The addition consists of two `Relaxed` steps. So the sum is correct only if the permit excludes
        // other threads and makes their additions visible.
        let add_one = {
            let (semaphore, count) = (Arc::clone(&semaphore), Arc::clone(&count));
            move || {
                let _permit = semaphore.acquire().unwrap();
                count.store(count.load(Relaxed) + 1, Relaxed);
            }
        };
        let others = [(); 2].map(|()| thread::spawn(add_one.clone()));
        add_one();
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(count.load(Relaxed), 3);
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    });
}

#[test]
fn permits_in_use_never_exceed_those_there_are() {
    model_bounded(3, || {
        let semaphore = Arc::new(Semaphore::new(2));
        let in_use = Arc::new(AtomicUsize::new(0));
        let use_some = |permits: usize| {
            let (semaphore, in_use) = (Arc::clone(&semaphore), Arc::clone(&in_use));
            move || {
                let _permit = semaphore.acquire_many(permits).unwrap();
                let most = in_use.fetch_add(permits, Relaxed) + permits;
                in_use.fetch_sub(permits, Relaxed);
                most
            }
        };
        let others = [2, 1].map(|permits| thread::spawn(use_some(permits)));
        let mut most = use_some(1)();
        for other in others {
            most = most.max(other.join().unwrap());
        }
        assert!(most <= 2, "{most} permits in use");
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn a_cancelled_waiter_does_not_keep_the_permit_from_the_next() {
    model_bounded(3, || {
        let semaphore = Arc::new(Semaphore::new(0));
        let token = CancelToken::new();
        let cancelled = thread::spawn({
            let (semaphore, token) = (Arc::clone(&semaphore), token.clone());
            move || token.attach(|| semaphore.acquire().is_ok())
        });
        let patient = thread::spawn({
            let semaphore = Arc::clone(&semaphore);
            move || semaphore.acquire().is_ok()
        });
        token.cancel();
        semaphore.release(1);
        cancelled.join().unwrap(); // it had the permit for a while, or never
        assert!(patient.join().unwrap()); // otherwise loom reports a deadlock
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    });
}

#[test]
fn a_waiter_that_wants_too_much_gives_way_when_its_time_is_up() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let greedy = thread::spawn({
            let semaphore = Arc::clone(&semaphore);
            move || semaphore.acquire_many_timeout(2, Duration::from_secs(1)).err()
        });
        let modest = semaphore.acquire().unwrap(); // behind the greedy waiter or before it
        drop(modest);
        assert_eq!(greedy.join().unwrap(), Some(WaitError::TimedOut));
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    });
}

#[test]
fn permits_released_at_once_serve_all_who_wait() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters = [(); 2].map(|()| {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.acquire().unwrap().forget())
        });
        semaphore.release(2);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), 1);
        }
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 0));
    });
}

#[test]
fn a_waiter_that_is_overtaken_goes_on_waiting() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let in_use = Arc::new(AtomicUsize::new(0));
        let hold = {
            let in_use = Arc::clone(&in_use);
            move |permit: Permit<'_>| {
                let most = in_use.fetch_add(1, Relaxed) + 1;
                in_use.fetch_sub(1, Relaxed);
                drop(permit);
                most
            }
        };
        let first = semaphore.acquire().unwrap();
        let waiter = thread::spawn({
            let (semaphore, hold) = (Arc::clone(&semaphore), hold.clone());
            move || hold(semaphore.acquire().unwrap())
        });
        drop(first);
        let overtaken = semaphore.try_acquire().map(hold);
        assert_eq!(waiter.join().unwrap().max(overtaken.unwrap_or(0)), 1);
        assert_eq!(semaphore.available_permits(), 1);
    });
}
