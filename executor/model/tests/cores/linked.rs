//! A token that is linked to several other tokens is cancelled as soon as one of these tokens is cancelled,
//! and is cancelled only once.

use std::sync::Arc;

use executor_model::CancelToken;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{model, model_bounded};

#[test]
fn no_link_escapes_a_cancel_of_one_of_the_tokens() {
    model(|| {
        let (a, b) = (CancelToken::new(), CancelToken::new());
        let canceller = thread::spawn({
            let b = b.clone();
            move || b.cancel_because("b")
        });
        let below = CancelToken::linked([&a, &b]).child();
        canceller.join().unwrap();
        assert_eq!(below.reason().unwrap().message(), Some("b"));
        assert!(!a.is_cancelled());
    });
}

#[test]
fn two_parents_cancelled_at_once_call_back_once_and_one_of_them_gives_the_reason() {
    model_bounded(3, || {
        let (a, b) = (CancelToken::new(), CancelToken::new());
        let below = CancelToken::linked([&a, &b]).child();
        let called = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&called);
        let registration = below.on_cancel(move || _ = counts.fetch_add(1, Relaxed));
        let other = thread::spawn({
            let below = below.clone();
            move || {
                b.cancel_because("b");
                below.is_cancelled()
            }
        });
        a.cancel_because("a");
        assert!(below.is_cancelled(), "a cancel that has returned has marked all below it");
        assert!(other.join().unwrap());
        assert_eq!(called.load(Relaxed), 1);
        assert!(["a", "b"].map(Some).contains(&below.reason().unwrap().message()));
        drop(registration);
    });
}

#[test]
fn a_callback_at_the_top_finds_what_is_linked_below_cancelled_by_whichever_way() {
    model_bounded(3, || {
        let top = CancelToken::new();
        let side = top.child();
        let bottom = CancelToken::linked([&top, &side]);
        let seen = Arc::new(AtomicUsize::new(0));
        let registrations = [&top, &bottom].map(|token| {
            let (seen, bottom) = (Arc::clone(&seen), bottom.clone());
            token.on_cancel(move || _ = seen.fetch_add(if bottom.is_cancelled() { 1 } else { 10 }, Relaxed))
        });
        let other = thread::spawn(move || side.cancel());
        top.cancel();
        other.join().unwrap();
        assert_eq!(seen.load(Relaxed), 2);
        drop(registrations);
    });
}

#[test]
fn it_may_go_away_while_one_of_the_tokens_is_cancelled() {
    model(|| {
        let (a, b) = (CancelToken::new(), CancelToken::new());
        let linked = CancelToken::linked([&a, &b]);
        let canceller = thread::spawn({
            let a = a.clone();
            move || a.cancel()
        });
        drop(linked);
        canceller.join().unwrap();
        assert!(b.cancel());
    });
}
