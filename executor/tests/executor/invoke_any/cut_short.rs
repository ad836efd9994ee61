//! Tests of races that end early, for one of four reasons: a refusal, the cancellation of the caller, the end
//! of the pool, or a panic.

use std::sync::{Arc, mpsc};

use executor::{
    CancelToken, DirectExecutor, FutureTask, InvokeFailure, RejectReason, TaskFailure, ThreadPoolExecutor,
    masked, prelude::*,
};

use super::{Attempt, boxed, each_form, fail, loser, told};
use crate::support::{
    Bomb, Explosions, LONG, Record, Signal, assert_matches, eventually, on_every_concurrent_executor,
    on_every_executor, on_every_pool, on_thread, room_for_two, rounds, within_deadline,
};

// ----- refusals -----

/// INV-45
#[test]
fn what_a_pool_refuses_because_it_is_shut_down_comes_back() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            each_form(|invoke_any| {
                let tasks = vec![FutureTask::new(|| Ok(1)), FutureTask::new(|| Ok(2))];
                let error = invoke_any(&pool, tasks).unwrap_err();
                assert_matches!(error.reason, InvokeFailure::Rejected(RejectReason::Shutdown));
                assert!(error.failures.is_empty());
                assert_eq!(DirectExecutor.invoke_any(error.not_submitted).unwrap(), 1);
            });
        });
    });
}

#[test]
fn a_refusal_half_way_does_not_matter_if_one_of_those_accepted_succeeds() {
    within_deadline(|| {
        let (pool, refused) = room_for_two();
        let release = Signal::new();
        let tasks = [(); 4].map(|()| {
            let release = release.clone();
            boxed(move || {
                release.wait();
                Ok(1)
            })
        });
        let waiter = on_thread(move || pool.invoke_any(tasks));
        refused.wait();
        release.set();
        assert_eq!(waiter.result().unwrap(), 1);
    });
}

#[test]
fn a_refusal_half_way_is_the_reason_if_all_that_were_accepted_have_failed() {
    within_deadline(|| {
        let (pool, refused) = room_for_two();
        let release = Signal::new();
        let tasks = [1, 2, 3, 4].map(|n| {
            let release = release.clone();
            boxed(move || {
                release.wait();
                if n > 2 { Ok(n) } else { Err("no") }
            })
        });
        let waiter = on_thread(move || pool.invoke_any(tasks));
        refused.wait();
        release.set();
        let error = waiter.result().unwrap_err();
        assert_matches!(error.reason, InvokeFailure::Rejected(RejectReason::Saturated));
        assert_eq!(told(&error), ["no", "no"]);
        assert_eq!(error.not_submitted.len(), 2);
        assert_eq!(DirectExecutor.invoke_any(error.not_submitted).unwrap(), 3);
    });
}

// ----- the caller is cancelled -----

/// INV-43
#[test]
fn a_caller_that_is_cancelled_already_submits_nothing() {
    within_deadline(|| {
        on_every_executor(|executor| {
            each_form(|invoke_any| {
                let token = CancelToken::new();
                token.cancel();
                let tasks = || vec![FutureTask::new(|| Ok(1)), FutureTask::new(|| Ok(2))];
                let error = token.attach(|| invoke_any(executor, tasks())).unwrap_err();
                assert_matches!(error.reason, InvokeFailure::Interrupted);
                assert_eq!((error.failures.len(), error.not_submitted.len()), (0, 2));
                assert!(token.attach(|| masked(|| invoke_any(executor, tasks()))).is_ok());
            });
        });
    });
}

#[test]
fn a_caller_that_is_cancelled_while_it_waits_cancels_those_that_run() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            each_form(|invoke_any| {
                let ((one, one_waits, one_told), (two, two_waits, two_told)) = (loser(), loser());
                let token = CancelToken::new();
                let (token_there, on_cancel) = (token.clone(), token.clone());
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        one_waits.wait_until_blocked();
                        two_waits.wait_until_blocked();
                        on_cancel.cancel();
                    });
                    let error = token_there.attach(|| invoke_any(executor, vec![one, two])).unwrap_err();
                    assert_matches!(error.reason, InvokeFailure::Interrupted);
                    assert_eq!(error.failures.len(), 2);
                    assert!(one_told.is_set() && two_told.is_set());
                });
            });
        });
    });
}

