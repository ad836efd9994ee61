//! The properties of the one-shot future, each a function. `exercise.toml` lists them and says what each promises.
#![allow(clippy::drop_non_drop, reason = "whether a promise implements Drop is up to the answer")]

use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::{Abandoned, Future, promise};
use crate::probe::{Counter, until_asleep};
use crate::sync::{Arc, thread};

const VALUE_NEVER_SEEN: &str = "the value is there and get() does not see it, or done is announced before the value is in \
                                its place: look at the place under its lock, in a loop round the wait, and notify \
                                after the value is in";
const NEVER_RELEASED: &str = "a promise that is dropped without a value has to say so to the waiter: implement Drop for \
                              Promise, and notify there, too";

/// A value that is worth something: it may be had once, and counts how many of it were dropped.
struct Value(u32, Arc<Counter>);

impl Drop for Value {
    fn drop(&mut self) {
        self.1.add();
    }
}

fn value(number: u32) -> (Value, Arc<Counter>) {
    let dropped = Arc::new(Counter::new("the value to be dropped"));
    (Value(number, Arc::clone(&dropped)), dropped)
}

/// Calls get() on a thread of its own.
fn getter<T: Send + 'static>(
    future: Future<T>,
    cause: &'static str,
) -> thread::JoinHandle<Result<T, Abandoned>> {
    let get = move || expect("get()", cause, || future.get());
    thread::Builder::new().name("getter".into()).spawn(get).expect("a thread")
}

fn join<T>(handle: thread::JoinHandle<T>) -> T {
    handle
        .join()
        .unwrap_or_else(|_| fail("a thread of the test panicked", "get() and complete() never panic"))
}

fn check_value(got: Result<Value, Abandoned>, number: u32) {
    match got {
        Ok(value) if value.0 == number => {}
        Ok(_) => fail("get() returned another value", "where does it come from?"),
        Err(Abandoned) => fail(
            "get() returned Err(Abandoned), and the promise was kept",
            "complete() ends with the drop of the promise: Drop must leave a value that is there alone. Or get() takes \
             the wrong turn when it finds nothing, instead of waiting",
        ),
    }
}

pub fn get_returns_a_value_that_is_there() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    expect("complete()", "complete() never waits", || promise.complete(seven));
    check_value(expect("get()", VALUE_NEVER_SEEN, || future.get()), 7);
}

pub fn get_waits_for_the_value() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let getter = getter(future, VALUE_NEVER_SEEN);
    expect("complete()", "complete() never waits", || promise.complete(seven));
    check_value(join(getter), 7);
}

pub fn a_waiting_get_sleeps() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let getter = getter(future, VALUE_NEVER_SEEN);
    until_asleep(1, "get() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees get() asleep");
    promise.complete(seven);
    check_value(join(getter), 7);
}

pub fn a_dropped_promise_releases_a_waiting_get() {
    let (promise, future) = promise::<u32>();
    let getter = getter(future, NEVER_RELEASED);
    step("drops the promise");
    expect("drop()", "the drop of a promise never waits", || drop(promise));
    if join(getter) != Err(Abandoned) {
        fail("get() returned a value that nobody provided", "what does get() return when it finds no value?");
    }
}

pub fn get_after_a_dropped_promise_returns_at_once() {
    let (promise, future) = promise::<u32>();
    step("drops the promise");
    drop(promise);
    if expect("get()", NEVER_RELEASED, || future.get()) != Err(Abandoned) {
        fail("get() returned a value that nobody provided", "what does get() return when it finds no value?");
    }
}

pub fn a_panicking_provider_releases_a_waiting_get() {
    let (promise, future) = promise::<u32>();
    let getter = getter(future, NEVER_RELEASED);
    let provider = thread::Builder::new().name("provider".into()).spawn(move || {
        let _promise = promise;
        panic_on_purpose();
    });
    if provider.expect("a thread").join().is_ok() || join(getter) != Err(Abandoned) {
        fail("get() returned a value that nobody provided", "what does get() return when it finds no value?");
    }
}

pub fn is_done_only_looks() {
    let (promise, future) = promise();
    let ask = |future: &Future<Value>| {
        expect("is_done()", "is_done() only looks and never waits for a value", || future.is_done())
    };
    if ask(&future) {
        fail("is_done() was true before there was a value", "what would get() return now?");
    }
    promise.complete(value(7).0);
    if !ask(&future) || !ask(&future) {
        fail(
            "is_done() was false though the value was there",
            "is_done() has to leave the value where it is, and to look at the place itself",
        );
    }
    check_value(expect("get()", "is_done() has taken the value: it may only look", || future.get()), 7);
}

pub fn is_done_is_true_for_an_abandoned_future() {
    let (promise, future) = promise::<u32>();
    drop(promise);
    if !expect("is_done()", "is_done() only looks and never waits", || future.is_done()) {
        fail(
            "is_done() was false after the promise was dropped",
            "who polls is_done() before get() would poll for ever: done means decided, not successful",
        );
    }
}

pub fn done_means_that_the_value_is_there() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let provider = thread::spawn(move || promise.complete(seven));
    if future.is_done() {
        step("is_done() was true");
        check_value(
            expect(
                "get()",
                "done is announced before the value is in its place: change both under one lock",
                || future.get(),
            ),
            7,
        );
    }
    join(provider);
}

pub fn a_value_that_nobody_gets_is_dropped() {
    let (promise, future) = promise();
    let (seven, dropped) = value(7);
    promise.complete(seven);
    drop(future);
    let times = dropped.get();
    if times != 1 {
        fail(
            &format!("the value was dropped {times} times"),
            "an end is never dropped (mem::forget keeps its Arc alive for ever), or the value is kept somewhere else",
        );
    }
}
