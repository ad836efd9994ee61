//! Three ways to make primes until the caller has enough of them. Each way shows how the caller stops the
//! work.
//!
//! ```sh
//! cargo run --example primes -- generator
//! cargo run --example primes -- broken
//! cargo run --example primes -- producer
//! ```
//!
//! The book explains this example in the chapter "A flag is not enough".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod broken_producer;
mod generator;
mod producer;

use std::error::Error;

fn primes() -> impl Iterator<Item = u64> {
    (2_u64..).filter(|n| (2..=n.isqrt()).all(|divisor| n % divisor != 0))
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("generator") => generator::show(),
        Some("broken") => broken_producer::show(),
        Some("producer") => producer::show(),
        _ => {
            eprintln!("say which: generator, broken or producer");
            std::process::exit(2);
        }
    }
}
