//! All waiters of a shared handle get the outcome, even if other waiters come or leave at the same time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use executor_model::{FutureTask, Promise, SharedJoinError};
use loom::sync::Mutex;
use loom::thread;

use crate::{block_on, model, model_bounded};

#[test]
fn a_shared_handle_releases_all_who_wait() {
    model_bounded(4, || {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let mine = handle.shared();
        let theirs = mine.clone();
        let worker = thread::spawn(move || drop(task.run()));
        let other = thread::spawn(move || *theirs.join().unwrap());
        assert_eq!(*mine.join().unwrap(), 7);
        assert_eq!(other.join().unwrap(), 7);
        worker.join().unwrap();
    });
}

#[test]
fn a_shared_handle_tells_both_waiters_of_a_cancel() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let mine = handle.shared();
        let theirs = mine.clone();
        let other = thread::spawn(move || theirs.join().is_err());
        mine.cancel();
        assert!(matches!(mine.join(), Err(SharedJoinError::Cancelled(_))));
        assert!(other.join().unwrap());
        drop(task);
    });
}

#[test]
fn a_thread_and_an_asynchronous_task_are_both_released() {
    model_bounded(4, || {
        let (promise, handle) = Promise::new();
        let mine = handle.shared();
        let theirs = mine.clone();
        let other = thread::spawn(move || *theirs.join().unwrap());
        let completer = thread::spawn(move || promise.complete(7));
        assert_eq!(*block_on(mine).unwrap(), 7);
        assert_eq!(other.join().unwrap(), 7);
        completer.join().unwrap().unwrap();
    });
}

#[test]
fn a_waiter_whose_time_is_up_takes_nobody_elses_wake_up_with_it() {
    model_bounded(3, || {
        let (promise, handle) = Promise::new();
        let mine = handle.shared();
        let theirs = mine.clone();
        let other = thread::spawn(move || theirs.join_timeout(Duration::from_secs(1)));
        let completer = thread::spawn(move || promise.complete(7));
        assert_eq!(*mine.join().unwrap(), 7);
        match other.join().unwrap() {
            Ok(value) => assert_eq!(*value, 7),
            Err(error) => assert!(matches!(error, SharedJoinError::TimedOut)),
        }
        completer.join().unwrap().unwrap();
    });
}

#[test]
fn a_clone_that_is_dropped_takes_nobody_elses_wake_up_with_it() {
    model(|| {
        let (promise, handle) = Promise::new();
        let mut mine = handle.shared();
        let mut context = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut mine).poll(&mut context);
        let theirs = mine.clone();
        let dropper = thread::spawn(move || drop(theirs));
        let completer = thread::spawn(move || promise.complete(7));
        assert_eq!(*block_on(mine).unwrap(), 7);
        dropper.join().unwrap();
        completer.join().unwrap().unwrap();
    });
}

#[test]
fn each_callback_is_called_once_also_one_that_comes_with_the_outcome() {
    model(|| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (promise, handle) = Promise::new();
        let handle = handle.shared();
        let register = |name: char| {
            let calls = Arc::clone(&calls);
            handle.on_done(move |result| calls.lock().unwrap().push((name, *result.unwrap())));
        };
        register('a');
        let completer = thread::spawn(move || promise.complete(7).unwrap());
        register('b');
        completer.join().unwrap();
        let mut calls = calls.lock().unwrap();
        calls.sort_unstable(); // a callback that comes with the outcome may overtake others
        assert_eq!(*calls, [('a', 7), ('b', 7)]);
    });
}
