//! A thread holds a lock across a parallel loop, a scope and a join, while other threads want the same lock.
//!
//! ```sh
//! cargo run --example lock_across_a_join
//! ```
//!
//! The book explains this example in the chapter "Work stealing".

use executor::fork_join::{ForkJoinPool, join, par_for_each};
use executor::{ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

// ANCHOR: count
/// Calls `compute` while the lock is held, and counts the call.
fn count(calls: &Mutex<u32>, compute: impl Fn()) {
    let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
    compute(); // other threads help with it, and this thread may have to wait for them
    *calls += 1;
}
// ANCHOR_END: count

/// Sleeps so long that another thread has time to come and help.
fn work() {
    sleep(Duration::from_micros(50));
}

fn main() -> Result<(), Box<dyn Error>> {
    let calls = Mutex::new(0);
    // ANCHOR: loops
    let computations = ForkJoinPool::new(4)?;
    computations.invoke(|| {
        par_for_each(0..200, |_| count(&calls, || par_for_each(0..16, |_| work())));
    })?;
    // ANCHOR_END: loops
    println!("a loop in a loop    {}", calls.lock().unwrap_or_else(PoisonError::into_inner));

    computations.invoke(|| {
        par_for_each(0..200, |_| count(&calls, || _ = join(work, work)));
    })?;
    println!("a join in a loop    {}", calls.lock().unwrap_or_else(PoisonError::into_inner));

    let tasks = ThreadPoolExecutor::fixed(4);
    let inner = || _ = tasks.scope(|scope| (0..16).try_for_each(|_| scope.spawn(work)));
    tasks.scope(|scope| (0..200).try_for_each(|_| scope.spawn(|| count(&calls, inner))))??;
    println!("a scope in a scope  {}", calls.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}
