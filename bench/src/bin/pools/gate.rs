//! Measures what limits a pool when processors are added: the lock that every submission takes, and the
//! counter that every claim increments.
//!
//! The lock and the counter are measured separately, through the pool's public methods. The program submits
//! tasks while each worker is blocked in a task, and releases the workers when all tasks are submitted. So
//! the time of a push includes all of `execute`, and the time of a claim includes all work for an empty task.
//! For comparison the program measures a bare lock, a bare counter, and a counter whose value selects a place
//! with a separate lock, as in the pool's batch. The counter with places shows the best possible time of a
//! pool of this design.
//!
//! Each number is the wall time divided by the number of operations of *all* threads. If the threads do not
//! hinder each other, twice as many threads halve this number. If the number stays the same or grows, more
//! threads do not do more work.

use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bench::figures::{Spread, spread, with_any_number_of_threads};
use executor::{ThreadPoolExecutor, prelude::*};

use crate::books;
use crate::ours::started;

/// The number of tasks in a batch: it is so small that an idle pool keeps the memory for the tasks and does
/// not allocate.
const BATCH: usize = 4000;
const BATCHES: usize = 300;
const WARM_UPS: usize = 20;

/// Runs a batch and returns its time.
type Batch = Box<dyn FnMut() -> Duration>;

/// A value that has about the size of a task and its place in the queue.
type Element = [usize; 7];

/// Prints all measurements.
pub(crate) fn report() {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads: Vec<usize> = (0..=processors.ilog2()).map(|power| 1 << power).collect();
    println!(
        "\ngate: ns for each operation, all threads together: median of {BATCHES} batches of {BATCH} (range)"
    );
    print!("  {:<42}", "");
    for threads in &threads {
        print!("{:<24}", format!("{threads} {}", if *threads == 1 { "thread" } else { "threads" }));
    }
    println!();
    let measure = |title: &str, batch: fn(usize) -> Batch| {
        let costs: Vec<Spread> = threads.iter().map(|&threads| batches(batch(threads))).collect();
        print!("  {title:<42}");
        for Spread { median, least, most } in &costs {
            print!("{:<24}", format!("{median:>5.1} ({least:.0} to {most:.0})"));
        }
        println!();
        costs.iter().map(|cost| cost.median).collect::<Vec<f64>>()
    };
    let push = measure("push: execute, while the workers are held", pushes);
    let claim = measure("claim: take and run an empty task", claims);
    let lock = measure("a bare lock, with a push of 56 bytes", locks);
    let counter = measure("a bare counter, then a locked place", places);
    measure("a bare counter alone", additions);
    let unshared = measure("a computation, nothing shared", computations);
    if unshared[unshared.len() - 1] > 0.7 * unshared[0] && threads.len() > 1 {
        println!(
            "  THE THREADS HAD NO PROCESSOR EACH: the last column, and what follows from it, must not be trusted."
        );
    }
    conclude(
        &threads,
        &[("pushes", push), ("claims", claim)],
        &[("a bare lock", lock), ("a bare counter and places", counter)],
    );
}

/// Prints the estimate for more processors than this machine has.
fn conclude(threads: &[usize], of_the_pool: &[(&str, Vec<f64>); 2], bare: &[(&str, Vec<f64>); 2]) {
    let (Some(&most), true) = (threads.last(), threads.len() > 1) else {
        println!("  One processor does not show what threads do to each other.");
        return;
    };
    let bound = |costs: &[f64]| with_any_number_of_threads(costs[0], costs[costs.len() - 1], most);
    println!(
        "  The most that pass in a second, with any number of processors, by Amdahl's law from 1 and {most} threads:"
    );
    let mut slower = 0.0_f64;
    for ((what, costs), (floor, bare)) in of_the_pool.iter().zip(bare) {
        let (ns, of_bare) = (bound(costs).max(bound(bare)), bound(bare));
        slower = slower.max(ns);
        println!("    {what} {:>6.0} M ({floor}: {:.0} M)", 1e3 / ns, 1e3 / of_bare);
    }
    println!("  So the tasks of one pool keep at most so many processors busy:");
    for (length, ns) in [("1 µs", 1e3), ("10 µs", 1e4), ("100 µs", 1e5)] {
        println!("    tasks of {length:<7}{:>6.0}", ns / slower);
    }
}

/// Runs batches. Returns the number of nanoseconds for each operation.
fn batches(mut batch: Batch) -> Spread {
    (0..WARM_UPS).for_each(|_| _ = batch());
    let costs: Vec<f64> = (0..BATCHES).map(|_| batch().as_nanos() as f64 / BATCH as f64).collect();
    spread(&costs)
}

/// A barrier at which threads wait for each other without falling asleep, so that they continue at the same
/// moment.
struct Meeting {
    threads: usize,
    arrived: AtomicUsize,
}

impl Meeting {
    fn of(threads: usize) -> Arc<Meeting> {
        Arc::new(Meeting { threads, arrived: AtomicUsize::new(0) })
    }

