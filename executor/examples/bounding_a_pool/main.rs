//! Limits the number of tasks in an executor; this executor refuses tasks, discards tasks, or is shut down.
//!
//! ```sh
//! cargo run --example bounding_a_pool -- classic   # loses its permits
//! cargo run --example bounding_a_pool -- ours
//! ```
//!
//! The example also has the arguments `waiting` and `ends`.
//!
//! The book explains this example in the chapter "Bounding a pool".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod classic; // a semaphore and a wrapped task
mod trials; // what can happen to a task

mod ours; // other features of a bound

use executor::{BoundedExecutor, ManualExecutor};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("classic") => trials::all(classic::Classic::new(ManualExecutor::new(), 2)),
        Some("ours") => trials::all(BoundedExecutor::over(ManualExecutor::new(), 2)),
        Some("waiting") => ours::waiting()?,
        Some("ends") => ours::ends(),
        _ => {
            eprintln!("say which: classic, ours, waiting, ends");
            std::process::exit(2);
        }
    }
    Ok(())
}
