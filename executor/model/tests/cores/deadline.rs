//! The timer's thread and the threads that register deadlines: the timer forgets no deadline, whatever the
//! timer's thread does during the registration.
//!
//! In a model, a deadline that is a hundred years away never comes. So a thread that waits for such a
//! deadline sleeps until another thread notifies it.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelKind, CancelToken};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{model, model_bounded};

const SOON: Duration = Duration::from_millis(1);
const FAR: Duration = Duration::from_secs(200 * 365 * 24 * 3600);

fn kind(token: &CancelToken) -> Option<CancelKind> {
    token.reason().map(|reason| reason.kind())
}

#[test]
fn a_deadline_comes_while_its_thread_starts_and_while_it_goes() {
    model_bounded(2, || {
        for _ in 0..2 {
            let token = CancelToken::new().with_timeout(SOON);
            assert!(token.sleep(FAR).is_err()); // otherwise loom reports a deadlock
            assert_eq!(kind(&token), Some(CancelKind::Deadline));
        }
    });
}

#[test]
fn a_sooner_deadline_wakes_a_thread_that_falls_asleep_until_a_later_one() {
    model_bounded(2, || {
        let later = CancelToken::new().with_timeout(FAR);
        let sooner = CancelToken::new().with_timeout(SOON);
        assert!(sooner.sleep(FAR).is_err()); // otherwise loom reports a deadlock
        assert!(!later.is_cancelled());
    });
}

#[test]
fn two_threads_register_at_once() {
    model_bounded(2, || {
        let other = thread::spawn(|| CancelToken::new().with_timeout(SOON).sleep(FAR).is_err());
        assert!(CancelToken::new().with_timeout(SOON).sleep(FAR).is_err());
        assert!(other.join().unwrap());
    });
}

/// When the last deadline is removed, the timer's thread must end; if it does not end, loom reports a
/// deadlock.
#[test]
fn the_thread_ends_although_the_deadline_that_it_sleeps_for_is_taken_back() {
    model(|| {
        let token = CancelToken::new().with_timeout(FAR);
        drop(token);
    });
}

#[test]
fn of_cancel_and_deadline_one_wins_and_the_callback_runs_once() {
    model_bounded(2, || {
        let token = CancelToken::new().with_timeout(SOON);
        let called = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&called);
        let registration = token.on_cancel(move || _ = counts.fetch_add(1, Relaxed));
        let first = token.cancel_because("no longer wanted");
        assert_eq!(kind(&token), Some(if first { CancelKind::Requested } else { CancelKind::Deadline }));
        drop(registration); // waits for the callback if it runs on the timer's thread
        assert!(called.load(Relaxed) <= 1);
        assert!(!first || called.load(Relaxed) == 1);
    });
}

/// The test is the same as in `token`, but here the timer cancels the token.
#[test]
fn once_its_registration_is_dropped_the_deadline_does_not_call() {
    model_bounded(2, || {
        let token = CancelToken::new().with_timeout(SOON);
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let registration = token.on_cancel({
            let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
            move || {
                begun.fetch_add(1, Relaxed);
                ended.fetch_add(1, Relaxed);
            }
        });
        drop(registration);
        assert_eq!(begun.load(Relaxed), ended.load(Relaxed), "the callback is running");
        drop(token);
    });
}

#[test]
fn a_token_may_be_dropped_while_its_deadline_comes() {
    model_bounded(2, || {
        let parent = CancelToken::new();
        let token = parent.with_timeout(SOON);
        let below = token.child();
        drop(token);
        drop(below);
        assert!(!parent.is_cancelled());
        parent.cancel();
    });
}

#[test]
fn user_code_that_waits_for_another_deadline_does_not_hold_it_up() {
    model_bounded(1, || {
        let first = CancelToken::new().with_timeout(SOON);
        let second = CancelToken::new().with_timeout(SOON);
        let registration = first.on_cancel({
            let second = second.clone();
            move || assert!(second.sleep(FAR).is_err()) // otherwise loom reports a deadlock
        });
        assert!(first.sleep(FAR).is_err());
        drop(registration);
    });
}
