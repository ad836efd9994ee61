//! Why a token was cancelled, as the holders of the token and the errors report it.

use std::sync::Arc;

use executor::{
    CancelKind, CancelReason, CancelToken, Cancelled, DirectExecutor, ExecutorCompletionService, Latch,
    Semaphore, ThreadPoolExecutor, prelude::*,
};

use crate::support::{Explosions, LONG, Signal, blocked, on_thread, tracked, within_deadline};

/// Returns what users can read from a reason.
fn read(cancelled: &Cancelled) -> (CancelKind, bool, Option<&str>) {
    let reason = cancelled.reason().expect("a reason");
    (reason.kind(), reason.is_inherited(), reason.message())
}

#[test]
fn a_token_that_is_not_cancelled_has_no_reason_and_a_plain_cancel_is_a_request() {
    let token = CancelToken::new();
    assert!(token.reason().is_none());
    token.cancel();
    assert_eq!(read(&token.check().unwrap_err()), (CancelKind::Requested, false, None));
    assert_eq!(token.check().unwrap_err().to_string(), "the task was cancelled: somebody asked for it");
}

/// A user can pass a reason on from one tree of tokens to another, for instance in a callback.
#[test]
fn a_reason_that_was_inherited_elsewhere_is_not_inherited_where_it_is_given() {
    let (request, other) = (CancelToken::new(), CancelToken::new());
    let below = request.child();
    request.cancel_because("the client hung up");
    other.cancel_because(below.reason().unwrap());
    assert_eq!(read(&below.check().unwrap_err()), (CancelKind::Requested, true, Some("the client hung up")));
    assert_eq!(read(&other.check().unwrap_err()), (CancelKind::Requested, false, Some("the client hung up")));
}

#[test]
fn the_first_request_gives_the_reason() {
    let token = CancelToken::new();
    assert!(token.cancel_because("the first"));
    assert!(!token.cancel_because("the second"));
    assert!(!token.cancel());
    assert_eq!(token.reason().unwrap().message(), Some("the first"));
}

#[test]
fn what_is_below_inherits_the_reason_and_what_was_cancelled_before_keeps_its_own() {
    let root = CancelToken::new();
    let (early, below) = (root.child(), root.child().child());
    early.cancel_because(format!("number {}", 7));
    root.cancel_because("all of you");
    let late = root.child();
    for inherits in [&below, &late] {
        assert_eq!(read(&inherits.check().unwrap_err()), (CancelKind::Requested, true, Some("all of you")));
    }
    assert_eq!(read(&early.check().unwrap_err()), (CancelKind::Requested, false, Some("number 7")));
    assert_eq!(read(&early.child().check().unwrap_err()), (CancelKind::Requested, true, Some("number 7")));
}

#[test]
fn a_value_of_any_type_comes_with_the_reason() {
    let token = CancelToken::new();
    token.cancel_because(CancelReason::new("no room").with_payload(vec![1, 2, 3]));
    let reason = token.child().reason().unwrap();
    assert_eq!(reason.payload::<Vec<i32>>(), Some(&vec![1, 2, 3]));
    assert_eq!(reason.payload::<String>(), None);
    assert_eq!(reason.message(), Some("no room"));
    assert_eq!(CancelReason::new("nothing more").payload::<Vec<i32>>(), None);
}

#[test]
fn every_wait_that_has_no_time_limit_tells_the_reason() {
    within_deadline(|| {
        let token = CancelToken::new();
        let waits: [fn() -> Result<(), Cancelled>; 4] = [
            || Latch::new(1).wait(),
            || Ok(Semaphore::new(0).acquire().map(drop)?),
            || CancelToken::current().sleep(LONG),
            || {
                let service = ExecutorCompletionService::new(ThreadPoolExecutor::fixed(1));
                let held = Arc::new(Latch::new(1));
                let until = Arc::clone(&held);
                drop(service.submit(move || until.wait().unwrap()).unwrap());
                let result = service.take().map(drop);
                held.count_down();
                Ok(result?)
            },
        ];
        let waiters = waits.map(|wait| {
            let token = token.clone();
            blocked(move || token.attach(wait))
        });
        token.cancel_because("closing time");
        let seen = |cancelled: &Cancelled| assert_eq!(read(cancelled).2, Some("closing time"));
        for waiter in waiters {
            seen(&waiter.result().unwrap_err());
        }
        for wait in waits {
            seen(&token.attach(wait).unwrap_err()); // waits that do not begin report it, too
        }
    });
}

