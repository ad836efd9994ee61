//! A handle that a program completes by hand: the first outcome counts, and all threads learn the same
//! outcome.

use std::sync::Arc;

use executor_model::{JoinError, Promise, TaskState};
use loom::cell::UnsafeCell;
use loom::thread;

use crate::{block_on, model, model_bounded};

#[test]
fn what_the_completer_did_reaches_the_joiner() {
    model(|| {
        let (promise, handle) = Promise::new();
        let completer = thread::spawn(move || {
            let payload = UnsafeCell::new(0);
            payload.with_mut(|_written_by_the_completer| ());
            assert!(promise.complete(payload).is_ok());
        });
        handle.join().unwrap().with(|_read_by_the_joiner| ());
        completer.join().unwrap();
    });
}

#[test]
fn a_dropped_promise_releases_a_thread_and_an_asynchronous_task() {
    model(|| {
        let (promise, handle) = Promise::<()>::new();
        let dropper = thread::spawn(move || drop(promise));
        assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
        dropper.join().unwrap();
    });
    model(|| {
        let (promise, handle) = Promise::<()>::new();
        let dropper = thread::spawn(move || drop(promise));
        assert!(block_on(handle).is_err());
        dropper.join().unwrap();
    });
}

#[test]
fn of_two_completers_one_decides_and_the_other_has_its_value_back() {
    model_bounded(4, || {
        let (promise, handle) = Promise::new();
        let promise = Arc::new(promise);
        let [one, other] = [1, 2].map(|n| {
            let promise = Arc::clone(&promise);
            thread::spawn(move || promise.complete(n))
        });
        let value = handle.join().unwrap();
        let results = [one.join().unwrap(), other.join().unwrap()];
        assert_eq!(results, if value == 1 { [Ok(()), Err(2)] } else { [Err(1), Ok(())] });
    });
}

#[test]
fn of_completing_cancelling_and_dropping_the_handle_both_ends_know_which_was_first() {
    model_bounded(4, || {
        let (promise, handle) = Promise::new();
        let (watcher, canceller) = (handle.canceller(), handle.canceller());
        let one = thread::spawn(move || promise.complete(7));
        let other = thread::spawn(move || canceller.cancel());
        drop(handle);
        match (one.join().unwrap(), other.join().unwrap()) {
            (Ok(()), false) => assert_eq!(watcher.state(), TaskState::Completed),
            (Err(7), true) => assert_eq!(watcher.state(), TaskState::Cancelled),
            both_or_neither => panic!("{both_or_neither:?}"),
        }
    });
}

#[test]
fn a_cancel_reaches_the_token_that_is_asked_for_meanwhile() {
    model(|| {
        let (promise, handle) = Promise::<()>::new();
        let other = thread::spawn(move || {
            let token = promise.token();
            (promise, token)
        });
        assert!(handle.cancel());
        let (_promise, token) = other.join().unwrap();
        assert!(token.is_cancelled());
    });
}
