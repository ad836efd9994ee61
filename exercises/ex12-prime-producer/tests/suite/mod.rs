//! The properties of the generator, the queue and the producer; each property is a function. `exercise.toml`
//! lists the properties and says what each of them promises.

use exercises_harness::{at_once, expect, fail, step};

use super::exercise::{PrimeGenerator, PrimeProducer, Queue};
use crate::probe::{Counter, Shared, until_asleep, until_others_wait};
use crate::sync::{Arc, thread};

mod calls;

use calls::{
    ASKS_ONLY, Computation, Computing, NOT_REACHED, NOT_WOKEN, PRIMES, cancel, given_back, join, nothing,
    put, put_or, start, take, take_the_rest, two_that_meet, two_that_wait,
};

fn generate(generator: &PrimeGenerator, computation: &Arc<Computation>) {
    const CAUSE: &str =
        "run() takes one prime after the other and checks the flag; it waits for no other thread";
    expect("run() of the generator", CAUSE, || generator.run(Computing(Arc::clone(computation))));
}

fn found(generator: &PrimeGenerator) -> Vec<u64> {
    const CAUSE: &str = "found() copies what is there; it does not wait for the end of run()";
    at_once("found()", CAUSE, || generator.found())
}

pub fn the_generator_keeps_what_it_finds() {
    let generator = PrimeGenerator::new();
    generate(&generator, &Computation::of(4, 0));
    for time in ["first", "second"] {
        let found = found(&generator);
        if found != PRIMES[..4] {
            fail(
                &format!("run() was given the primes 2, 3, 5 and 7; the {time} found() returned {found:?}"),
                "run() keeps each prime, in the order in which they come, and found() returns a copy",
            );
        }
    }
    expect("run() of the generator", "run() keeps every number that it gets", || {
        generator.run([0, u64::MAX, 2].into_iter())
    });
    let found = found(&generator);
    if found != [2, 3, 5, 7, 0, u64::MAX, 2] {
        fail(
            &format!(
                "the first run() found 2, 3, 5 and 7, and the second was given 0, u64::MAX and 2; found() returned {found:?}"
            ),
            "a second run() goes on where the first has ended, and what a number means is not run()'s affair",
        );
    }
}

/// A generator that has found 2 and 3, and is computing 5 on its own thread.
fn in_the_middle() -> (Arc<PrimeGenerator>, Arc<Computation>, thread::JoinHandle<()>) {
    let (generator, computation) = (Arc::new(PrimeGenerator::new()), Computation::of(6, 3));
    let running = {
        let (generator, computation) = (Arc::clone(&generator), Arc::clone(&computation));
        start("generator", move || generate(&generator, &computation))
    };
    let cause =
        "run() did not ask for the third prime: does run() check the flag, and go on while it is not set?";
    expect("waiting for the generator to ask for three primes", cause, || computation.asked.wait_for(3));
    (generator, computation, running)
}

fn the_computation_ends(computation: &Computation, running: thread::JoinHandle<()>) {
    step("lets the computation of prime 5 end");
    computation.gate.add();
    join("waiting for run() to end", "run() does not check whether it is cancelled", running);
}

pub fn nobody_waits_for_the_computation() {
    let (generator, computation, running) = in_the_middle();
    let found = found(&generator);
    if found != [2, 3] {
        fail(
            &format!("2 and 3 were found and 5 is being computed; found() returned {found:?}"),
            "found() shows what there is so far: keep each prime before you ask for the next",
        );
    }
    at_once("cancel() of the generator", ASKS_ONLY, || generator.cancel());
    the_computation_ends(&computation, running);
}

pub fn a_cancelled_generator_ends_after_one_more_prime() {
    let (generator, computation, running) = in_the_middle();
    expect("cancel() of the generator", ASKS_ONLY, || generator.cancel());
    the_computation_ends(&computation, running);
    let asked = computation.asked.get();
    if asked > 3 {
        fail(
            &format!(
                "cancel() came while the third prime was computed, and run() asked for {} more",
                asked - 3
            ),
            "a flag helps only if it is looked at: between any two primes, not only at the start and not only now and then",
        );
    }
    let found = found(&generator);
    if found != [2, 3] && found != [2, 3, 5] {
        fail(
            &format!("2 and 3 were found before cancel(); then found() returned {found:?}"),
            "a cancel ends the search. What was found stays",
        );
    }
}

