//! A task that waits for another task of the same pool, which has only one thread.
//!
//! ```sh
//! cargo run -p executor --example waits_for_its_own_thread
//! ```
//!
//! The book's chapter: The handle.

use executor::{JoinTimeoutError, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Arc::new(ThreadPoolExecutor::single());
    // ANCHOR: starve
    let same_pool = Arc::clone(&pool);
    let outer = pool.submit(move || {
        let inner = same_pool.submit(|| "page footer").expect("the pool is running");
        match inner.join() {
            Ok(part) => println!("inner: {part}"),
            Err(error) => println!("inner: {error}"),
        }
    })?;
    // ANCHOR_END: starve
    match outer.join_timeout(Duration::from_secs(1)) {
        Err(JoinTimeoutError::TimedOut(outer)) => {
            println!("outer: not done after a second, calling it off");
            outer.cancel();
        }
        ended => println!("outer: {ended:?}"),
    }
    pool.close();
    Ok(())
}
