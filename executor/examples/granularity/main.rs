//! Shows how small the pieces of a computation should be. The example computes a sum with each threshold, in
//! three ways: by `join`, by `fork`, and on a pool that does not steal.
//!
//! ```sh
//! cargo run --example granularity -- counts
//! cargo run --release --example granularity -- neighbours
//! cargo run --release --example granularity -- sweep target/granularity.svg
//! ```
//!
//! The book explains this example in the chapter "Granularity".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod ways; // ways to add the elements
mod counts; // how many pieces there are
mod neighbours; // which numbers a piece has
mod plot; // curves as SVG
mod sweep; // all thresholds

use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    match (env::args().nth(1).as_deref(), env::args().nth(2)) {
        (Some("counts"), _) => counts::print(),
        (Some("neighbours"), _) => neighbours::print()?,
        (Some("sweep"), Some(file)) => fs::write(file, sweep::sweep())?,
        _ => {
            eprintln!("say which: counts, neighbours, sweep FILE");
            std::process::exit(2);
        }
    }
    Ok(())
}
