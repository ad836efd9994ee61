//! The properties of the queue; each property is a function. `exercise.toml` lists the properties and says
//! what each one promises.

use exercises_harness::{aside, at_once, expect, fail, step};

use super::exercise::{Consumer, Producer, queue};
use crate::probe::{Counter, Shared, others_come_to_rest, until_asleep, until_others_wait};
use crate::sync::{Arc, thread};

const SPINS: &str = "a thread asks again and again and does not sleep: wait on a condition variable, and notify it of the change";
const SLEEPS_ON: &str = "does each thread notify the threads that wait for its change, and all of them if the change concerns all?";

fn put<T>(producer: &Producer<T>, item: T) {
    if expect("put()", "there is room", || producer.put(item)).is_err() {
        fail("put() gave the item back", "a consumer is still there");
    }
}

fn take(consumer: &mut Consumer<u32>, what: &str) -> Option<u32> {
    expect(what, SLEEPS_ON, || consumer.take())
}

/// Starts a thread that takes items until the end of the queue, and records the items.
fn consume(mut consumer: Consumer<u32>, taken: &Arc<Shared<Vec<u32>>>) -> thread::JoinHandle<()> {
    let taken = Arc::clone(taken);
    thread::spawn(move || {
        while let Some(item) = consumer.take() {
            taken.with(|taken| taken.push(item));
        }
        step("a consumer has ended");
    })
}

fn join_all(threads: Vec<thread::JoinHandle<()>>, what: &str) {
    expect(what, SLEEPS_ON, || {
        for thread in threads {
            let _ = thread.join();
        }
    });
}

pub fn items_come_in_the_order_in_which_they_were_put() {
    let (producer, mut consumers) = queue(10, 1);
    for item in 1..=3 {
        put(&producer, item);
    }
    let taken: Vec<_> = (0..3).filter_map(|_| take(&mut consumers[0], "take()")).collect();
    if taken != [1, 2, 3] {
        fail(&format!("1, 2, 3 were put, and {taken:?} were taken"), "a queue is first in, first out");
    }
    aside(|| drop(producer));
}

pub fn a_consumer_sleeps_until_an_item_comes() {
    let (producer, mut consumers) = queue(10, 1);
    let taken = Arc::new(Shared::<Vec<Option<u32>>>::default());
    let noted = Arc::clone(&taken);
    let consumer = thread::spawn(move || {
        let item = consumers[0].take();
        noted.with(|taken| taken.push(item));
    });
    until_others_wait("a consumer that finds the queue empty should sleep, and it does not", SPINS);
    if !taken.with(|taken| taken.is_empty()) {
        let cause = "None means that nothing more will come, but a producer is still there: an empty queue is not the end";
        fail("take() found the queue empty, and returned None", cause);
    }
    step("puts 7");
    put(&producer, 7);
    join_all(vec![consumer], "take() of a consumer that slept when the item came");
    aside(|| drop(producer));
}

pub fn a_producer_waits_for_room() {
    let (producer, mut consumers) = queue(1, 1);
    let done = Arc::new(Counter::new("a put() to return"));
    let start = |item: u32| {
        let (producer, done) = (producer.clone(), Arc::clone(&done));
        thread::spawn(move || {
            if producer.put(item).is_ok() {
                done.add();
            }
        })
    };
    let check = |at_most: usize| {
        until_others_wait("a producer that finds no room should sleep, and it does not", SPINS);
        let returned = done.get();
        if returned > at_most {
            fail(
                &format!("{} items are in a queue with room for one", returned - at_most + 1),
                "a producer must wait while the queue is full, and check again after it was woken: another thread may have been faster",
            );
        }
    };
    put(&producer, 1);
    let second = start(2);
    check(0);
    take(&mut consumers[0], "take()");
    let third = start(3);
    check(1);
    take(&mut consumers[0], "take() of an item that a producer put after it had waited");
    join_all(vec![second, third], "put() of a producer that waits for room, while there is room");
    aside(|| drop(producer));
}