pub fn a_generator_stays_cancelled() {
    let generator = PrimeGenerator::new();
    expect("cancel() of the generator", ASKS_ONLY, || generator.cancel());
    for time in ["first", "second"] {
        generate(&generator, &Computation::of(3, 0));
        let found = found(&generator);
        if !found.is_empty() {
            fail(
                &format!("cancel() came before run(), and the {time} run() found {found:?}"),
                "a request is not lost if it comes early, and not used up when it is seen: a run() that begins after the \
                 request keeps no prime, and no run() clears it",
            );
        }
    }
}

pub fn items_come_out_in_their_order() {
    let queue = Queue::new(3);
    for item in 1..=3 {
        put(&queue, item);
    }
    for item in 1..=3 {
        take(&queue, item);
    }
}

const PUT_BACK: &str = "put() came back, though the queue was full";
const TAKE_BACK: &str = "take() came back, though the queue was empty and no thread had cancelled";

pub fn a_full_queue_makes_put_wait() {
    let queue = Arc::new(Queue::new(2));
    put(&queue, 1);
    put(&queue, 2);
    let putters = two_that_meet("putter", &queue, PUT_BACK, put);
    take(&queue, 1);
    take(&queue, 2);
    putters.into_iter().for_each(|putter| join("put(), for which there is room now,", NOT_WOKEN, putter));
}

pub fn an_empty_queue_makes_take_wait() {
    let queue = Arc::new(Queue::new(2));
    let takers = two_that_meet("taker", &queue, TAKE_BACK, |queue, _| queue.take());
    put(&queue, 1);
    put(&queue, 2);
    let taken = takers.map(|taker| join("take(), for which there is an item now,", NOT_WOKEN, taker));
    if !matches!(taken, [Some(1), Some(2)] | [Some(2), Some(1)]) {
        fail(
            &format!("items 1 and 2 were put; the two takers got {taken:?}"),
            "a taker that wakes up and finds no item has come too late: it waits again, in a `while`, not in an `if`",
        );
    }
}

pub fn nobody_sleeps_beside_room_or_an_item() {
    let queue = Arc::new(Queue::new(1));
    let takers = two_that_wait("taker", &queue, TAKE_BACK, |queue, _| queue.take());
    let cause = "the thread that was woken had no use for it. If putters and takers wait on one Condvar, notify_one() may \
                 wake a taker when there is room: the taker sleeps again, and the putter was not woken. Give each kind a \
                 Condvar of its own, or wake all threads";
    put_or(cause, &queue, 1);
    put_or(cause, &queue, 2);
    for taker in takers {
        join("take(), for which there is an item now,", cause, taker);
    }
    who_comes_too_late_is_woken_the_next_time();
}

/// Tests two threads that make the same call. A thread may be woken for an item or a free place, and then
/// find that the other thread was faster. The test's own thread never waits in the queue, because such a wait
/// can hide a mistake.
fn who_comes_too_late_is_woken_the_next_time() {
    let cause = "a thread was woken, found that another thread had been faster, and waits again: the next item or the \
                 next room has to wake it, too. If you count the waiting threads, count a thread each time that it begins \
                 to wait";
    let two = |name: &str, call: Arc<dyn Fn() + Send + Sync>| {
        [(); 2].map(|()| {
            let call = Arc::clone(&call);
            start(name, move || call())
        })
    };
    let queue = Arc::new(Queue::new(2));
    let of_takers = Arc::clone(&queue);
    let takers = two("taker", Arc::new(move || _ = of_takers.take()));
    put_or(cause, &queue, 1);
    put_or(cause, &queue, 2);
    takers.into_iter().for_each(|taker| join("take(), for which there is an item now,", cause, taker));

    let (queue, done) = (Arc::new(Queue::new(1)), Arc::new(Counter::new("a put() to end")));
    put(&queue, 1);
    let (of_putters, ends) = (Arc::clone(&queue), Arc::clone(&done));
    let call = move || {
        if of_putters.put(2).is_ok() {
            ends.add();
        }
    };
    let putters = two("putter", Arc::new(call));
    for put in 0..2 {
        expect("put(), for which there is room now,", cause, || done.wait_for(put));
        expect("take(), for which there is an item,", cause, || queue.take());
    }
    putters.into_iter().for_each(|putter| join("put(), for which there is room now,", cause, putter));
}

