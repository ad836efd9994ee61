//! Shows two ways to end a computation that would take hours: cancel it, or end its process.
//!
//! ```sh
//! cargo run --example end_of_a_computation -- cancel
//! ```
//! The other argument is `main_returns`. The book's chapter "Divide and conquer" explains the example.

use executor::{CancelToken, Latch, fork_join, fork_join::ForkJoinPool, prelude::*};
use std::{error::Error, sync::Arc, time::Duration};

// ANCHOR: leaves
/// Returns the number of leaves of a tree with `levels` levels, or `None` if the count was cancelled.
fn leaves(levels: u32, begun: &Latch) -> Option<u64> {
    if levels == 0 {
        return Some(1);
    }
    if levels >= 10 {
        begun.count_down();
        CancelToken::current().check().ok()?; // two checks of the token for each thousand leaves
    }
    let (left, right) = fork_join::join(|| leaves(levels - 1, begun), || leaves(levels - 1, begun));
    Some(left? + right?)
}
// ANCHOR_END: leaves

// ANCHOR: cancel
fn cancel() -> Result<(), Box<dyn Error>> {
    let (pool, begun) = (ForkJoinPool::new(2)?, Arc::new(Latch::new(1)));
    let tell = Arc::clone(&begun);
    let handle = pool.submit(move || leaves(45, &tell))?;
    begun.wait()?;
    handle.cancel();
    println!("join: {}", handle.join().expect_err("it was cancelled"));
    println!("all pieces have ended: {}", pool.await_quiescence(Duration::from_secs(30)));
    Ok(())
}
// ANCHOR_END: cancel

// ANCHOR: main_returns
fn main_returns() -> Result<(), Box<dyn Error>> {
    let begun = Arc::new(Latch::new(1));
    let tell = Arc::clone(&begun);
    let _handle = ForkJoinPool::common().submit(move || println!("leaves: {:?}", leaves(45, &tell)))?;
    begun.wait()?;
    println!("main: returns");
    Ok(())
}
// ANCHOR_END: main_returns

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("cancel") => cancel(),
        Some("main_returns") => main_returns(),
        _ => {
            eprintln!("say which: cancel or main_returns");
            std::process::exit(2);
        }
    }
}
