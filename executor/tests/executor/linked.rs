//! Tokens that are cancelled as soon as one of several other tokens is cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use executor::{CancelKind, CancelToken};

use crate::support::{LONG, SHORT, blocked, on_thread, rounds, tracked, within_deadline};

#[test]
fn any_of_them_cancels_it_and_gives_its_reason() {
    for which in 0..3 {
        let tokens = [(); 3].map(|()| CancelToken::new());
        let linked = CancelToken::linked(&tokens);
        let below = linked.child();
        assert!(!linked.is_cancelled());
        tokens[which].cancel_because(format!("number {which}"));
        let reason = below.reason().unwrap();
        assert_eq!((reason.message(), reason.is_inherited()), (Some(&*format!("number {which}")), true));
        assert_eq!(tokens.iter().filter(|token| token.is_cancelled()).count(), 1);
    }
}

#[test]
fn it_can_be_cancelled_alone_and_is_born_cancelled_below_one_that_is() {
    let (a, b) = (CancelToken::new(), CancelToken::new());
    let linked = CancelToken::linked([&a, &b]);
    assert!(linked.cancel());
    assert!(!a.is_cancelled() && !b.is_cancelled());
    b.cancel_because("over");
    assert_eq!(CancelToken::linked([&a, &b]).reason().unwrap().message(), Some("over"));
    assert!(!CancelToken::linked(&[]).is_cancelled());
    assert!(!CancelToken::linked([&a, &a]).is_cancelled(), "twice the same is once");
}

#[test]
fn a_wait_under_it_comes_back_whichever_is_cancelled() {
    within_deadline(|| {
        for which in 0..2 {
            let tokens = [CancelToken::new(), CancelToken::new()];
            let linked = CancelToken::linked(&tokens);
            let sleeper = blocked(move || linked.sleep(Duration::MAX));
            tokens[which].cancel();
            assert!(sleeper.result().is_err());
        }
        let (mine, limit) = (CancelToken::new(), CancelToken::new().with_timeout(SHORT));
        let late = CancelToken::linked([&mine, &limit]).sleep(LONG).unwrap_err();
        assert_eq!(late.reason().unwrap().kind(), CancelKind::Deadline);
    });
}

/// There are 2²⁰ paths from the top token to the bottom token.
#[test]
fn a_lattice_of_links_is_walked_once_and_its_callbacks_run_once() {
    within_deadline(|| {
        let top = CancelToken::new();
        let called = Arc::new(AtomicUsize::new(0));
        let mut layer = [top.child(), top.child()];
        let mut all = layer.to_vec();
        for _ in 0..20 {
            layer = [(); 2].map(|()| CancelToken::linked(&layer));
            all.extend(layer.clone());
        }
        let bottom = CancelToken::linked(&layer);
        for token in all.iter().chain([&bottom]) {
            let (called, bottom) = (Arc::clone(&called), bottom.clone());
            let check = move || _ = called.fetch_add(usize::from(bottom.is_cancelled()), Ordering::SeqCst);
            token.on_cancel(check).keep();
        }
        assert!(top.cancel());
        assert_eq!(called.load(Ordering::SeqCst), all.len() + 1, "and each found the bottom cancelled");
    });
}

#[test]
fn a_race_of_two_parents_calls_back_once_and_marks_what_is_below_before_either_returns() {
    within_deadline(|| {
        for _ in rounds(300) {
            let tokens = [CancelToken::new(), CancelToken::new()];
            let linked = CancelToken::linked(&tokens);
            let called = Arc::new(AtomicUsize::new(0));
            let counts = Arc::clone(&called);
            linked.on_cancel(move || _ = counts.fetch_add(1, Ordering::SeqCst)).keep();
            let bottom = linked.child();
            let cancels = tokens.map(|token| {
                let bottom = bottom.clone();
                on_thread(move || (token.cancel(), bottom.is_cancelled()))
            });
            assert_eq!(cancels.map(crate::support::Waiter::result), [(true, true); 2]);
            assert_eq!(called.load(Ordering::SeqCst), 1);
        }
    });
}

#[test]
fn it_keeps_nothing_alive_when_it_is_dropped() {
    let (a, b) = (CancelToken::new(), CancelToken::new());
    let (value, alive) = tracked();
    let mut last = CancelToken::linked([&a, &b]);
    last.on_cancel(move || drop(value)).keep();
    for _ in 0..100_000 {
        last = CancelToken::linked([&last, &a]); // a chain that only its last token keeps alive
    }
    assert!(alive());
    drop(last);
    assert!(!alive());
    assert!(a.cancel() && b.cancel());
}
