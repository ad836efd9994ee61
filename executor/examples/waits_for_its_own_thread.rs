//! A pool has only one thread, and one of its tasks waits for another task of the pool. The wait returns an
//! error, which says that the other task can never run.
//!
//! ```sh
//! cargo run --example waits_for_its_own_thread
//! ```
//!
//! The book explains this example in the chapter "The handle".

use executor::{NamedThreads, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ThreadPoolExecutor::builder().thread_factory(NamedThreads::new("renderer")).build()?;
    let pool = Arc::new(pool); // it has one thread
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
    outer.join()?;
    pool.close();
    Ok(())
}
