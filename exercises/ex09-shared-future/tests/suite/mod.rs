//! The properties of the shared future; each property is a function. `exercise.toml` lists the properties and
//! says what each of them promises.
#![allow(clippy::drop_non_drop, reason = "whether a promise implements Drop is up to the answer")]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};

use exercises_harness::{at_once, expect, fail, step};

use super::exercise::{Cancelled, Outcome, Promise, SharedFuture, promise};
use crate::probe::{Counter, Shared, until_asleep};
use crate::sync::{Arc, thread};

const NOT_RELEASED: &str = "the outcome is decided, and a waiter is not told: every waiter must be told. A waiter must look, \
     and then wait or leave its waker: both under one lock, so that the outcome cannot be decided in between";

/// An asynchronous task, which polls the future, and polls again when it is woken.
struct Awaiting {
    future: SharedFuture<u32>,
    woken: Arc<Woken>,
}

/// A waker that records that the task must be polled again, as the waker of a runtime does.
struct Woken {
    times: Counter,
    /// Code that the waker runs on the thread that wakes the task, as the waker of a runtime may do.
    also: Shared<Option<Box<dyn FnOnce() + Send>>>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        step("wakes an asynchronous task");
        let also = self.also.with(|also| also.take());
        if let Some(also) = also {
            also();
        }
        self.times.add();
    }
}

impl Awaiting {
    fn new(future: &SharedFuture<u32>) -> Self {
        let times = Counter::new("the waker of an asynchronous task to be woken");
        Self { future: future.clone(), woken: Arc::new(Woken { times, also: Shared::default() }) }
    }

    /// Replaces the waker, as happens when a task moves to another runtime.
    fn moves(&mut self) {
        self.woken = Self::new(&self.future).woken;
    }

    fn poll(&mut self) -> Poll<Outcome<u32>> {
        step("polls");
        let waker = Waker::from(Arc::clone(&self.woken));
        Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker))
    }

    fn poll_in_vain(&mut self) {
        let cause = "it waits for the outcome, and with it the thread of a whole runtime. Leave the waker and say \
                     Poll::Pending";
        if at_once("poll()", cause, || self.poll()).is_ready() {
            fail("poll() was ready before anything was decided", "look at the outcome under its lock");
        }
    }

    /// Waits until the task is woken after an unsuccessful poll, and then polls until the outcome is decided,
    /// as `.await` does.
    fn wait_to_be_woken(self, cause: &str) -> Outcome<u32> {
        expect("waiting for an asynchronous task to be woken", cause, || self.woken.times.wait_for(1));
        self.wait(cause)
    }

    /// Waits as `.await` does.
    fn wait(mut self, cause: &str) -> Outcome<u32> {
        expect("an asynchronous task that awaits the future", cause, || {
            loop {
                let before = self.woken.times.get();
                match self.poll() {
                    Poll::Ready(outcome) => return outcome,
                    Poll::Pending => self.woken.times.wait_for(before + 1),
                }
            }
        })
    }
}

/// Calls join() on a new thread.
fn joiner(name: &str, future: &SharedFuture<u32>) -> thread::JoinHandle<Outcome<u32>> {
    let future = future.clone();
    let joins = move || {
        let outcome = future.join();
        step("join() has returned");
        outcome
    };
    thread::Builder::new().name(name.into()).spawn(joins).expect("a thread")
}

fn awaiter(name: &str, future: &SharedFuture<u32>, cause: &'static str) -> thread::JoinHandle<Outcome<u32>> {
    let awaiting = Awaiting::new(future);
    thread::Builder::new().name(name.into()).spawn(move || awaiting.wait(cause)).expect("a thread")
}

fn join<T>(cause: &str, thread: thread::JoinHandle<T>) -> T {
    expect("waiting for the outcome", cause, || {
        thread.join().unwrap_or_else(|_| fail("a thread of the test panicked", "nothing here ever panics"))
    })
}

fn joined(future: &SharedFuture<u32>, cause: &str) -> Outcome<u32> {
    expect("join()", cause, || future.join())
}

fn check(outcome: &Outcome<u32>, expected: Result<u32, Cancelled>, when: &str, cause: &str) {
    let outcome = outcome.as_ref().map(|value| **value).map_err(|cancelled| *cancelled);
    if outcome != expected {
        fail(&format!("{when}: {outcome:?}, and not {expected:?}"), cause);
    }
}