pub fn two_places_let_two_producers_in() {
    let (producer, mut consumers) = queue(2, 1);
    put(&producer, 1);
    put(&producer, 2);
    let done = Arc::new(Counter::new("both put() to return"));
    let producers = [3, 4].map(|item| {
        let (producer, done) = (producer.clone(), Arc::clone(&done));
        thread::spawn(move || {
            let _ = producer.put(item);
            done.add();
        })
    });
    until_others_wait("a producer that finds no room should sleep, and it does not", SPINS);
    take(&mut consumers[0], "take()");
    take(&mut consumers[0], "take()");
    let cause = "each item that is taken makes room for one: notify a producer each time, even if the queue was not full any more, \
                 because the producer that was notified first may not have run yet";
    if others_come_to_rest() && done.get() < 2 {
        let seen = format!(
            "two items were taken while two producers waited for room, and {} of the producers put their items",
            done.get()
        );
        fail(&seen, cause);
    }
    expect("put() of two producers, for which there is room now,", cause, || {
        for producer in producers {
            let _ = producer.join();
        }
    });
    aside(|| drop(producer));
}

pub fn what_was_put_before_the_end_is_taken() {
    let (producer, mut consumers) = queue(10, 1);
    for item in 1..=3 {
        put(&producer, item);
    }
    drop(producer);
    for item in 1..=3 {
        if take(&mut consumers[0], "take()") != Some(item) {
            fail(
                &format!("take() returned None, and {item} is left in the queue"),
                "the end comes after all items that were put before it: look for items first",
            );
        }
    }
}

pub fn every_consumer_learns_of_the_end() {
    // The consumers call take() after the last producer has ended.
    let (producer, mut consumers) = queue(10, 3);
    drop(producer);
    for consumer in &mut consumers {
        let what = "all three consumers to end, which call take() after the last producer's end";
        if take(consumer, what).is_some() {
            fail("take() returned an item", "no producer has put an item");
        }
    }
    // The consumers sleep in take() when the last producer ends.
    let (producer, consumers) = queue(10, 3);
    let consumers = consumers.into_iter().map(|consumer| consume(consumer, &Arc::default())).collect();
    until_asleep(3, SPINS);
    step("the last producer ends");
    drop(producer);
    join_all(consumers, "all three consumers to end, which slept at the last producer's end");
}

pub fn the_end_waits_for_the_last_producer() {
    let (producer, mut consumers) = queue(10, 1);
    let second = producer.clone();
    step("one of two producers ends");
    drop(producer);
    put(&second, 1);
    if take(&mut consumers[0], "take()") != Some(1) {
        fail(
            "take() returned None, but a producer is still there, and its item is in the queue",
            "the queue ends with its last producer: count all producers, even clones, and do not end the queue before the count is 0",
        );
    }
    drop(second);
    if take(&mut consumers[0], "take() after the last producer's end").is_some() {
        fail("take() returned another item", "no producer has put another item");
    }
}

pub fn a_consumer_that_has_ended_stays_so() {
    let (producer, mut consumers) = queue(10, 2);
    drop(producer);
    let mut second = consumers.pop().expect("two");
    for what in ["take()", "take() of a consumer that has ended and is asked again"] {
        if take(&mut consumers[0], what).is_some() {
            fail("take() returned an item", "no producer has put an item");
        }
    }
    take(&mut second, "take() of the other consumer, when the first one was asked again");
}

pub fn without_consumers_nothing_is_accepted() {
    for number in [2, 0] {
        let (producer, consumers) = queue(10, number);
        drop(consumers);
        if expect("put()", "no consumer is left to wait for", || producer.put(7)) != Err(7) {
            fail(
                &format!("of {number} consumers none is left, and put() returned Ok"),
                "no consumer is left that will take it: give the item back",
            );
        }
    }
}

pub fn a_producer_that_waits_is_let_go_when_the_consumers_die() {
    let (producer, consumers) = queue(1, 2);
    put(&producer, 1);
    let results = Arc::new(Shared::<Vec<Result<(), u32>>>::default());
    let waiting: Vec<_> = [2, 3]
        .into_iter()
        .map(|item| {
            let (producer, results) = (producer.clone(), Arc::clone(&results));
            thread::spawn(move || {
                let result = producer.put(item);
                results.with(|results| results.push(result));
            })
        })
        .collect();
    until_others_wait("a producer that finds no room should sleep, and it does not", SPINS);
    step("all consumers die");
    drop(consumers);
    join_all(waiting, "put() of two producers that wait for room that no consumer will make");
    if results.with(|results| results.iter().any(Result::is_ok)) {
        fail("put() returned Ok", "no consumer is left that will take it: give the item back");
    }
}

