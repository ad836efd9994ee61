//! Runs four jobs in a pool of two threads; the jobs wait for each other in pairs. In the first trial a
//! worker takes one job at a time; in the second trial a worker takes two jobs at a time. If a trial hangs, a
//! watchdog reports the state of the jobs and ends the trial.
//!
//! ```sh
//! cargo run --example private_batch
//! ```
//!
//! The book explains this example in the chapter "Where the time goes in a thread pool".

#![allow(unreachable_pub)] // the pool is written like a module of a library

mod pool;

use pool::Pool;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// The two jobs of a pair wait for each other.
const PAIRS: &[[&str; 2]] = &[["A1", "A2"], ["B1", "B2"]];

enum Event {
    Begun(&'static str),
    Met,
}

fn main() -> ExitCode {
    for batch in [1, 2] {
        println!("two workers, {batch} of the jobs {} at a time:", PAIRS.concat().join(", "));
        let pool = Pool::new(2, batch);
        if !watch(&pool, &pairs(&pool)) {
            return ExitCode::FAILURE; // the hanging threads end with the process
        }
    }
    ExitCode::SUCCESS
}

// ANCHOR: pairs
/// Puts all pairs into the queue while both workers are busy, so that both workers find all pairs.
fn pairs(pool: &Pool) -> Receiver<Event> {
    let (tell, told) = mpsc::channel();
    let both_busy = [occupy(pool), occupy(pool)];
    for pair in PAIRS {
        let meet = Arc::new(Barrier::new(2));
        for &name in pair {
            let (tell, meet) = (tell.clone(), Arc::clone(&meet));
            pool.execute(move || {
                let _ = tell.send(Event::Begun(name)); // fails when the watchdog has given up
                meet.wait();
                let _ = tell.send(Event::Met);
            });
        }
    }
    drop(both_busy);
    told
}
// ANCHOR_END: pairs

// ANCHOR: watchdog
/// Waits until each job has met its partner. If no job meets its partner within a second, prints the state of
/// the jobs and returns `false`.
fn watch(pool: &Pool, events: &Receiver<Event>) -> bool {
    let (mut not_begun, mut met) = (PAIRS.concat(), 0);
    let jobs = not_begun.len();
    while met < jobs {
        match events.recv_timeout(Duration::from_secs(1)) {
            Ok(Event::Begun(name)) => not_begun.retain(|other| *other != name),
            Ok(Event::Met) => met += 1,
            Err(_) => {
                println!("  nothing has happened for a second, and the watchdog ends it");
                println!("  {met} of {jobs} jobs have met their partner");
                println!("  {} of {jobs} jobs wait in the queue", pool.waiting());
                println!("  not begun: {}; so they lie in the batches of workers", not_begun.join(", "));
                return false;
            }
        }
    }
    println!("  all have met their partner");
    true
}
// ANCHOR_END: watchdog

/// Keeps a worker busy until the caller drops the returned sender.
fn occupy(pool: &Pool) -> Sender<()> {
    let (open, opened) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    pool.execute(move || {
        tell.send(()).expect("this function listens");
        let _ = opened.recv(); // fails as soon as the other end is dropped
    });
    told.recv().expect("a worker runs it");
    open
}
