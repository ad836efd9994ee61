//! Tests of handles that are completed by hand.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, JoinError, Promise, SharedJoinError, TaskError, TaskHandle, TaskState, TryJoinError,
};

use crate::support::{LONG, Record, assert_matches, blocked, on_thread, rounds, tracked, within_deadline};

/// FUT-47: the states of a promise are the same as the states of a task that has begun.
#[test]
fn a_promise_is_open_until_it_is_decided_and_both_ends_say_so() {
    type Decide = fn(&Promise<i32>, &TaskHandle<i32>);
    let decisions: [(Decide, TaskState); 4] = [
        (|promise, _| promise.complete(1).unwrap(), TaskState::Completed),
        (|promise, _| promise.panic_with(Box::new("no")).unwrap(), TaskState::Panicked),
        (|promise, _| assert!(promise.cancel()), TaskState::Cancelled),
        (|_, handle| assert!(handle.cancel()), TaskState::Cancelled),
    ];
    for (decide, state) in decisions {
        let (promise, handle) = Promise::new();
        assert_eq!(promise.id(), handle.id());
        assert_eq!((promise.state(), handle.state()), (TaskState::Running, TaskState::Running));
        assert!(!promise.is_finished() && !handle.is_finished());
        let Err(TryJoinError::NotFinished(handle)) = handle.try_join() else { panic!("nothing is decided") };
        decide(&promise, &handle);
        assert_eq!((promise.state(), handle.state()), (state, state));
        assert!(promise.is_finished() && handle.is_finished());
        let result = handle.try_join();
        match state {
            TaskState::Completed => assert_matches!(result, Ok(1)),
            TaskState::Panicked => assert_matches!(result, Err(TryJoinError::Panicked(_))),
            _ => assert_matches!(result, Err(TryJoinError::Cancelled(_))),
        }
    }
}

/// FUT-19
#[test]
fn all_waiters_are_released_with_the_value_when_a_third_completes_the_promise() {
    within_deadline(|| {
        let (promise, handle) = Promise::new();
        let handle = handle.shared();
        let waiters = [
            blocked({
                let handle = handle.clone();
                move || handle.join()
            }),
            blocked({
                let handle = handle.clone();
                move || handle.join_timeout(Duration::MAX)
            }),
            blocked(move || pollster::block_on(handle).map_err(SharedJoinError::from)),
        ];
        promise.complete("text".to_owned()).unwrap();
        for waiter in waiters {
            assert_eq!(*waiter.result().unwrap(), "text");
        }
    });
}

/// FUT-10
#[test]
fn a_promise_that_has_failed_says_so_every_time_and_stays_so() {
    within_deadline(|| {
        let (promise, handle) = Promise::new();
        let handle = handle.shared();
        promise.panic_with(Box::new(String::from("no answer"))).unwrap();
        assert_eq!(promise.complete(1), Err(1));
        assert!(!promise.cancel() && !handle.cancel());
        let refused = promise.panic_with(Box::new(7)).unwrap_err();
        assert_eq!(*refused.downcast::<i32>().unwrap(), 7, "the late caller gets its own value back");
        for _ in 0..2 {
            for result in [handle.join(), handle.join_timeout(Duration::ZERO)] {
                assert_matches!(result, Err(SharedJoinError::Panicked(panic)) if panic.message() == "no answer");
            }
        }
    });
}

#[test]
fn a_failure_hands_its_payload_on() {
    within_deadline(|| {
        let (promise, handle) = Promise::<()>::new();
        promise
            .panic_with(thread::spawn(|| std::panic::resume_unwind(Box::new(7))).join().unwrap_err())
            .unwrap();
        assert!(format!("{promise:?}").contains("state: Panicked, panic: "), "{promise:?}");
        let Err(JoinError::Panicked(panic)) = handle.join() else { panic!("it has failed") };
        assert_eq!(*panic.take_payload().unwrap().downcast::<i32>().unwrap(), 7);
    });
}

/// FUT-35
#[test]
fn the_first_to_decide_wins_and_the_callback_is_called_once() {
    let calls = Record::new();
    let (promise, handle) = Promise::new();
    let canceller = handle.canceller();
    handle.on_done({
        let calls = calls.clone();
        move |result| calls.add((result.unwrap(), thread::current().id()))
    });
    assert_eq!(promise.complete(1), Ok(()));
    assert_eq!(promise.complete(2), Err(2));
    assert!(promise.panic_with(Box::new("no")).is_err());
    assert!(!promise.cancel() && !canceller.cancel() && !canceller.cancel_keep_running());
    drop(promise);
    assert_eq!(calls.so_far(), [(1, thread::current().id())]);
}