// ----- the pool is stopped -----

/// END-24, END-25, END-34
#[test]
fn shutting_down_now_releases_who_waits_for_a_winner() {
    within_deadline(|| {
        for _ in rounds(20) {
            on_every_pool(|pool| {
                let ((one, one_waits, _), (two, _, _)) = (loser(), loser());
                std::thread::scope(|scope| {
                    let caller = scope.spawn(|| pool.invoke_any([one, two]));
                    one_waits.wait_until_blocked();
                    drop(pool.shutdown_now());
                    let error = caller.join().unwrap().unwrap_err();
                    // If the race has not submitted the second task yet, the pool refuses the second task.
                    assert_matches!(
                        error.reason,
                        InvokeFailure::AllFailed | InvokeFailure::Rejected(RejectReason::Shutdown)
                    );
                    assert!(error.failures.iter().all(|cause| matches!(cause, TaskFailure::Cancelled(_))));
                });
            });
        }
    });
}

/// END-26
#[test]
fn thirty_thousand_races_with_shutting_down_now_all_end() {
    within_deadline(|| {
        let (give, given) = mpsc::channel::<Arc<ThreadPoolExecutor>>();
        let stopper = on_thread(move || given.into_iter().for_each(|pool| drop(pool.shutdown_now())));
        for round in rounds(30_000) {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1 + round % 2));
            give.send(Arc::clone(&pool)).unwrap();
            match pool.invoke_any([(); 3].map(|()| boxed(|| Ok(1)))) {
                Ok(value) => assert_eq!(value, 1),
                Err(error) => assert_matches!(
                    error.reason,
                    InvokeFailure::AllFailed | InvokeFailure::Rejected(RejectReason::Shutdown)
                ),
            }
            assert!(pool.await_termination(LONG));
        }
        drop(give);
        stopper.result();
    });
}

// ----- panics of losers, of the caller and of drops -----

/// A pool of two threads, and the reports that its panic handler receives.
fn pool_that_tells() -> (ThreadPoolExecutor, Record<String>) {
    let heard = Record::new();
    let pool = ThreadPoolExecutor::builder().threads(2).panic_handler({
        let heard = heard.clone();
        move |report: &executor::panics::PanicReport<'_>| heard.add(report.message.to_owned())
    });
    (pool.build().unwrap(), heard)
}

#[test]
fn the_panic_of_a_loser_is_reported_and_one_that_the_caller_gets_is_not() {
    within_deadline(|| {
        let (pool, heard) = pool_that_tells();
        let panics = FutureTask::new(|| -> Attempt { fail() });
        let panicked = panics.handle.canceller();
        let succeeds = FutureTask::new(move || {
            eventually("the other one has panicked", || panicked.is_finished());
            Ok(1)
        });
        assert_eq!(pool.invoke_any([panics, succeeds]).unwrap(), 1);
        pool.close();
        assert_eq!(heard.so_far(), ["oh"]);

        let (pool, heard) = pool_that_tells();
        let error = pool.invoke_any([boxed(|| fail())]).unwrap_err();
        assert_matches!(&error.failures[0], TaskFailure::Panicked(panic) if panic.message() == "oh");
        drop(error);
        pool.close();
        assert!(heard.so_far().is_empty());
    });
}

#[test]
fn values_and_errors_that_panic_when_dropped_do_no_harm() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let attempt = |result: fn(Bomb) -> Result<Bomb, Bomb>| {
            let bomb = explosions.bomb();
            FutureTask::new(move || result(bomb))
        };
        let attempts = [attempt(Err), attempt(Err), attempt(Ok), attempt(Ok)];
        let winner = DirectExecutor.invoke_any(attempts).unwrap();
        assert_eq!(explosions.count(), 3, "two failures, and what the last one had captured");
        std::mem::forget(winner);
    });
}