pub fn cancel_ends_every_put_that_waits() {
    let queue = Arc::new(Queue::new(1));
    put(&queue, 1);
    let putters = two_that_wait("putter", &queue, PUT_BACK, |queue, item| (item, queue.put(item)));
    step("cancels the queue");
    cancel(&queue);
    for putter in putters {
        let (item, result) = join("put(), which waits for room,", NOT_REACHED, putter);
        given_back(item, result, "the queue was full when it was cancelled");
    }
}

pub fn cancel_ends_every_take_that_waits() {
    let queue = Arc::new(Queue::new(1));
    let takers = two_that_wait("taker", &queue, TAKE_BACK, |queue, _| queue.take());
    step("cancels the queue");
    cancel(&queue);
    for taker in takers {
        nothing(join("take(), which waits for an item,", NOT_REACHED, taker), "nothing was put");
    }
}

pub fn cancel_reaches_the_others_when_one_was_woken() {
    let queue = Arc::new(Queue::new(1));
    put(&queue, 1);
    let putters = two_that_meet("putter", &queue, PUT_BACK, |queue, item| (item, queue.put(item)));
    take(&queue, 1);
    step("cancels the queue, into which one may put");
    cancel(&queue);
    for putter in putters {
        let (item, result) = join("put(), while one putter was woken,", NOT_REACHED, putter);
        if result.is_err() {
            given_back(item, result, "");
        }
    }
    let queue = Arc::new(Queue::new(1));
    let takers = two_that_meet("taker", &queue, TAKE_BACK, |queue, _| queue.take());
    put(&queue, 1);
    step("cancels the queue, from which one may take");
    cancel(&queue);
    for taker in takers {
        let taken = join("take(), while one taker was woken,", NOT_REACHED, taker);
        nothing(taken.filter(|item| *item != 1), "item 1 was put");
    }
}

pub fn cancel_reaches_who_is_about_to_wait() {
    let (full, empty) = (Arc::new(Queue::new(1)), Arc::new(Queue::new(1)));
    put(&full, 1);
    let [putting, taking] = [&full, &empty].map(Arc::clone);
    let putter = start("putter", move || putting.put(2));
    let taker = start("taker", move || taking.take());
    let cause = "the cancel came between the check of the flag and the wait, and no thread will notify again. Set the \
                 flag under the lock that a waiter holds from its check to its wait";
    cancel(&full);
    cancel(&empty);
    given_back(
        2,
        join("put(), which found the queue full,", cause, putter),
        "the queue was full when it was cancelled",
    );
    nothing(join("take(), which found the queue empty,", cause, taker), "nothing was put");
}

pub fn after_cancel_nothing_is_put() {
    let queue = Queue::new(2);
    for item in 1..=2 {
        cancel(&queue);
        let result = at_once("put() after cancel()", NOT_REACHED, || queue.put(item));
        given_back(item, result, "the queue had room and was cancelled before");
    }
}

pub fn what_was_put_before_can_be_taken() {
    let queue = Queue::new(2);
    put(&queue, 1);
    put(&queue, 2);
    cancel(&queue);
    let cause = "after a cancel no item is put. Items that were put before it are not lost: take() looks for an item \
                 first, and checks the flag only if there is none";
    take_the_rest(&queue, [1, 2], cause);
}