#[test]
fn of_several_who_complete_one_promise_exactly_one_does() {
    within_deadline(|| {
        for _ in rounds(200) {
            let (promise, handle) = Promise::new();
            let promise = Arc::new(promise);
            let completers = [1, 2, 3].map(|n| {
                let promise = Arc::clone(&promise);
                on_thread(move || promise.complete(n))
            });
            let value = handle.join_timeout(LONG).unwrap();
            for (n, completer) in (1..).zip(completers) {
                assert_eq!(completer.result(), if n == value { Ok(()) } else { Err(n) });
            }
        }
    });
}

/// FUT-38
#[test]
fn a_waiter_that_comes_while_the_promise_is_completed_is_released() {
    within_deadline(|| {
        let (to_complete, promises) = mpsc::channel::<(usize, Promise<usize>)>();
        let completer = on_thread(move || promises.iter().all(|(n, promise)| promise.complete(n).is_ok()));
        for round in rounds(10_000) {
            let (promise, handle) = Promise::new();
            to_complete.send((round, promise)).unwrap();
            let joined = if round % 2 == 0 { handle.join().ok() } else { handle.join_timeout(LONG).ok() };
            assert_eq!(joined, Some(round));
        }
        drop(to_complete);
        assert!(completer.result());
    });
}

#[test]
fn a_promise_that_is_dropped_releases_who_waits_as_cancelled() {
    within_deadline(|| {
        let (promise, handle) = Promise::<()>::new();
        let waiter = blocked(move || handle.join());
        drop(promise);
        assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_join_of_an_open_promise_times_out_or_is_interrupted_as_any_other() {
    within_deadline(|| {
        let (promise, handle) = Promise::new();
        let Err(JoinError::TimedOut(handle)) = handle.join_timeout(Duration::ZERO) else {
            panic!("it has not been completed");
        };
        let token = CancelToken::new();
        token.cancel();
        let Err(JoinError::Interrupted(handle)) = token.attach(|| handle.join()) else {
            panic!("the waiter was cancelled")
        };
        assert!(handle.remove().is_none(), "there is no task in any queue");
        promise.complete(1).unwrap();
        assert_eq!(handle.join().unwrap(), 1);
    });
}

#[test]
fn the_token_of_a_promise_tells_that_its_handle_was_cancelled() {
    let early_or_late = [true, false];
    for early in early_or_late {
        let (promise, handle) = Promise::<()>::new();
        let token = early.then(|| promise.token());
        assert!(handle.cancel());
        assert!(token.unwrap_or_else(|| promise.token()).is_cancelled());
        assert!(promise.token().is_cancelled());
    }
    for decide in [TaskHandle::cancel_keep_running, |_: &TaskHandle<()>| true] {
        let (promise, handle) = Promise::new();
        let token = promise.token();
        assert!(decide(&handle));
        let _ = promise.complete(());
        assert!(!token.is_cancelled() && !promise.token().is_cancelled());
    }
    let (promise, _handle) = Promise::<()>::new();
    let (first, second) = (promise.token(), promise.token());
    first.cancel();
    assert!(second.is_cancelled(), "it is one token");
    assert!(!promise.is_finished(), "a request does not decide it");
}

#[test]
fn a_promise_can_be_awaited() {
    within_deadline(|| {
        let (promise, mut handle) = Promise::new();
        assert!(pin!(&mut handle).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let awaiting = blocked(move || pollster::block_on(handle));
        promise.complete(1).unwrap();
        assert_eq!(awaiting.result().unwrap(), 1);

        let (promise, handle) = Promise::<()>::new();
        drop(promise);
        assert_matches!(
            pin!(handle).poll(&mut Context::from_waker(Waker::noop())),
            Poll::Ready(Err(TaskError::Cancelled(_)))
        );
    });
}

#[test]
fn a_value_that_nobody_takes_is_dropped_with_the_handle_or_when_it_comes() {
    let (value, is_alive) = tracked();
    let (promise, handle) = Promise::new();
    promise.complete(value).unwrap();
    assert!(is_alive());
    drop(handle);
    assert!(!is_alive(), "although the promise is still there");

    let (value, is_alive) = tracked();
    let (promise, handle) = Promise::new();
    drop(handle);
    promise.complete(value).unwrap();
    assert!(!is_alive());
}
