//! The properties of the one-shot future; each property is a function. `exercise.toml` lists the properties
//! and says what each of them promises.
#![allow(clippy::drop_non_drop, reason = "whether a promise implements Drop is up to the answer")]

use exercises_harness::{at_once, expect, fail, panic_on_purpose, step, waits_so_far};

use super::exercise::{Abandoned, Future, Promise, promise};
use crate::probe::{Counter, until_asleep};
use crate::sync::{Arc, thread};

const VALUE_NEVER_SEEN: &str = "the value is there and join() does not see it, or done is announced before the value is in \
                                its place: look at the place under its lock, in a loop round the wait, and notify \
                                after the value is in";
const NEVER_RELEASED: &str = "a promise that is dropped without a value has to say so to the waiter: implement Drop for \
                              Promise, change there what the waiter looks at, and notify after that. (A field of the promise, \
                              such as its Arc, is dropped only after drop() has returned.)";

/// A value that must not be lost or copied. Each drop of this value is counted.
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

/// Calls join() on a new thread.
fn joiner<T: Send + 'static>(
    future: Future<T>,
    cause: &'static str,
) -> thread::JoinHandle<Result<T, Abandoned>> {
    let joins = move || expect("join()", cause, || future.join());
    thread::Builder::new().name("joiner".into()).spawn(joins).expect("a thread")
}

fn complete(promise: Promise<Value>, value: Value) {
    let cause = "it must put the value into its place and return, even if no thread waits for the value yet";
    at_once("complete()", cause, || promise.complete(value));
}

fn join<T>(handle: thread::JoinHandle<T>) -> T {
    handle
        .join()
        .unwrap_or_else(|_| fail("a thread of the test panicked", "join() and complete() never panic"))
}

fn check_value(got: Result<Value, Abandoned>, number: u32) {
    match got {
        Ok(value) if value.0 == number => {}
        Ok(_) => fail("join() returned another value", "from which place does join() take that value?"),
        Err(Abandoned) => fail(
            "join() returned Err(Abandoned), and the promise was completed",
            "complete() ends with the drop of the promise: if there is a value, Drop must not replace it. Or join() takes \
             the wrong turn when it finds nothing, instead of waiting; or it asks two questions (is there a value, is the \
             promise gone?) and lets go of the lock between them",
        ),
    }
}

pub fn join_returns_a_value_that_is_there() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    complete(promise, seven);
    check_value(expect("join()", VALUE_NEVER_SEEN, || future.join()), 7);
}

pub fn join_waits_for_the_value() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let joiner = joiner(future, VALUE_NEVER_SEEN);
    complete(promise, seven);
    check_value(join(joiner), 7);
}

/// A wake-up that has ended one join() must not also end the next join() of the same thread.
pub fn the_next_join_waits_for_its_own_value() {
    let ((one, first), (two, second)) = (promise(), promise());
    let joins = move || {
        let seven = expect("join()", VALUE_NEVER_SEEN, || first.join());
        let cause = "the wake-up of the first join() is left over and ends the wait of the second, or the second join() is \
                     never woken. An unpark() may come after its join() has returned, so park() must stand in a loop that \
                     looks at the place";
        check_value(seven, 7);
        let eight = expect("the next join() of this thread", cause, || second.join());
        if eight.is_err() {
            fail("the next join() returned Err(Abandoned), and its promise was completed", cause);
        }
        check_value(eight, 8);
    };
    let joiner = thread::Builder::new().name("joiner".into()).spawn(joins).expect("a thread");
    complete(one, value(7).0);
    complete(two, value(8).0);
    join(joiner);
}

pub fn a_waiting_join_sleeps() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let joiner = joiner(future, VALUE_NEVER_SEEN);
    until_asleep(1, "join() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees join() asleep");
    complete(promise, seven);
    check_value(join(joiner), 7);
}

pub fn a_dropped_promise_releases_a_waiting_join() {
    let (promise, future) = promise::<u32>();
    let joiner = joiner(future, NEVER_RELEASED);
    step("drops the promise");
    expect("drop()", "the drop of a promise never waits", || drop(promise));
    if join(joiner) != Err(Abandoned) {
        fail(
            "join() returned a value that was not provided",
            "what does join() return when it finds no value?",
        );
    }
}

pub fn join_after_a_dropped_promise_returns_at_once() {
    let (promise, future) = promise::<u32>();
    step("drops the promise");
    drop(promise);
    if expect("join()", NEVER_RELEASED, || future.join()) != Err(Abandoned) {
        fail(
            "join() returned a value that was not provided",
            "what does join() return when it finds no value?",
        );
    }
}

pub fn a_panicking_provider_releases_a_waiting_join() {
    let (promise, future) = promise::<u32>();
    let joiner = joiner(future, NEVER_RELEASED);
    let provider = thread::Builder::new().name("provider".into()).spawn(move || {
        let _promise = promise;
        panic_on_purpose();
    });
    if provider.expect("a thread").join().is_ok() || join(joiner) != Err(Abandoned) {
        fail(
            "join() returned a value that was not provided",
            "what does join() return when it finds no value?",
        );
    }
}

pub fn is_done_only_looks() {
    let (promise, future) = promise();
    let ask = |future: &Future<Value>| {
        expect("is_done()", "is_done() only looks and never waits for a value", || future.is_done())
    };
    if ask(&future) {
        fail("is_done() was true before there was a value", "what would join() return now?");
    }
    promise.complete(value(7).0);
    if !ask(&future) || !ask(&future) {
        fail(
            "is_done() was false though the value was there",
            "is_done() has to leave the value where it is, and to look at the place itself",
        );
    }
    check_value(expect("join()", "is_done() has taken the value: it may only look", || future.join()), 7);
}