const AFTER_THE_END: &str = "None says that no item will come any more, so the taker has gone, and this item is lost. \
                             Checking for a cancel and putting the item must be one step, under one lock; and put() \
                             checks for a cancel after every wait, even if there is room then";

pub fn none_is_the_end() {
    let queue = Arc::new(Queue::new(1));
    put(&queue, 1);
    let putter = put_on_a_thread("putter", &queue);
    take(&queue, 1); // so perhaps the putter has waited, and now finds both room and the cancel
    nothing_comes_after_the_end(&queue, putter);
    let queue = Arc::new(Queue::new(1));
    let putter = put_on_a_thread("second putter", &queue);
    nothing_comes_after_the_end(&queue, putter);
}

fn put_on_a_thread(name: &str, queue: &Arc<Queue<u64>>) -> thread::JoinHandle<Result<(), u64>> {
    let queue = Arc::clone(queue);
    start(name, move || queue.put(2))
}

/// Cancels a queue while item 2 is being put, and takes the remaining items.
fn nothing_comes_after_the_end(queue: &Queue<u64>, putter: thread::JoinHandle<Result<(), u64>>) {
    cancel(queue);
    step("takes what is left");
    let taken = expect("take() after cancel()", NOT_REACHED, || queue.take());
    let result = join("put()", NOT_REACHED, putter);
    let left = expect("take() after cancel()", NOT_REACHED, || queue.take());
    match (taken, result, left) {
        (None, Err(2), None) | (Some(2), Ok(()), None) => (),
        (None, Ok(()), Some(_)) => {
            fail("take() returned None, and then put() put an item into the queue", AFTER_THE_END)
        }
        (taken, result, left) => fail(
            &format!(
                "put(2) returned {result:?}, and after the cancel take() returned {taken:?} and {left:?}"
            ),
            "an item is in one place: either it was put and can be taken, or put() gives it back",
        ),
    }
}

/// Runs a producer.
fn produce(queue: &Arc<Queue<u64>>, computation: &Arc<Computation>) -> Option<u64> {
    const CAUSE: &str = "run() puts one prime after the other, until there are no more or a prime comes back";
    let producer = PrimeProducer::new(Arc::clone(queue));
    expect("run() of the producer", CAUSE, || producer.run(Computing(Arc::clone(computation))))
}

pub fn the_producer_puts_prime_after_prime() {
    let queue = Arc::new(Queue::new(3));
    if let Some(prime) = produce(&queue, &Computation::of(3, 0)) {
        fail(
            &format!("there was room for all primes, and run() returned {prime}"),
            "run() returns a prime only if it has one that it could not put",
        );
    }
    for prime in [2, 3, 5] {
        take(&queue, prime);
    }
}

/// Starts a producer on a new thread.
fn producer(
    queue: &Arc<Queue<u64>>,
    computation: &Arc<Computation>,
) -> (Arc<PrimeProducer>, thread::JoinHandle<Option<u64>>) {
    let producer = Arc::new(PrimeProducer::new(Arc::clone(queue)));
    let (running, computing) = (Arc::clone(&producer), Computing(Arc::clone(computation)));
    (producer, start("producer", move || running.run(computing)))
}

pub fn a_producer_that_waits_ends_when_cancelled() {
    let (queue, computation) = (Arc::new(Queue::new(2)), Computation::of(6, 0));
    let (producer, running) = producer(&queue, &computation);
    take(&queue, 2);
    let cause =
        "one prime was taken and there is room for two more: run() puts them and goes on to the fourth";
    expect("waiting for the producer to compute prime 7", cause, || computation.asked.wait_for(4));
    until_others_wait(
        "the producer runs on and on, and the queue is full",
        "put() checks again and again, and keeps a core busy with nothing: wait on a Condvar",
    );
    step("has enough, and cancels the producer");
    at_once("cancel() of the producer", ASKS_ONLY, || producer.cancel());
    let cause = "the producer is in put(), the queue is full, and no consumer will take an item. While it waits it looks \
                 at no flag, and only the queue can end the wait: so cancel the queue. And a prime that comes back is not \
                 put again";
    let returned = join("run(), which waits in put(),", cause, running);
    let asked = computation.asked.get();
    if asked > 4 {
        fail(
            &format!("put() gave a prime back, and run() asked for {} more", asked - 4),
            "an Err says that the end has come: run() returns the prime, and computes no other",
        );
    }
    if returned != Some(7) {
        fail(
            &format!("prime 7 could not be put, and run() returned {returned:?}"),
            "the prime that put() gives back is in no other place: run() returns it",
        );
    }
    let cause = "cancel() of the producer takes nothing out of the queue: what was put can still be taken";
    take_the_rest(&queue, [3, 5], cause);
}

