//! Uses a million stripes one after the other, and shows two numbers: how many stripes exist at a time, and
//! how many are left at the end.
//!
//! ```sh
//! cargo run --release --example idle_stripes
//! ```
//!
//! The book explains this example in the chapter "Order without a lock".

use executor::{BoundedExecutor, RejectedExecution, StripedExecutor, ThreadPoolExecutor, prelude::*};

fn main() -> Result<(), RejectedExecution> {
    let keys = std::env::args().nth(1).and_then(|keys| keys.parse().ok()).unwrap_or(1_000_000);
    // ANCHOR: idle
    let pool = BoundedExecutor::owning(ThreadPoolExecutor::fixed(2), 1_000);
    let striped = StripedExecutor::owning(pool);
    let mut most = 0;
    for key in 0..keys {
        striped.execute_in(key, || ())?; // waits while the pool has 1 000 stripes
        if key % 1_000 == 0 {
            most = most.max(striped.stats().stripes);
        }
    }
    striped.close();
    println!("keys: {}, stripes seen at once: {most}", striped.stats().completed);
    println!("stripes at the end: {}", striped.stats().stripes);
    // ANCHOR_END: idle
    Ok(())
}
