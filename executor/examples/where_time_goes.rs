//! Measures the costs of the parts of a thread pool on this machine: memory for a job, a lock that two
//! threads want, and the wake-up of a thread. The example also measures how much time a worker saves if it
//! takes many jobs at once. At the end, the example measures whole pools. The measurement takes some seconds.
//! Run the example optimised, on a machine that does nothing else.
//!
//! ```sh
//! cargo run --release --example where_time_goes
//! ```
//!
//! The book explains this example in the chapter "Where the time goes in a thread pool".

#![allow(unreachable_pub)] // the pools are written like modules of a library

#[path = "private_batch/pool.rs"]
mod private_batch;
#[path = "pool_steps/step_3_end.rs"]
mod step_3_end;

use executor::{ThreadPoolExecutor, prelude::*};
use std::collections::VecDeque;
use std::hint::{self, black_box};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{env, iter, mem, thread};

type Job = Box<dyn FnOnce() + Send>;

/// The number of times that each operation runs in a round.
const TIMES: u32 = 100_000;

fn main() {
    let rounds = env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(15);
    println!("nanoseconds each time; the middle one of {rounds} rounds");
    allocation(rounds);
    contention(rounds);
    wake_ups(rounds);
    batching(rounds);
    whole_pools(rounds);
}

/// Calls `measure` in `rounds` rounds, and prints the median of the results.
fn row(rounds: usize, what: &str, measure: impl FnMut() -> f64) {
    let mut found: Vec<f64> = iter::repeat_with(measure).take(rounds).collect();
    found.sort_by(f64::total_cmp);
    println!("  {what:<62}{:>8.1}", found[rounds / 2]);
}

/// Returns the number of nanoseconds that each of `TIMES` repetitions takes.
fn each(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_nanos() as f64 / f64::from(TIMES)
}

// ANCHOR: allocation
fn allocation(rounds: usize) {
    println!("allocation");
    let job = |n: u32| move || _ = black_box(n);
    row(rounds, "call a closure", || each(|| (0..TIMES).for_each(|n| black_box(job(n))())));
    let boxed = |n| -> Job { Box::new(job(n)) };
    row(rounds, "box it, call it, free the box", || each(|| (0..TIMES).for_each(|n| black_box(boxed(n))())));
    let thousand = || (0..1_000).map(boxed).collect::<Vec<Job>>();
    row(rounds, "box a thousand, then call and free them", || {
        each(|| (0..TIMES / 1_000).for_each(|_| thousand().into_iter().for_each(|job| job())))
    });
    row(rounds, "box a thousand, and another thread calls and frees them", || {
        thread::scope(|scope| {
            let (give, take) = mpsc::sync_channel::<Vec<Job>>(8);
            scope.spawn(|| take.into_iter().flatten().for_each(|job| job()));
            each(move || (0..TIMES / 1_000).for_each(|_| give.send(thousand()).expect("they are taken")))
        })
    });
}
// ANCHOR_END: allocation

// ANCHOR: contention
/// A counter with its own cache line, so that two counters do not disturb each other.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

fn contention(rounds: usize) {
    println!("contention");
    let queues: [Apart<Mutex<VecDeque<u32>>>; 2] = Default::default();
    let pass = |queue: usize| {
        queues[queue].0.lock().unwrap().push_back(1);
        black_box(queues[queue].0.lock().unwrap().pop_front());
    };
    row(rounds, "put into a queue and take out again: one thread", || side_by_side(1, |_| pass(0)));
    row(rounds, "two threads, each with a queue of its own", || side_by_side(2, pass));
    row(rounds, "two threads, one queue, one lock", || side_by_side(2, |_| pass(0)));
    let counter = AtomicU64::new(0);
    let count = |_| _ = counter.fetch_add(1, Ordering::Relaxed);
    row(rounds, "add 1 to a counter: one thread", || side_by_side(1, count));
    row(rounds, "two threads, one counter", || side_by_side(2, count));
}

/// Returns the time that a thread needs for one call of `work` while `threads` threads all call `work`.
fn side_by_side(threads: usize, work: impl Fn(usize) + Sync) -> f64 {
    let start = Barrier::new(threads);
    let measure = |thread| {
        start.wait();
        each(|| (0..TIMES).for_each(|_| work(thread)))
    };
    thread::scope(|scope| {
        let measure = &measure;
        let running: Vec<_> = (0..threads).map(|n| scope.spawn(move || measure(n))).collect();
        let took = running.into_iter().map(|thread| thread.join().expect("it measures"));
        took.sum::<f64>() / threads as f64
    })
}
// ANCHOR_END: contention