    fn meet(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut looks = 0_u32;
        while self.arrived.load(Ordering::Acquire) < self.threads {
            looks += 1;
            if looks.is_multiple_of(1000) {
                thread::yield_now(); // perhaps another thread has no processor
            }
            hint::spin_loop();
        }
    }
}

/// The times at which each thread began and ended.
#[derive(Default)]
struct Times(Mutex<Vec<Instant>>);

impl Times {
    fn note(&self) {
        let now = Instant::now();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(now);
    }

    /// Returns the time from the earliest begin to the latest end.
    fn wall(&self) -> Duration {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first_and_last = times.iter().min().zip(times.iter().max());
        let (first, last) = first_and_last.expect("each thread has noted two");
        *last - *first
    }
}

/// Makes `threads` threads do their shares of a batch at the same time.
fn side_by_side(threads: usize, work: impl Fn(usize) + Sync) -> Duration {
    let (meeting, times) = (Meeting::of(threads), Times::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                meeting.meet();
                times.note();
                work(BATCH / threads);
                times.note();
            });
        }
    });
    times.wall()
}

/// Blocks each worker of a pool in a task until the caller calls the returned function.
fn hold(
    pool: &ThreadPoolExecutor,
    workers: usize,
    and_then: impl Fn() + Clone + Send + 'static,
) -> impl FnOnce() {
    let gate = Arc::new(Barrier::new(workers + 1));
    for _ in 0..workers {
        let (gate, and_then) = (Arc::clone(&gate), and_then.clone());
        let hold = move || {
            gate.wait(); // all workers are held
            gate.wait(); // the workers go on
            and_then();
        };
        pool.execute(hold).expect("the pool accepts tasks");
    }
    gate.wait();
    move || _ = gate.wait()
}

fn pushes(submitters: usize) -> Batch {
    let pool = started(1);
    Box::new(move || {
        books::open();
        let release = hold(&pool, 1, || {});
        let submit = |n: usize| pool.execute(move || books::note(n as u64)).expect("the pool accepts tasks");
        let wall = side_by_side(submitters, |share| (0..share).for_each(submit));
        release();
        pool.submit(|| ()).expect("the pool accepts tasks").join().expect("it runs last");
        assert_eq!(books::ran(), (BATCH / submitters * submitters) as u64);
        wall
    })
}

fn claims(workers: usize) -> Batch {
    let pool = started(workers);
    Box::new(move || {
        books::open();
        let (begin, end) = (Meeting::of(workers), Meeting::of(workers));
        let times = Arc::<Times>::default();
        let release = {
            let times = Arc::clone(&times);
            hold(&pool, workers, move || {
                begin.meet();
                times.note();
            })
        };
        let done = Arc::new(Barrier::new(workers + 1));
        for n in 0..BATCH as u64 {
            pool.execute(move || books::note(n)).expect("the pool accepts tasks");
        }
        for _ in 0..workers {
            let (end, times, done) = (Arc::clone(&end), Arc::clone(&times), Arc::clone(&done));
            let note_end = move || {
                times.note();
                end.meet(); // so each worker runs one of these tasks
                done.wait();
            };
            pool.execute(note_end).expect("the pool accepts tasks");
        }
        release();
        done.wait();
        assert_eq!(books::ran(), BATCH as u64);
        times.wall()
    })
}

fn locks(threads: usize) -> Batch {
    let elements = Mutex::new(Vec::<Element>::with_capacity(BATCH));
    Box::new(move || {
        elements.lock().unwrap_or_else(PoisonError::into_inner).clear();
        side_by_side(threads, |share| {
            for number in 0..share {
                elements.lock().unwrap_or_else(PoisonError::into_inner).push([number; 7]);
            }
        })
    })
}

/// Measures a counter with places, without a pool: a thread increments the counter, and then takes the item
/// from the place whose index is the counter's value.
fn places(threads: usize) -> Batch {
    let places: Vec<Mutex<Option<Element>>> = (0..BATCH).map(|_| Mutex::new(None)).collect();
    Box::new(move || {
        for place in &places {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some([1; 7]);
        }
        let next = AtomicUsize::new(0);
        side_by_side(threads, |_| {
            while let Some(place) = places.get(next.fetch_add(1, Ordering::SeqCst)) {
                let taken = place.lock().unwrap_or_else(PoisonError::into_inner).take();
                hint::black_box(taken.expect("a place is claimed once"));
            }
        })
    })
}

fn additions(threads: usize) -> Batch {
    let counter = AtomicUsize::new(0);
    Box::new(move || {
        side_by_side(threads, |share| {
            for _ in 0..share {
                hint::black_box(counter.fetch_add(1, Ordering::SeqCst));
            }
        })
    })
}

/// Runs a computation without contention. If two threads do not halve the time of this computation, the
/// machine does not give the threads two processors, and then the other numbers say nothing about threads.
fn computations(threads: usize) -> Batch {
    Box::new(move || {
        side_by_side(threads, |share| {
            for number in 0..share as u64 {
                crate::load::compute(number, 20);
            }
        })
    })
}
