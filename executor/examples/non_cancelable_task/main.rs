//! Steps that must not be cut off half-way: two that go wrong, and two that do not.
//!
//! ```sh
//! cargo run -p executor --features crossbeam-channel --example non_cancelable_task -- retries
//! cargo run -p executor --features crossbeam-channel --example non_cancelable_task -- half_way
//! cargo run -p executor --features crossbeam-channel --example non_cancelable_task -- masked
//! cargo run -p executor --features crossbeam-channel --example non_cancelable_task -- limit
//! ```
//!
//! The book's chapter: Cancellation policies.

#![allow(unreachable_pub)] // the modules read like those of a library

mod half_way;
mod limit;
mod retries;
mod whole;

use executor::CancelToken;
use executor::channel::{Receiver, bounded};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{process, thread};

/// What is to be done, by its name.
pub type Task = &'static str;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("retries") => asked_to_stop(retries::next_task),
        Some("half_way") => half_way::cancelled_between(half_way::move_one),
        Some("masked") => {
            asked_to_stop(whole::next_task)?;
            half_way::cancelled_between(whole::move_one)
        }
        Some("limit") => limit::limits(),
        _ => Err("say which: retries, half_way, masked or limit".into()),
    }
}

/// How often `retries` has tried to take a task.
pub static ATTEMPTS: AtomicU64 = AtomicU64::new(0);

fn asked_to_stop(next_task: fn(&Receiver<Task>) -> Option<Task>) -> Result<(), Box<dyn Error>> {
    let (desk, tasks) = bounded(1);
    let token = CancelToken::new();
    token.cancel_because("the shop closes");
    let worker = thread::spawn(move || token.attach(|| (next_task(&tasks), CancelToken::current().check())));
    desk.put("paint the door")?;
    while !worker.is_finished() {
        if ATTEMPTS.load(Ordering::Relaxed) > 100_000 {
            println!("a task is there, and 100000 attempts to take it have failed");
            process::exit(1); // without this it would try for ever
        }
        thread::yield_now();
    }
    let (task, request) = worker.join().expect("it does not panic");
    println!("next_task() gave {task:?}; then its caller looked at its token: {request:?}");
    Ok(())
}