// ANCHOR: wake_ups
fn wake_ups(rounds: usize) {
    println!("wake-ups");
    let unused = Condvar::new();
    row(rounds, "notify when no thread sleeps", || each(|| (0..TIMES).for_each(|_| unused.notify_one())));
    row(rounds, "hand a number to a thread that is looking for it", || hand_over(Waits::Looking).1);
    row(rounds, "wake a sleeping thread: until the one that wakes it goes on", || hand_over(Waits::Asleep).0);
    row(rounds, "wake a sleeping thread: until that one runs", || hand_over(Waits::Asleep).1);
}

#[derive(Clone, Copy, PartialEq)]
enum Waits {
    Looking,
    Asleep,
}

/// Hands numbers to another thread. Returns two times: the time that the giver needs to hand over a number,
/// and the time until the receiver has the number.
fn hand_over(waits: Waits) -> (f64, f64) {
    const NUMBERS: u32 = 100;
    let clock = Instant::now();
    let (given, taken_at) = (AtomicU32::new(0), AtomicU64::new(0));
    let take = || {
        for n in 1..=NUMBERS {
            match waits {
                Waits::Looking => look_until(|| given.load(Ordering::Acquire) == n),
                Waits::Asleep => {
                    while given.load(Ordering::Acquire) < n {
                        thread::park();
                    }
                }
            }
            taken_at.store(nanos(clock), Ordering::Release);
        }
    };
    let (mut until_given, mut until_taken) = (0, 0);
    thread::scope(|scope| {
        let taker = scope.spawn(take);
        for n in 1..=NUMBERS {
            match waits {
                Waits::Looking => {
                    let end = nanos(clock) + 100_000;
                    look_until(|| nanos(clock) >= end); // awake, so that each of the two has its own core
                }
                Waits::Asleep => thread::sleep(Duration::from_micros(100)), // time to fall asleep
            }
            taken_at.store(0, Ordering::Relaxed);
            let begun = nanos(clock);
            given.store(n, Ordering::Release);
            if waits == Waits::Asleep {
                taker.thread().unpark();
            }
            until_given += nanos(clock) - begun;
            look_until(|| taken_at.load(Ordering::Acquire) > 0);
            until_taken += taken_at.load(Ordering::Relaxed) - begun;
        }
    });
    (until_given as f64 / f64::from(NUMBERS), until_taken as f64 / f64::from(NUMBERS))
}
// ANCHOR_END: wake_ups

fn nanos(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).expect("a few seconds")
}

/// Reads a value again and again until the value has changed. From time to time the loop yields, because on a
/// single core the other thread needs the core.
fn look_until(found: impl Fn() -> bool) {
    for look in 1_u32.. {
        match look % 256 {
            _ if found() => return,
            0 => thread::yield_now(),
            _ => hint::spin_loop(),
        }
    }
}

// ANCHOR: batching
fn batching(rounds: usize) {
    println!("batching: one thread puts in, another takes out");
    row(rounds, "one at a time", || pass_on(|queue, mine| mine.extend(queue.pop_front())));
    row(rounds, "all that is there at a time", || pass_on(mem::swap));
}

/// Returns the average time that a number needs to pass through a queue.
fn pass_on(take: impl Fn(&mut VecDeque<u32>, &mut VecDeque<u32>)) -> f64 {
    let queue = Mutex::new(VecDeque::new());
    let start = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            start.wait();
            (0..TIMES).for_each(|n| queue.lock().unwrap().push_back(n));
        });
        each(|| {
            start.wait();
            let (mut taken, mut mine) = (0, VecDeque::new());
            while taken < TIMES as usize {
                take(&mut queue.lock().unwrap(), &mut mine);
                taken += mine.len();
                if mine.is_empty() {
                    (0..100).for_each(|_| hint::spin_loop()); // lets the other thread take the lock
                }
                mine.clear();
            }
        })
    })
}
// ANCHOR_END: batching

// ANCHOR: pools
fn whole_pools(rounds: usize) {
    println!("whole pools: two workers, and jobs like those above");
    row(rounds, "step 3 of the straightforward pool", || {
        each(|| {
            let pool = step_3_end::Pool::new(2);
            (0..TIMES).for_each(|n| pool.execute(move || _ = black_box(n)));
            pool.shutdown();
        })
    });
    for (what, batch) in
        [("it notifies only if a worker sleeps", 1), ("and takes 64 at a time: the trap", 64)]
    {
        let pool = private_batch::Pool::new(2, batch);
        row(rounds, what, || {
            each(|| {
                (0..TIMES).for_each(|n| pool.execute(move || _ = black_box(n)));
                while pool.waiting() > 0 {
                    thread::sleep(Duration::from_micros(50)); // leaves the cores to the workers
                }
            })
        });
    }
    row(rounds, "ThreadPoolExecutor", || {
        each(|| {
            let pool = ThreadPoolExecutor::fixed(2);
            (0..TIMES).for_each(|n| pool.execute(move || _ = black_box(n)).expect("it has no bound"));
            pool.close();
        })
    });
}
// ANCHOR_END: pools
