//! Shows a pool of two threads, from the pool's first task to the pool's end.
//!
//! ```sh
//! cargo run --example pool_of_two
//! ```
//!
//! The book explains this example in the chapter "The pooled server".

use executor::{Latch, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ThreadPoolExecutor::fixed(2);
    println!("no task yet    {}", pool.stats());

    // ANCHOR: saturate
    let two_began = Arc::new(Latch::new(2));
    let may_end = Arc::new(Latch::new(1));
    for _ in 0..3 {
        let (two_began, may_end) = (Arc::clone(&two_began), Arc::clone(&may_end));
        pool.execute(move || {
            two_began.count_down();
            may_end.wait().expect("these tasks are not cancelled");
        })?;
    }
    two_began.wait()?;
    println!("three tasks    {}", pool.stats());
    // ANCHOR_END: saturate

    // ANCHOR: shutdown
    pool.shutdown();
    let refused = pool.execute(|| println!("never printed")).expect_err("it was shut down");
    println!("a fourth task  {refused}");

    may_end.count_down();
    let ended = pool.await_termination(Duration::from_secs(10));
    println!("ended: {ended}    {}", pool.stats());
    // ANCHOR_END: shutdown
    Ok(())
}
