//! Shows two wrong ways and two right ways to write a step that must not be interrupted half-way.
//!
//! ```sh
//! cargo run --example non_cancelable_task -- retries
//! cargo run --example non_cancelable_task -- half_way
//! cargo run --example non_cancelable_task -- masked
//! cargo run --example non_cancelable_task -- limit
//! ```
//!
//! The book explains this example in the chapter "Cancellation policies".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod half_way;
mod limit;
mod retries;
mod whole;

use std::error::Error;

/// A task is represented by its name.
pub type Task = &'static str;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("retries") => retries::cancelled_before(retries::next_task),
        Some("half_way") => half_way::cancelled_between(half_way::move_one),
        Some("masked") => {
            retries::cancelled_before(whole::next_task)?;
            half_way::cancelled_between(whole::move_one)
        }
        Some("limit") => limit::limits(),
        _ => {
            eprintln!("say which: retries, half_way, masked or limit");
            std::process::exit(2);
        }
    }
}
