//! Tests of guards that make a token current on a thread.

use std::thread;
use std::time::Duration;

use executor::{Attached, CancelToken, DirectExecutor, Latch, masked, prelude::*};

use crate::support::{LONG, blocked, within_deadline};

fn cancelled() -> CancelToken {
    let token = CancelToken::new();
    token.cancel();
    token
}

/// Returns true if this thread may begin a blocking call.
fn may_wait() -> bool {
    Latch::new(0).wait().is_ok()
}

#[test]
fn a_guard_makes_its_token_current_and_gives_the_one_before_back() {
    let outer = CancelToken::new();
    let attached = outer.attached();
    {
        let _inner = cancelled().attached();
        assert!(!may_wait());
        assert!(CancelToken::current().is_cancelled());
    }
    assert!(may_wait());
    assert!(outer.cancel());
    assert!(!may_wait());
    drop(attached);
    assert!(may_wait() && !CancelToken::current().is_cancelled());
}

#[test]
fn a_thread_of_ones_own_obeys_the_token_that_was_carried_to_it() {
    within_deadline(|| {
        let token = CancelToken::new();
        let carried = token.clone();
        let waiter = blocked(move || {
            let _attached = carried.attached();
            (Latch::new(1).wait(), CancelToken::current().sleep(Duration::MAX))
        });
        token.cancel();
        assert!(matches!(waiter.result(), (Err(_), Err(_))));
    });
}

/// Each row is an order in which the test drops the three guards. For each drop, the row says whether a wait
/// may begin after this drop.
#[test]
fn guards_that_are_dropped_in_another_order_do_what_is_left_of_them() {
    let guards = || -> [Option<Attached>; 3] {
        [CancelToken::new(), cancelled(), CancelToken::new()].map(|t| Some(t.attached()))
    };
    for (order, may) in [
        ([0, 1, 2], [true, true, true]),
        ([0, 2, 1], [true, false, true]),
        ([1, 0, 2], [true, true, true]),
        ([1, 2, 0], [true, true, true]),
        ([2, 0, 1], [false, false, true]),
        ([2, 1, 0], [false, true, true]),
    ] {
        let mut guards = guards();
        let seen = order.map(|which| {
            drop(guards[which].take());
            may_wait()
        });
        assert_eq!(seen, may, "dropped in the order {order:?}");
        assert!(!CancelToken::current().is_cancelled());
    }
}

#[test]
fn a_guard_that_outlives_its_attach_has_no_effect_any_more_and_harms_nobody() {
    let outlives = CancelToken::new().attach(|| cancelled().attached());
    assert!(may_wait());
    let below = CancelToken::new().attached();
    let later = cancelled().attached(); // takes the same place
    drop(outlives);
    assert!(!may_wait(), "the later one is left alone");
    drop(later);
    assert!(may_wait());
    drop(below);
}

#[test]
fn one_that_is_forgotten_ends_with_its_task() {
    within_deadline(|| {
        let forgets = || {
            std::mem::forget(cancelled().attached());
            may_wait()
        };
        let around = CancelToken::new();
        let in_a_task = || DirectExecutor.submit(forgets).unwrap().join_timeout(LONG).unwrap();
        assert!(!around.attach(in_a_task));
        around.cancel();
        assert!(may_wait(), "the frames of the guard, of its task and of the code around it are gone");
    });
}

#[test]
fn masked_steps_and_tasks_that_run_inline_see_it_as_any_other() {
    within_deadline(|| {
        let attached = cancelled().attached();
        assert!(masked(may_wait));
        assert!(!DirectExecutor.submit(may_wait).unwrap().join().unwrap(), "as a child");
        masked(|| drop(attached));
        assert!(may_wait());
        let attached = CancelToken::new().attached();
        let other = masked(|| {
            drop(attached);
            CancelToken::new().attached()
        });
        drop(other);
        assert!(may_wait());
    });
}

#[test]
fn a_guard_in_a_thread_local_may_be_dropped_when_the_thread_ends() {
    within_deadline(|| {
        std::thread_local! { static KEPT: std::cell::RefCell<Option<Attached>> = const { std::cell::RefCell::new(None) }; }
        let ends = thread::spawn(|| {
            KEPT.with(|kept| *kept.borrow_mut() = Some(cancelled().attached()));
            may_wait()
        });
        assert!(!ends.join().unwrap());
    });
}
