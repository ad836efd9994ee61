//! A request to stop reaches everything registered before it and everything registered after it.

use std::sync::Arc;

use executor_model::CancelToken;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::model;

/// Counts how often it was called, and whether it is being called.
#[derive(Clone)]
struct Callback {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Callback {
    fn new() -> Self {
        Self { begun: Arc::new(AtomicUsize::new(0)), ended: Arc::new(AtomicUsize::new(0)) }
    }

    fn call(&self) {
        self.begun.fetch_add(1, Relaxed);
        self.ended.fetch_add(1, Relaxed);
    }

    fn calls(&self) -> (usize, usize) {
        (self.begun.load(Relaxed), self.ended.load(Relaxed))
    }
}

#[test]
fn a_callback_registered_during_a_cancel_is_called_once() {
    model(|| {
        let token = CancelToken::new();
        let callback = Callback::new();
        let canceller = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        let registration = token.on_cancel({
            let callback = callback.clone();
            move || callback.call()
        });
        assert!(canceller.join().unwrap());
        assert_eq!(callback.calls(), (1, 1));
        drop(registration);
    });
}

#[test]
fn once_its_registration_is_dropped_a_callback_neither_runs_nor_will() {
    model(|| {
        let token = CancelToken::new();
        let callback = Callback::new();
        let _one_that_is_called_before = token.on_cancel(|| ());
        let registration = token.on_cancel({
            let callback = callback.clone();
            move || callback.call()
        });
        let canceller = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        drop(registration);
        let (begun, ended) = callback.calls();
        assert_eq!(begun, ended, "the callback is running");
        canceller.join().unwrap();
        assert_eq!(callback.calls(), (begun, ended), "the callback ran afterwards");
    });
}

#[test]
fn a_callback_may_drop_its_own_registration() {
    model(|| {
        let token = CancelToken::new();
        let place = Arc::new(loom::sync::Mutex::new(None));
        let registration = token.on_cancel({
            let place = Arc::clone(&place);
            move || {
                let registration = place.lock().unwrap().take();
                drop(registration);
            }
        });
        *place.lock().unwrap() = Some(registration);
        token.cancel(); // or loom reports a deadlock
    });
}

#[test]
fn no_child_escapes_a_cancel_of_its_parent() {
    model(|| {
        let parent = CancelToken::new();
        let canceller = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        let child = parent.child();
        let grandchild = child.child();
        canceller.join().unwrap();
        assert!(child.is_cancelled());
        assert!(grandchild.is_cancelled());
    });
}

#[test]
fn a_child_may_go_away_while_its_parent_is_cancelled() {
    model(|| {
        let parent = CancelToken::new();
        let (child, sibling) = (parent.child(), parent.child());
        let canceller = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        drop(child);
        canceller.join().unwrap();
        assert!(sibling.is_cancelled());
    });
}

#[test]
fn of_two_cancels_exactly_one_makes_the_request_and_calls_back() {
    model(|| {
        let token = CancelToken::new();
        let callback = Callback::new();
        let registration = token.on_cancel({
            let callback = callback.clone();
            move || callback.call()
        });
        let other = thread::spawn({
            let token = token.clone();
            move || token.cancel()
        });
        let here = token.cancel();
        let there = other.join().unwrap();
        assert!(here ^ there, "here: {here}, there: {there}");
        assert_eq!(callback.calls(), (1, 1));
        drop(registration);
    });
}

#[test]
fn a_child_cancelled_together_with_its_parent_calls_back_once() {
    model(|| {
        let parent = CancelToken::new();
        let child = parent.child();
        let callback = Callback::new();
        let registration = child.on_cancel({
            let callback = callback.clone();
            move || callback.call()
        });
        let other = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        child.cancel();
        other.join().unwrap();
        assert_eq!(callback.calls(), (1, 1));
        drop(registration);
    });
}

#[test]
fn who_sees_the_request_sees_what_led_to_it() {
    model(|| {
        let parent = CancelToken::new();
        let child = parent.child();
        let reason = Arc::new(AtomicUsize::new(0));
        // The reader is the one that is spawned: loom remembers only the last access to an atomic, so the canceller's
        // own look at the flag, coming second, would hide the race from it.
        let reader = thread::spawn({
            let (parent, reason) = (parent.clone(), Arc::clone(&reason));
            move || [child, parent].map(|token| token.is_cancelled().then(|| reason.load(Relaxed)))
        });
        reason.store(1, Relaxed);
        parent.cancel();
        let seen = reader.join().unwrap();
        assert!(seen.iter().flatten().all(|&reason| reason == 1), "{seen:?}");
    });
}