pub fn each_prime_is_in_one_place() {
    let (queue, computation) = (Arc::new(Queue::new(1)), Computation::of(4, 0));
    let (producer, running) = producer(&queue, &computation);
    let read: Arc<Shared<Vec<u64>>> = Arc::default();
    let reader = {
        let (queue, read) = (Arc::clone(&queue), Arc::clone(&read));
        start("reader", move || {
            while let Some(prime) = queue.take() {
                step(&format!("reads {prime}"));
                read.with(|read| read.push(prime));
            }
        })
    };
    at_once("cancel() of the producer", ASKS_ONLY, || producer.cancel());
    let returned = join("run() of the producer", NOT_REACHED, running);
    let cause = "cancel() of the producer cancels its queue, also before run() and after it: a reader waits for an item, or for \
                 the cancel of the queue";
    join("the reader's take()", cause, reader);
    if let Some(prime) = at_once("take() after cancel()", NOT_REACHED, || queue.take()) {
        fail(&format!("the reader got None, and then prime {prime} was in the queue"), AFTER_THE_END);
    }
    let read = read.with(|read| read.clone());
    let computed = &PRIMES[..computation.asked.get().min(4)];
    if !read.iter().chain(&returned).eq(computed) {
        fail(
            &format!("computed: {computed:?}; the reader has {read:?}, and run() returned {returned:?}"),
            "a prime that was computed is in the queue, or run() has it: if run() ends with a prime that it has not put, \
             it returns that one, even if it did not try to put it",
        );
    }
}

pub fn many_primes_and_many_who_wait() {
    const PRIMES: u64 = 2_000;
    const EACH: u64 = 40;
    if !exercises_harness::first_run!() {
        return;
    }
    let generator = PrimeGenerator::new();
    expect("run() of the generator", "run() has to end when there are no more primes", || {
        generator.run(0..PRIMES)
    });
    if !found(&generator).into_iter().eq(0..PRIMES) {
        let seen = format!(
            "run() was given {PRIMES} numbers from 0 on, and found() returned {}",
            found(&generator).len()
        );
        fail(&seen, "run() keeps each of them, in the order in which they come, however many there are");
    }
    let cause = "room for usize::MAX items is no bound. The room is a number to compare with, and no memory to ask for";
    let queue = expect("a queue with room for usize::MAX items", cause, || {
        let queue = Queue::new(usize::MAX);
        (0..PRIMES).for_each(|item| put(&queue, item));
        queue
    });
    (0..PRIMES).for_each(|item| take(&queue, item));

    let (full, empty) = (Arc::new(Queue::new(1)), Arc::new(Queue::new(1)));
    put(&full, 0);
    let threads: Vec<_> = (1..=EACH)
        .map(|item| {
            let (full, empty) = (Arc::clone(&full), Arc::clone(&empty));
            let taker = start("taker", move || empty.take());
            (item, start("putter", move || full.put(item)), taker)
        })
        .collect();
    until_asleep(
        2 * EACH as usize,
        "put() or take() checks again and again, and keeps a core busy: wait on a Condvar",
    );
    step("cancels both queues");
    cancel(&full);
    cancel(&empty);
    for (item, putter, taker) in threads {
        let result = join("put(), while many putters wait for room,", NOT_REACHED, putter);
        given_back(item, result, "the queue was full when it was cancelled");
        nothing(join("take(), while many takers wait for an item,", NOT_REACHED, taker), "nothing was put");
    }
}
