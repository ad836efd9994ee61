//! The cancellation of a token reaches all callbacks and waiters, whether they were registered before or
//! after the cancellation.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{CancelToken, Latch};
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::model;

/// A callback that counts how many of its calls have begun, and how many have ended.
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
        token.cancel(); // otherwise loom reports a deadlock
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
        // The reader must be a spawned thread, not the main thread. Loom remembers only the last access to an
        // atomic. If the canceller's own read of the flag came second, that read would hide the race.
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

#[test]
fn whoever_is_told_no_finds_the_whole_tree_cancelled() {
    model(|| {
        let parent = CancelToken::new();
        let grandchild = parent.child().child();
        let other = thread::spawn({
            let parent = parent.clone();
            move || parent.cancel()
        });
        let first = parent.cancel();
        assert!(grandchild.is_cancelled(), "first: {first}");
        other.join().unwrap();
    });
}

#[test]
fn a_callback_finds_the_whole_tree_cancelled_whoever_else_cancels_a_part_of_it() {
    model(|| {
        let parent = CancelToken::new();
        let child = parent.child();
        let grandchild = child.child();
        let seen = Arc::new(AtomicUsize::new(0));
        let registration = parent.on_cancel({
            let seen = Arc::clone(&seen);
            move || seen.store(if grandchild.is_cancelled() { 1 } else { 2 }, Relaxed)
        });
        let other = thread::spawn(move || child.cancel());
        parent.cancel();
        assert_eq!(seen.load(Relaxed), 1);
        other.join().unwrap();
        drop(registration);
    });
}

#[test]
fn callbacks_of_a_tree_that_is_cancelled_at_two_heights_run_once_each() {
    model(|| {
        let parent = CancelToken::new();
        let child = parent.child();
        let callback = Callback::new();
        let registrations = [parent.clone(), child.clone(), child.child()].map(|token| {
            let callback = callback.clone();
            token.on_cancel(move || callback.call())
        });
        let other = thread::spawn({
            let child = child.clone();
            move || child.cancel()
        });
        parent.cancel();
        other.join().unwrap();
        assert_eq!(callback.calls(), (3, 3));
        drop(registrations);
    });
}

#[test]
fn who_waits_below_is_let_go_before_the_first_callback() {
    model(|| {
        let parent = CancelToken::new();
        let let_go = Arc::new(Latch::new(1));
        let registration = parent.on_cancel({
            let let_go = Arc::clone(&let_go);
            move || let_go.wait().unwrap()
        });
        let sleeper = thread::spawn({
            let child = parent.child();
            move || {
                let slept = child.sleep(Duration::MAX);
                let_go.count_down();
                slept
            }
        });
        parent.cancel(); // otherwise loom reports a deadlock
        assert!(sleeper.join().unwrap().is_err());
        drop(registration);
    });
}
