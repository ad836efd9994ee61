//! The properties of the slot and of the flags; each property is a function. `exercise.toml` lists the
//! properties and says what each of them promises.
//!
//! The model itself reports every case in which two threads use plain memory at the same time. So a property
//! only has to make several threads use the slot or the flags at the same time. The properties are small,
//! because the model tries every possible run.

use exercises_harness::{expect, fail};

use super::exercise::{Slot, TwoFlags};
use crate::sync::{Arc, thread};

const NO_END: &str = "put() and take() never wait for long. A loop that waits for another thread must call \
                      crate::sync::hint::spin_loop() each time: without this call the other thread never runs under the \
                      model";

fn offer(slot: &Slot<u32>, value: u32) -> Result<(), u32> {
    expect("put()", NO_END, || slot.put(value))
}

fn take(slot: &Slot<u32>) -> Option<u32> {
    expect("take()", NO_END, || slot.take())
}

/// Starts a thread with a name, which appears in messages.
fn start<R: Send + 'static>(name: &str, work: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

fn join<R>(handle: thread::JoinHandle<R>) -> R {
    handle.join().unwrap_or_else(|_| fail("a thread of the test panicked", "no call of the exercise panics"))
}

/// Makes a slot with the given value in it.
fn full(value: u32) -> Arc<Slot<u32>> {
    let slot = Slot::new();
    put(&slot, value);
    Arc::new(slot)
}

/// Puts a value into a slot that is empty and not in use by any other thread.
fn put(slot: &Slot<u32>, value: u32) {
    if offer(slot, value).is_err() {
        fail(
            &format!("put({value}) gave its value back, though the slot was empty"),
            "in a new slot, and after take(), there is room: take() has to say that the value is out, and a call that is not \
             let in must leave the state as it is",
        );
    }
}

fn expect_taken(taken: Option<u32>, put: u32) {
    if taken != Some(put) {
        fail(
            &format!("take() returned {taken:?}, though {put} was in the slot"),
            "put() has to say that the value is there, and take() has to take it out",
        );
    }
}

fn expect_empty(slot: &Slot<u32>) {
    if let Some(value) = take(slot) {
        fail(
            &format!("take() returned {value}, though nothing was in the slot"),
            "each value is taken once: take() leaves no value behind, and has to say that the slot is empty",
        );
    }
}

pub fn what_is_put_is_taken_once() {
    let slot = Slot::new();
    expect_empty(&slot);
    for value in [7, 8] {
        put(&slot, value);
        expect_taken(take(&slot), value);
        expect_empty(&slot);
    }
}

pub fn a_full_slot_keeps_its_value() {
    let slot = full(7);
    match offer(&slot, 8) {
        Err(8) => {}
        Err(other) => {
            fail(&format!("put(8) gave back {other}"), "put() has to give back the value that it was given")
        }
        Ok(()) => fail(
            "put(8) returned Ok, though 7 was in the slot",
            "look whether there is a value before you put one in",
        ),
    }
    expect_taken(take(&slot), 7);
}

pub fn the_taker_sees_what_was_put() {
    let slot = Arc::new(Slot::new());
    let putter = {
        let slot = Arc::clone(&slot);
        start("putter", move || offer(&slot, 7))
    };
    let taken = take(&slot);
    match (taken, join(putter)) {
        (Some(7), Ok(())) | (None, Err(7)) => expect_empty(&slot), // Err: the taker was busy
        (None, Ok(())) => expect_taken(take(&slot), 7),
        (_, put) => fail(
            &format!("take() returned {taken:?}, and put(7) {put:?}"),
            "put() has to say that the value is there, and take() has to take it out",
        ),
    }
}

pub fn one_of_two_takers_gets_it() {
    let slot = full(7);
    let other = {
        let slot = Arc::clone(&slot);
        start("taker", move || take(&slot))
    };
    let taken = [take(&slot), join(other)];
    if taken.iter().flatten().count() != 1 {
        fail(
            &format!("two threads took {taken:?}, and 7 was in the slot"),
            "exactly one of the two threads gets the value",
        );
    }
    put(&slot, 8); // neither of them is busy any more
    expect_taken(take(&slot), 8);
}

pub fn one_of_two_putters_gets_in() {
    let slot = Arc::new(Slot::new());
    let other = {
        let slot = Arc::clone(&slot);
        start("putter", move || offer(&slot, 8))
    };
    let put = [offer(&slot, 7), join(other)];
    let expected = match put {
        [Ok(()), Err(8)] => 7,
        [Err(7), Ok(())] => 8,
        _ => fail(
            &format!("put(7) and put(8) returned {put:?}"),
            "there is room for exactly one of the two values",
        ),
    };
    expect_taken(take(&slot), expected);
}

pub fn the_next_value_comes_when_the_last_is_out() {
    let slot = full(7);
    let taker = {
        let slot = Arc::clone(&slot);
        start("taker", move || take(&slot))
    };
    let early = offer(&slot, 8);
    let taken = join(taker);
    let left = match (taken, early) {
        (Some(7), Ok(())) => 8,
        (Some(7), Err(8)) => {
            put(&slot, 8); // the taker is not busy any more
            8
        }
        (None, Err(8)) => 7, // each of the two was busy when the other one came
        _ => fail(
            &format!("7 was in the slot; take() returned {taken:?}, and put(8) {early:?}"),
            "put() has to say that the value is there, and take() has to say that it is out",
        ),
    };
    expect_taken(take(&slot), left);
}

pub fn many_values_go_through_one_slot() {
    const MANY: u32 = 66; // the model of memory keeps all steps of a run, and has room for about a thousand
    let cause = "a slot must work for any number of values. If it counts them, that number has an end: say what comes then";
    let slot = Slot::new();
    for value in 0..MANY {
        let went = expect("put() and take()", cause, || (slot.put(value), slot.take()));
        if went != (Ok(()), Some(value)) {
            fail(
                &format!("{value} values had gone through the slot; then put() and take() returned {went:?}"),
                cause,
            );
        }
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
            "each thread has to raise its flag before it looks, and the other thread has to see these two steps in the \
             same order. Release and Acquire do not keep a store before a later load of another atomic. SeqCst on all \
             four operations does, and so does a fence(SeqCst) between the store and the load",
        );
    }
}
