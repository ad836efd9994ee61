//! The properties of the slot and of the flags, each a function. `exercise.toml` lists them and says what each promises.
//!
//! That two threads are in plain memory at the same time is seen by the model, wherever it happens. So the properties only
//! bring threads together. They are small, since the model tries all that they can do.

use exercises_harness::{fail, step};

use super::exercise::{Slot, TwoFlags};
use crate::sync::{Arc, thread};

/// Starts a thread with a name that can be told.
fn start<R: Send + 'static>(name: &str, work: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

fn join<R>(handle: thread::JoinHandle<R>) -> R {
    handle.join().unwrap_or_else(|_| fail("a thread of the test panicked", "no call of the exercise panics"))
}

/// A slot with this value in it.
fn full(value: u32) -> Arc<Slot<u32>> {
    let slot = Slot::new();
    put(&slot, value);
    Arc::new(slot)
}

/// Puts a value into a slot that is empty, and that nobody else is busy with.
fn put(slot: &Slot<u32>, value: u32) {
    if slot.put(value).is_err() {
        fail(
            &format!("put({value}) gave its value back, and the slot was empty"),
            "in a new slot, and after take(), there is room: take() has to say that the value is out",
        );
    }
}

fn expect_taken(taken: Option<u32>, put: u32) {
    if taken != Some(put) {
        fail(
            &format!("take() returned {taken:?}, and {put} was in the slot"),
            "put() has to say that the value is there, and take() to take it out",
        );
    }
}

fn expect_empty(slot: &Slot<u32>) {
    if let Some(value) = slot.take() {
        fail(
            &format!("take() returned {value}, and nothing was in the slot"),
            "each value is taken once: take() leaves nothing behind, and says so",
        );
    }
}

pub fn what_is_put_is_taken_once() {
    let slot = Slot::new();
    expect_empty(&slot);
    for value in [7, 8] {
        put(&slot, value);
        expect_taken(slot.take(), value);
        expect_empty(&slot);
    }
}

pub fn a_full_slot_keeps_its_value() {
    let slot = full(7);
    match slot.put(8) {
        Err(8) => {}
        Err(other) => {
            fail(&format!("put(8) gave back {other}"), "a value that has no room goes back to its owner")
        }
        Ok(()) => fail(
            "put(8) said Ok, and 7 was in the slot",
            "look whether there is a value before you put one in",
        ),
    }
    expect_taken(slot.take(), 7);
}

pub fn the_taker_sees_what_was_put() {
    let slot = Arc::new(Slot::new());
    let putter = {
        let slot = Arc::clone(&slot);
        start("putter", move || put(&slot, 7))
    };
    if let Some(value) = slot.take() {
        step("has taken a value");
        expect_taken(Some(value), 7);
    }
    join(putter);
}

pub fn one_of_two_takers_gets_it() {
    let slot = full(7);
    let other = {
        let slot = Arc::clone(&slot);
        start("taker", move || slot.take())
    };
    let taken = [slot.take(), join(other)];
    if taken.iter().flatten().count() != 1 {
        fail(
            &format!("two threads took {taken:?}, and 7 was in the slot"),
            "one of the two gets it, and one only",
        );
    }
}

pub fn one_of_two_putters_gets_in() {
    let slot = Arc::new(Slot::new());
    let other = {
        let slot = Arc::clone(&slot);
        start("putter", move || slot.put(8))
    };
    let put = [slot.put(7), join(other)];
    let expected = match put {
        [Ok(()), Err(8)] => 7,
        [Err(7), Ok(())] => 8,
        _ => fail(
            &format!("put(7) and put(8) returned {put:?}"),
            "there is room for one of the two, and for one only",
        ),
    };
    expect_taken(slot.take(), expected);
}

pub fn the_next_value_comes_when_the_last_is_out() {
    let slot = full(7);
    let taker = {
        let slot = Arc::clone(&slot);
        start("taker", move || expect_taken(slot.take(), 7))
    };
    let put = slot.put(8);
    join(taker);
    if put.is_ok() {
        expect_taken(slot.take(), 8);
    }
}

pub fn one_of_two_flags_is_seen() {
    let flags = Arc::new(TwoFlags::new());
    let other = {
        let flags = Arc::clone(&flags);
        start("thread 1", move || flags.raise_and_look(1))
    };
    if !flags.raise_and_look(0) && !join(other) {
        fail(
            "both threads raised their flag, and neither saw the other's",
            "each thread has to raise its flag before it looks, and that must be so for the other thread, too. Release and \
             Acquire order what comes before a store and after a load that sees it; a store and a later load of another \
             atomic they leave as they like. SeqCst on all four, or a fence(SeqCst) between the two, does not",
        );
    }
}