#[test]
fn a_pool_that_is_stopped_says_so_to_its_tasks() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, told) = (Signal::new(), std::sync::mpsc::channel());
        let there = begun.clone();
        pool.execute(move || {
            there.set();
            told.0.send(CancelToken::current().sleep(LONG).unwrap_err()).unwrap();
        })
        .unwrap();
        begun.wait();
        drop(pool.shutdown_now());
        let cancelled = told.1.recv_timeout(LONG).unwrap();
        assert_eq!(read(&cancelled), (CancelKind::Shutdown, true, None));
        assert_eq!(cancelled.to_string(), "the task was cancelled: its executor was shut down");
    });
}

#[test]
fn a_task_whose_handle_is_cancelled_is_told_of_a_request() {
    within_deadline(|| {
        let (begun, told) = (Signal::new(), std::sync::mpsc::channel());
        let pool = ThreadPoolExecutor::fixed(1);
        let there = begun.clone();
        let handle = pool
            .submit(move || {
                there.set();
                while !CancelToken::current().is_cancelled() {
                    std::thread::yield_now();
                }
                told.0.send(Latch::new(0).wait().unwrap_err()).unwrap();
            })
            .unwrap();
        begun.wait();
        handle.cancel();
        assert_eq!(read(&told.1.recv_timeout(LONG).unwrap()), (CancelKind::Requested, false, None));
    });
}

#[test]
fn the_error_of_a_task_that_gives_up_by_itself_has_none_and_all_are_equal() {
    let token = CancelToken::new();
    token.cancel_because("some reason");
    let with_a_reason = token.check().unwrap_err();
    assert!(Cancelled.reason().is_none());
    assert_eq!(Cancelled, with_a_reason);
    assert_eq!(
        (format!("{Cancelled}"), format!("{Cancelled:?}")),
        ("the task was cancelled".into(), "Cancelled".into())
    );
    assert_eq!(format!("{with_a_reason:?}"), "Cancelled(some reason)");
    assert!(format!("{:?}", with_a_reason.reason().unwrap()).starts_with("CancelReason { kind: Requested"));
}

#[test]
fn the_value_is_dropped_with_the_last_who_can_ask_for_it() {
    let (value, alive) = tracked();
    let token = CancelToken::new();
    let child = token.child();
    token.cancel_because(CancelReason::new("x").with_payload(value));
    drop(token);
    let cancelled = child.check().unwrap_err();
    drop(child);
    assert!(alive());
    drop(cancelled);
    assert!(!alive());
}

/// The value belongs to the user. So its `Drop` may panic, wait, or use its token.
#[test]
fn a_value_that_cannot_be_dropped_quietly_disturbs_neither_token_nor_task() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let payload = || CancelReason::new("x").with_payload(std::sync::Mutex::new(Some(explosions.bomb())));
        let token = CancelToken::new();
        token.cancel_because(payload());
        let last = token.child();
        drop(token);
        let dropped = on_thread(move || drop(last));
        dropped.result();
        assert_eq!(explosions.count(), 1);

        let token = CancelToken::new();
        token.cancel_because(payload());
        let cancelled = token.check().unwrap_err();
        drop(token);
        let ended = DirectExecutor.submit_cancellable(move |_| Err::<(), _>(cancelled)).unwrap();
        assert!(matches!(ended.join(), Err(executor::JoinError::Cancelled)));
        assert_eq!(explosions.count(), 2);
    });
}