pub fn is_done_is_true_for_an_abandoned_future() {
    let (promise, future) = promise::<u32>();
    drop(promise);
    if !expect("is_done()", "is_done() only looks and never waits", || future.is_done()) {
        fail(
            "is_done() was false after the promise was dropped",
            "a thread that polls is_done() before join() would poll for ever: done means decided, not successful",
        );
    }
}

pub fn done_means_that_the_value_is_there() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let provider = provider(promise, seven);
    if future.is_done() {
        step("is_done() was true");
        let too_early = "done is announced before the value is in its place: change both under one lock";
        let waits = waits_so_far();
        let got = expect("join()", too_early, || future.join());
        if waits_so_far() > waits {
            fail("is_done() was true, and then join() had to wait", too_early);
        }
        check_value(got, 7);
    }
    join(provider);
}

pub fn done_once_is_done_for_good() {
    let (promise, future) = promise();
    let provider = provider(promise, value(7).0);
    if future.is_done() {
        step("is_done() was true");
        if !future.is_done() {
            fail(
                "is_done() was true, and later false",
                "the answer depends on something that changes back, such as who has the lock just now: look at the place \
                 itself",
            );
        }
    }
    join(provider);
}

pub fn is_done_loses_no_value_that_comes_meanwhile() {
    let (promise, future) = promise();
    let (seven, _) = value(7);
    let provider = provider(promise, seven);
    future.is_done();
    step("has asked is_done()");
    let cause = "a value that came at that moment is lost: is_done() may only look, and join() must not look for the value and \
                 then for the end of the promise if it lets go of the lock between them";
    let got = expect("join()", cause, || future.join());
    if got.is_err() {
        fail("join() returned Err(Abandoned), and the promise was completed", cause);
    }
    check_value(got, 7);
    join(provider);
}

/// Calls complete() on a new thread.
fn provider(promise: Promise<Value>, value: Value) -> thread::JoinHandle<()> {
    let provide = move || complete(promise, value);
    thread::Builder::new().name("provider".into()).spawn(provide).expect("a thread")
}

pub fn a_value_that_nobody_gets_is_dropped() {
    let (promise, future) = promise();
    let (seven, dropped) = value(7);
    complete(promise, seven);
    drop(future);
    check_dropped(&dropped);
}

pub fn a_promise_works_when_the_future_is_gone() {
    let cause = "a future may be dropped before the value is there. That is allowed, so complete() and the drop of the promise \
                 must work then, too";
    let (kept, future) = promise();
    let (seven, dropped) = value(7);
    drop(future);
    step("has dropped the future");
    at_once("complete()", cause, || kept.complete(seven));
    check_dropped(&dropped);
    let (broken, future) = promise::<u32>();
    drop(future);
    step("has dropped the other future");
    at_once("drop()", cause, || drop(broken));
}

fn check_dropped(dropped: &Counter) {
    let times = dropped.get();
    if times != 1 {
        fail(
            &format!("the value was dropped {times} times"),
            "promise or future is never dropped (mem::forget keeps its Arc alive for ever), or the value is kept somewhere else",
        );
    }
}

pub fn many_futures_know_nothing_of_each_other() {
    const FUTURES: u32 = 900;
    const GETTERS: u32 = 40;
    const ITS_OWN: &str = "a promise and its future share one place, and no other promise or future, on this thread or \
                           another, uses that place";
    if !exercises_harness::first_run!() {
        return;
    }
    let is_done = |future: &Future<u32>, number: u32, done: bool| {
        if future.is_done() != done {
            fail(&format!("future {number} of {FUTURES}: is_done() returned {}", !done), ITS_OWN);
        }
    };
    let (mut promises, futures): (Vec<_>, Vec<_>) = (0..FUTURES).map(|_| promise()).unzip();
    for number in (0..FUTURES).rev() {
        is_done(&futures[number as usize], number, false);
        let promise: Promise<u32> = promises.pop().expect("one for each");
        if number % 3 > 0 {
            promise.complete(number);
        } else {
            drop(promise);
        }
        is_done(&futures[number as usize], number, true);
    }
    for (number, future) in (0..).zip(futures) {
        let expected = if number % 3 > 0 { Ok(number) } else { Err(Abandoned) };
        let got = expect("join()", ITS_OWN, || future.join());
        if got != expected {
            fail(
                &format!("future {number} of {FUTURES}: join() returned {got:?}, and not {expected:?}"),
                ITS_OWN,
            );
        }
    }

    let (promises, futures): (Vec<_>, Vec<_>) = (0..GETTERS).map(|_| promise()).unzip();
    let joiners: Vec<_> = futures.into_iter().map(|future| joiner(future, ITS_OWN)).collect();
    until_asleep(
        GETTERS as usize,
        "join() looks again and again, and keeps a core busy with nothing: wait on a Condvar",
    );
    for (number, promise) in (0..GETTERS).rev().zip(promises.into_iter().rev()) {
        at_once("complete()", ITS_OWN, || promise.complete(number));
    }
    for (number, joiner) in (0..).zip(joiners) {
        let got = expect("join(), while many wait", ITS_OWN, || join(joiner));
        if got != Ok(number) {
            fail(&format!("joiner {number} of {GETTERS}: join() returned {got:?}"), ITS_OWN);
        }
    }
}
