//! A page waits for its header and its footer. The header and the footer are tasks of a pool whose only
//! thread draws the page.
//!
//! ```sh
//! cargo run --example starving_page                # the report of the library
//! cargo run --example starving_page -- other_pool  # the cure
//! ```
//!
//! The example also has the arguments `before`, `own_thread`, `unread`, `circle`, `help`, `spare` and
//! `hand_off`.
//!
//! The book explains this example in the chapter "Tasks that wait for tasks".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod page; // the page and its parts

mod circle; // a page that waits for a task of another pool
mod cures; // ways to get the page drawn
mod said; // the report, and its reader

use executor::{ThreadPoolBuilder, ThreadPoolExecutor};
use std::error::Error;

/// A pool of one thread.
fn renderer() -> ThreadPoolBuilder {
    ThreadPoolExecutor::builder().name("renderer")
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None | Some("") => said::report(),
        Some("before") => said::before(),
        Some("unread") => said::unread(),
        Some("circle") => circle::report(),
        Some("own_thread") => cures::own_thread(),
        Some("other_pool") => cures::other_pool(),
        Some("hand_off") => cures::hand_off(),
        Some("help") => cures::help(),
        Some("spare") => cures::spare(),
        _ => {
            eprintln!(
                "say which: before, own_thread, unread, circle, help, spare, other_pool, hand_off, or nothing"
            );
            std::process::exit(2);
        }
    }
}
