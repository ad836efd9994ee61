//! Runs four long tasks and a hundred short tasks: in one pool, in two pools, and with a limit for each long
//! wait.
//!
//! ```sh
//! cargo run --example long_among_short
//! ```
//!
//! The book explains this example in the chapter "How many threads?".

#![allow(unreachable_pub)] // the module is written like a module of a library

mod long; // a task that waits for another server

use executor::{Latch, ThreadPoolExecutor, prelude::*};
use std::sync::{Arc, mpsc};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn main() {
    println!("                           short, ms   long");
    println!("                            p50  p99   answered  failed  requeued");
    // ANCHOR: trials
    let (never, limit) = (Duration::MAX, Duration::from_millis(20));
    trial("one pool of four threads", 4, None, never, false);
    trial("a pool of three, one of one", 3, Some(1), never, false);
    trial("one pool, a limit, fail", 4, None, limit, false);
    trial("one pool, a limit, requeue", 4, None, limit, true);
    // ANCHOR_END: trials
}

fn trial(name: &str, for_long: usize, for_short: Option<usize>, limit: Duration, requeues: bool) {
    let pool = Arc::new(ThreadPoolExecutor::fixed(for_long));
    let of_short =
        for_short.map_or_else(|| Arc::clone(&pool), |threads| Arc::new(ThreadPoolExecutor::fixed(threads)));
    let (answer, (ends, ended)) = (Arc::new(Latch::new(1)), mpsc::channel());
    let long = long::Long { pool: Arc::clone(&pool), answer: Arc::clone(&answer), limit, requeues, ends };
    (0..4).for_each(|_| long.clone().submit());
    drop(long);
    let short = |_| {
        sleep(Duration::from_millis(5));
        let submitted = Instant::now();
        of_short.submit(move || submitted.elapsed()).expect("the queue has no bound")
    };
    let short: Vec<_> = (0..100).map(short).collect();
    answer.count_down(); // after half a second
    let mut waits: Vec<_> = short.into_iter().map(|task| task.join().expect("it ends")).collect();
    waits.sort_unstable();
    let [half, most] = [waits[49], waits[98]].map(|wait| wait.as_millis());
    let ends: Vec<_> = ended.iter().collect();
    let count = |end| ends.iter().filter(|other| **other == end).count();
    let [answered, failed, again] = ["answered", "failed", "requeued"].map(count);
    println!("{name:<27}{half:4}{most:5}{answered:11}{failed:8}{again:10}");
}