pub fn a_consumer_that_dies_holds_nobody_up() {
    let (producer, mut consumers) = queue(10, 2);
    let dying = consumers.pop().expect("two");
    let taken = Arc::new(Shared::default());
    let other = consume(consumers.pop().expect("two"), &taken);
    until_others_wait("a consumer that finds the queue empty should sleep, and it does not", SPINS);
    let cause = "a sleeping consumer holds a lock that others need: a wait releases only the lock whose guard it is given";
    expect("dropping a consumer while the other one sleeps", cause, || drop(dying));
    put(&producer, 1);
    drop(producer);
    join_all(vec![other], "the other consumer to take what there is, and to end");
    if taken.with(|taken| taken.clone()) != [1] {
        fail(
            "one of two consumers was dropped, and the other one did not take the item",
            "the consumers that are left must take all items",
        );
    }
}

pub fn a_producer_ends_without_waiting_for_room() {
    let (producer, consumers) = queue(1, 2);
    put(&producer, 1);
    let cause = "the bound is only for items. A producer that ends must not wait for busy consumers";
    at_once("dropping the last producer of a full queue, which waits for room", cause, || drop(producer));
    aside(|| drop(consumers));
}

/// Runs two producers with two items each, and two consumers, and returns the items that were taken.
fn many(capacity: usize) -> Vec<u32> {
    let (producer, consumers) = queue(capacity, 2);
    let taken = Arc::new(Shared::default());
    let mut threads: Vec<_> = consumers.into_iter().map(|consumer| consume(consumer, &taken)).collect();
    for number in [10, 20] {
        let producer = producer.clone();
        threads.push(thread::spawn(move || {
            for item in [number, number + 1] {
                let _ = producer.put(item);
            }
        }));
    }
    drop(producer);
    join_all(threads, "two producers and two consumers to come to their end");
    let mut taken = taken.with(|taken| taken.clone());
    taken.sort_unstable();
    taken
}

pub fn each_item_is_taken_once() {
    let taken = many(10);
    if taken != [10, 11, 20, 21] {
        fail(
            &format!("10, 11, 20 and 21 were put, and these were taken: {taken:?}"),
            "each item must come out once: look at an item and remove it under the same lock, and drop no item",
        );
    }
}

pub fn many_come_to_their_end() {
    let taken = many(1);
    if taken != [10, 11, 20, 21] {
        fail(
            &format!("10, 11, 20 and 21 were put, and these were taken: {taken:?}"),
            "no consumer was dropped early, so no item may be lost",
        );
    }
}

pub fn many_items_producers_and_consumers() {
    const MANY: usize = 260;
    let no_bound = "the capacity may be usize::MAX. The capacity is only a bound: ask for no memory for items that may never come, and \
                    add nothing to the capacity";
    let (producer, mut consumers) = expect("queue()", no_bound, || queue(usize::MAX, MANY));
    let puts = |producer: &Producer<usize>, item: usize| {
        if expect("put()", no_bound, || producer.put(item)).is_err() {
            fail("put() gave the item back", "a consumer is still there");
        }
    };
    // All producers except one end when half of the items have been put.
    let others = vec![producer.clone(); MANY];
    (0..MANY).for_each(|item| puts(&others[item], item));
    drop(others);
    (MANY..2 * MANY).for_each(|item| puts(&producer, item));
    drop(producer);
    for item in 0..2 * MANY {
        let taken = expect("take()", SLEEPS_ON, || consumers[item % MANY].take());
        if taken != Some(item) {
            fail(
                &format!(
                    "{MANY} producers put an item each, and ended; then the last producer put {MANY} items. After {item} items, take() \
                     returned {taken:?}"
                ),
                "however many items there are, they come first in, first out, and the end comes after all of them. Does the number of \
                 producers fit into what you count them in?",
            );
        }
    }
    for consumer in &mut consumers {
        if expect("take() of each of many consumers, at the end,", SLEEPS_ON, || consumer.take()).is_some() {
            fail("take() returned an item", "all items have been taken already");
        }
    }
    // The queue also works with items of a zero-sized type.
    let (producer, mut consumers) = queue(MANY, 1);
    (0..MANY).for_each(|_| put(&producer, ()));
    drop(producer);
    let taken = expect("take()", SLEEPS_ON, || std::iter::from_fn(|| consumers[0].take()).count());
    if taken != MANY {
        fail(
            &format!("{MANY} items without a size were put, and {taken} were taken"),
            "an item counts, whatever its size",
        );
    }
}
