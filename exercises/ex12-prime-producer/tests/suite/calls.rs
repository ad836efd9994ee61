//! Primes whose computation takes time, and calls that check what the queue promises; the properties use
//! both.

use exercises_harness::{at_once, expect, fail, step};

use super::super::exercise::Queue;
use crate::probe::{Counter, until_others_wait};
use crate::sync::{Arc, thread};

pub const PRIMES: [u64; 6] = [2, 3, 5, 7, 11, 13];

pub const ASKS_ONLY: &str = "cancel() asks other threads to end, and waits for none of them: it needs no lock that a \
                             thread holds while it computes or waits, and no room in the queue";
pub const NOT_REACHED: &str = "the queue is cancelled, and a thread waits on. A cancel has to end every wait, for room and for \
                               an item: put() waits for \"room, or the cancel\", and take() for \"an item, or the cancel\"";
pub const NOT_WOKEN: &str = "a thread sleeps although the item or the room that it waits for is there. Each item that is \
                             put wakes a waiting taker, and each item that is taken wakes a waiting putter, however full \
                             the queue is; and the notification follows the change";
const ORDER: &str = "items come out in the order in which they went in: push at one end, pop at the other";

/// The first primes, and the number of primes that `run` has asked for.
pub struct Computation {
    pub asked: Counter,
    /// The number of primes.
    primes: usize,
    /// The number of the prime whose computation waits until the property opens the gate; the first prime has
    /// number 1.
    long: usize,
    pub gate: Counter,
}

/// The iterator that a property gives to `run`.
pub struct Computing(pub Arc<Computation>);

impl Computation {
    pub fn of(primes: usize, long: usize) -> Arc<Self> {
        let asked = Counter::new("run() to ask for a prime");
        let gate = Counter::new("the computation of a prime, which takes long");
        Arc::new(Self { asked, primes, long, gate })
    }
}

impl Iterator for Computing {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let nth = self.0.asked.add();
        let prime = PRIMES[..self.0.primes].get(nth - 1).copied();
        match prime {
            Some(prime) => step(&format!("computes prime {prime}")),
            None => step("there are no more primes"),
        }
        if nth == self.0.long {
            self.0.gate.wait_for(1);
        }
        prime
    }
}

/// Starts a thread with a name, which appears in messages.
pub fn start<R: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

/// Waits for the end of a thread. `what` is the call that the thread makes, and `cause` is the likely cause
/// if this call never ends.
pub fn join<R>(what: &str, cause: &str, handle: thread::JoinHandle<R>) -> R {
    let result = expect(what, cause, || handle.join());
    result.unwrap_or_else(|_| fail("a thread of the test panicked", "no call of a right answer panics"))
}

/// Puts an item into a queue that is not cancelled.
pub fn put(queue: &Queue<u64>, item: u64) {
    put_or(NOT_WOKEN, queue, item);
}

/// Puts an item. `cause` is the likely cause if `put` never returns.
pub fn put_or(cause: &str, queue: &Queue<u64>, item: u64) {
    if expect("put()", cause, || queue.put(item)).is_err() {
        fail(
            &format!("put({item}) gave the item back, though no thread has cancelled"),
            "put() waits for room; it gives the item back only if the queue is cancelled",
        );
    }
}

/// Takes an item, which must be `expected`, from a queue that is not cancelled.
pub fn take(queue: &Queue<u64>, expected: u64) {
    match expect("take()", NOT_WOKEN, || queue.take()) {
        Some(item) if item == expected => (),
        Some(item) => fail(&format!("take() returned {item}, and {expected} is the oldest item"), ORDER),
        None => fail(
            &format!("take() returned None, and {expected} was put"),
            "an item that was put can be taken; take() returns None only if the queue is empty and cancelled",
        ),
    }
}

/// Takes the remaining items of a cancelled queue; they must be the two items in `expected`.
pub fn take_the_rest(queue: &Queue<u64>, expected: [u64; 2], cause: &str) {
    let taken: [_; 4] =
        std::array::from_fn(|_| at_once("take() after cancel()", NOT_REACHED, || queue.take()));
    let [oldest, newest] = expected.map(Some);
    if taken != [oldest, newest, None, None] {
        fail(
            &format!(
                "{} and {} were in the queue when it was cancelled; then take() returned {taken:?}",
                expected[0], expected[1]
            ),
            cause,
        );
    }
}

/// Cancels the queue; this call must not wait.
pub fn cancel(queue: &Queue<u64>) {
    at_once("cancel() of the queue", ASKS_ONLY, || queue.cancel());
}

/// Starts two threads that both make the call `call`, and fails unless both threads wait in this call.
pub fn two_that_wait<R: Send + 'static>(
    name: &str,
    queue: &Arc<Queue<u64>>,
    came_back: &str,
    call: fn(&Queue<u64>, u64) -> R,
) -> [thread::JoinHandle<R>; 2] {
    start_two(name, queue, came_back, call, 0)
}

/// Starts two threads that wait in `call`; the thread whose call ends first waits for the other thread. While
/// the first thread waits, it cannot wake the other thread. So if the other thread stays asleep, the
/// notification for the other thread is missing.
pub fn two_that_meet<R: Send + 'static>(
    name: &str,
    queue: &Arc<Queue<u64>>,
    came_back: &str,
    call: fn(&Queue<u64>, u64) -> R,
) -> [thread::JoinHandle<R>; 2] {
    start_two(name, queue, came_back, call, 2)
}

fn start_two<R: Send + 'static>(
    name: &str,
    queue: &Arc<Queue<u64>>,
    came_back: &str,
    call: fn(&Queue<u64>, u64) -> R,
    meet: usize,
) -> [thread::JoinHandle<R>; 2] {
    let back = Arc::new(Counter::new("the other one to come back, too"));
    let handles = [11, 12].map(|item| {
        let (queue, back) = (Arc::clone(queue), Arc::clone(&back));
        start(&format!("{name} {}", item - 10), move || {
            let result = call(&queue, item);
            back.add();
            back.wait_for(meet);
            result
        })
    });
    until_others_wait(
        &format!("a {name} runs on and on, though it has to wait"),
        "the thread checks again and again, and keeps a core busy with nothing: wait on a Condvar",
    );
    step(&format!("sees both {name}s wait"));
    if back.get() > 0 {
        fail(
            came_back,
            "a thread that finds no room, or no item, waits, and checks again after every wake-up: in a `while`, not in \
             an `if`, since a wait may end for no reason. And a queue with room for one is full when it has one",
        );
    }
    handles
}

/// Fails if a put() that was cancelled did not give its item back.
pub fn given_back(item: u64, result: Result<(), u64>, when: &str) {
    match result {
        Err(back) if back == item => (),
        Err(back) => fail(&format!("put({item}) gave {back} back"), "each putter gets its own item back"),
        Ok(()) => fail(
            &format!("{when}, and put({item}) returned Ok"),
            "after the cancel no item is put: put() gives the item back, or the caller thinks that it is in the queue",
        ),
    }
}

/// Fails if a take() that should find no item has found one.
pub fn nothing(taken: Option<u64>, because: &str) {
    if let Some(item) = taken {
        fail(
            &format!("{because}, and take() returned {item}"),
            "take() returns each item that was put, once, and then None",
        );
    }
}