pub fn everybody_gets_the_same_value() {
    let (promise, future) = promise();
    let threads = ["thread A", "thread B"].map(|name| joiner(name, &future));
    until_asleep(2, "join() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    let task = awaiter("task", &future, NOT_RELEASED);
    promise.complete(7);
    let mut outcomes: Vec<_> = threads.into_iter().map(|thread| join(NOT_RELEASED, thread)).collect();
    outcomes.push(join(NOT_RELEASED, task));
    for outcome in &outcomes {
        check(outcome, Ok(7), "the promise was completed", "every waiter gets the value");
    }
    let values: Vec<_> = outcomes.into_iter().flatten().collect();
    if !values.windows(2).all(|two| Arc::ptr_eq(&two[0], &two[1])) {
        fail(
            "they got different Arcs",
            "the value is put into one Arc, once, and each waiter gets a clone of this Arc",
        );
    }
}

pub fn who_comes_later_gets_the_value_too() {
    let (promise, future) = promise();
    let early = future.clone();
    if !promise.complete(7) {
        fail(
            "complete() returned false, and nothing was decided before",
            "complete() must return true if it decided the outcome",
        );
    }
    let cause = "the first caller has taken the value away: give out clones of the Arc. Or the drop of the promise, at the \
                 end of complete(), has decided anew";
    check(&joined(&future, cause), Ok(7), "the promise was completed before", cause);
    check(&joined(&early, cause), Ok(7), "another waiter has got the value already", cause);
    check(&joined(&future.clone(), cause), Ok(7), "two waiters have got the value already", cause);
    let mut task = Awaiting::new(&future);
    for when in ["three waiters have got the value already", "this very future was ready before"] {
        match expect("poll(), when the value is there,", cause, || task.poll()) {
            Poll::Ready(outcome) => check(&outcome, Ok(7), when, cause),
            Poll::Pending => {
                fail("poll() was pending, and the value is there", "a task that polls now is never woken")
            }
        }
    }
}

pub fn is_done_says_whether_it_is_decided() {
    let cause = "is_done() must return true if the outcome is decided, with a value or without one: join() would return at \
                 once";
    let (kept, future) = promise();
    if future.is_done() {
        fail("is_done() was true before anything was decided", "look at the outcome under its lock");
    }
    kept.complete(7);
    if !future.is_done() {
        fail("the value is there, and is_done() is false", cause);
    }
    let (_promise, future) = promise::<u32>();
    future.cancel();
    if !future.is_done() {
        fail("the future was cancelled, and is_done() is false", cause);
    }
    let (dropped, future) = promise::<u32>();
    drop(dropped);
    if !future.is_done() {
        fail("the promise was dropped, and is_done() is false", cause);
    }
}

pub fn a_promise_may_outlive_the_futures() {
    let (promise, future) = promise();
    step("drops the only future");
    drop(future);
    let cause = "complete() must return true if it decides the outcome, and no thread has decided before. It does not matter \
                 that no thread waits";
    if !expect("complete(), when no future is left,", cause, || promise.complete(7)) {
        fail("no future was left, and complete() returned false", cause);
    }
}

pub fn a_task_is_woken_only_when_it_is_decided() {
    let (promise, future) = promise();
    let mut task = Awaiting::new(&future);
    task.poll_in_vain();
    if task.woken.times.get() > 0 {
        fail(
            "poll() woke the task that polled, and nothing is decided",
            "a task that is woken polls again: it would ask again and again, and keep a core busy. Leave the waker where \
             the thread that decides finds it",
        );
    }
    promise.complete(7);
    check(&task.wait_to_be_woken(NOT_RELEASED), Ok(7), "the task was woken", "it finds the value");
}

pub fn every_task_that_polled_is_woken() {
    let (promise, future) = promise();
    let mut tasks = [Awaiting::new(&future), Awaiting::new(&future)];
    tasks.iter_mut().for_each(Awaiting::poll_in_vain);
    promise.complete(7);
    let cause =
        "two tasks have left a waker each, and only one was woken: no waker must take another one's place";
    for task in tasks {
        check(&task.wait_to_be_woken(cause), Ok(7), "the task was woken", "it finds the value");
    }
}

pub fn a_dropped_future_changes_nothing_for_the_others() {
    let (promise, future) = promise();
    let mut tasks = ["A", "B", "C"].map(|_| Awaiting::new(&future));
    tasks.iter_mut().for_each(Awaiting::poll_in_vain);
    let [a, b, mut c] = tasks;
    step("task A drops its future");
    drop(a);
    if future.is_done() {
        fail(
            "a future was dropped, and is_done() is true",
            "it was one future of many: the owners of the other futures still wait for the value",
        );
    }
    let mut d = Awaiting::new(&future);
    d.poll_in_vain();
    c.moves();
    c.poll_in_vain();
    promise.complete(7);
    let cause = "task A has dropped its future, task D has come, and task C has polled again. Each remaining task has one \
                 waker that counts, and no other future may move it, replace it or take it away";
    for task in [b, c, d] {
        check(&task.wait_to_be_woken(cause), Ok(7), "the task was woken", cause);
    }
    one_of_two_futures_of_a_task_is_dropped();
}

/// Tests a task that first polls two futures with the same waker and then drops one of these futures.
fn one_of_two_futures_of_a_task_is_dropped() {
    let (promise, future) = promise();
    let mut first = Awaiting::new(&future);
    let mut second = Awaiting { future: future.clone(), woken: Arc::clone(&first.woken) };
    first.poll_in_vain();
    second.poll_in_vain();
    drop(first);
    promise.complete(7);
    let cause = "a task has polled two futures with the same waker, and has dropped one of them: the waker that it has left \
                 with the other future must still be woken";
    check(&second.wait_to_be_woken(cause), Ok(7), "the task was woken", cause);
}

pub fn the_waker_of_the_last_poll_counts() {
    let (promise, future) = promise();
    let mut task = Awaiting::new(&future);
    task.poll_in_vain();
    task.moves();
    task.poll_in_vain();
    promise.complete(7);
    let cause = "a task may move to another runtime, and then its old waker does not wake it any more: keep the waker of every \
                 poll, not only of the first";
    check(&task.wait_to_be_woken(cause), Ok(7), "the task was woken", "it finds the value");
}

pub fn what_is_done_can_be_had() {
    let (promise, future) = promise();
    let completer = {
        let complete = move || promise.complete(7);
        thread::Builder::new().name("completer".into()).spawn(complete).expect("a thread")
    };
    let cause = "is_done() is true, and the outcome is not yet in its place. A thread for which is_done() was true must find \
                 the outcome: change the outcome, and everything that is_done() looks at, in one step, under one lock";
    for _ in 0..3 {
        if future.is_done() {
            let mut task = Awaiting::new(&future);
            if expect("poll(), when is_done() was true,", cause, || task.poll()).is_pending() {
                fail("is_done() was true, and then poll() was pending", cause);
            }
        }
    }
    join("complete() waits for something", completer);
}

pub fn no_wake_up_is_lost() {
    let (promise, future) = promise();
    let cause = "the outcome was decided after poll() had looked and before the waker was in its place, so no thread woke the \
                 task: look and leave the waker, both under one lock";
    let task = awaiter("task", &future, cause);
    promise.complete(7);
    check(&join(cause, task), Ok(7), "the promise was completed", "it finds the value");
}

pub fn cancel_releases_everybody() {
    let (promise, future) = promise();
    let thread = joiner("thread", &future);
    until_asleep(1, "join() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    let mut task = Awaiting::new(&future);
    task.poll_in_vain();
    step("cancels");
    if !future.cancel() {
        fail(
            "cancel() returned false, and nothing was decided before",
            "cancel() must return true if it decided the outcome",
        );
    }
    let cause = "the future was cancelled, and a waiter goes on waiting: the thread that decides the outcome must tell \
                 the threads and the tasks";
    check(&join(cause, thread), Err(Cancelled), "the future was cancelled", "there is no value");
    check(&task.wait_to_be_woken(cause), Err(Cancelled), "the future was cancelled", "there is no value");
    if promise.complete(7) {
        fail(
            "complete() returned true after a cancel()",
            "complete() came too late, so it must return false",
        );
    }
}

pub fn a_decided_outcome_stays() {
    let cause = "the outcome was decided before: a thread that decides must first look, under the same lock, whether another \
                 thread has decided it";
    let (kept, future) = promise();
    kept.complete(7);
    if future.cancel() {
        fail("cancel() returned true, and the value was there", cause);
    }
    check(&joined(&future, cause), Ok(7), "the value came, and then a cancel()", cause);
    let (late, future) = promise();
    future.cancel();
    if late.complete(7) {
        fail("complete() returned true, and the future was cancelled", cause);
    }
    check(&joined(&future, cause), Err(Cancelled), "a cancel(), and then the value", cause);
    if future.cancel() {
        fail("the second cancel() returned true", "the first one has decided it");
    }
}

pub fn the_outcome_is_decided_once() {
    let (promise, future) = promise();
    let canceller = {
        let future = future.clone();
        thread::Builder::new().name("canceller".into()).spawn(move || future.cancel()).expect("a thread")
    };
    let first = joiner("thread", &future);
    let completed = promise.complete(7);
    let cancelled = join("cancel() waits for something", canceller);
    if completed == cancelled {
        fail(
            &format!("complete() returned {completed}, and cancel() {cancelled}"),
            "exactly one of the two calls decides. The look whether the outcome is open and the decision must be one step, \
             under one lock",
        );
    }
    let first = join(NOT_RELEASED, first);
    let then = joined(&future, NOT_RELEASED);
    let expected = if completed { Ok(7) } else { Err(Cancelled) };
    let cause = "an outcome that a thread has seen is decided; no thread may put another one in its place";
    check(&first, expected, "a thread that waited meanwhile", cause);
    check(&then, expected, "a call that came later", cause);
}

pub fn a_dropped_promise_cancels() {
    let (promise, future) = promise();
    let thread = joiner("thread", &future);
    let mut task = Awaiting::new(&future);
    task.poll_in_vain();
    step("drops the promise");
    drop(promise);
    let cause =
        "no thread is left that could provide a value: implement Drop for Promise, and tell all waiters";
    check(&join(cause, thread), Err(Cancelled), "the promise was dropped", "there is no value");
    check(&task.wait_to_be_woken(cause), Err(Cancelled), "the promise was dropped", "there is no value");
}

pub fn a_waker_may_use_the_future() {
    type Decides = fn(Promise<u32>, &SharedFuture<u32>);
    let ways: [(&str, Decides); 3] = [
        ("complete()", |promise, _| _ = promise.complete(7)),
        ("cancel()", |_promise, future| _ = future.cancel()),
        ("the drop of the promise", |promise, _| drop(promise)),
    ];
    for (what, decides) in ways {
        a_waker_uses_the_future(what, decides);
    }
}

fn a_waker_uses_the_future(what: &str, decides: fn(Promise<u32>, &SharedFuture<u32>)) {
    let (promise, future) = promise();
    let mut task = Awaiting::new(&future);
    let asks = {
        let future = future.clone();
        move || {
            step("the waker asks whether it is done");
            if !future.is_done() {
                fail("a waker was woken, and is_done() is false", "first decide, then wake");
            }
        }
    };
    task.woken.also.with(|also| *also = Some(Box::new(asks)));
    task.poll_in_vain();
    let cause = "wake() runs code of the runtime, and was called under a lock that this code needs";
    expect(what, cause, || decides(promise, &future));
}

pub fn many_tasks_are_woken() {
    const MANY: usize = 300;
    let (promise, future) = promise();
    let mut tasks: Vec<_> = (0..MANY).map(|_| Awaiting::new(&future)).collect();
    tasks.iter_mut().for_each(Awaiting::poll_in_vain);
    tasks.iter_mut().step_by(2).for_each(|task| {
        task.moves();
        task.poll_in_vain();
    });
    promise.complete(0);
    let asleep = tasks.iter().filter(|task| task.woken.times.get() == 0).count();
    if asleep > 0 {
        fail(
            &format!("{MANY} tasks polled in vain, then the value came, and {asleep} of them were not woken"),
            "the thread that decides the outcome wakes each task that has left a waker, however many there are",
        );
    }
    for task in tasks {
        check(&task.wait(NOT_RELEASED), Ok(0), "one of many tasks was woken", "it finds the value");
    }
}
