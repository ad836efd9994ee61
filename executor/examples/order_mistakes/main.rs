//! Shows wrong ways to keep tasks in order, and compares each with the library's way.
//!
//! ```sh
//! cargo run --example order_mistakes -- flag
//! ```
//!
//! The example also has the arguments `lanes`, `queue`, `locked_wait` and `wrappers`.
//!
//! The book explains this example in the chapter "Order without a lock".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod at_once; // how many tasks run at once
mod line; // each task starts the next

mod at_the_end; // one waits while it holds the lock, one returns wrappers
mod flag; // left set by a task that dies

mod lanes; // a thread for each group of stripes
mod past_the_queue; // a pool that does not always ask its queue
mod queue; // a queue that knows the stripes

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("lanes") => lanes::show(),
        Some("queue") => past_the_queue::show(),
        Some("flag") => flag::show(),
        Some("locked_wait") => at_the_end::locked_wait(),
        Some("wrappers") => at_the_end::wrappers(),
        _ => {
            eprintln!("say which: lanes, queue, flag, locked_wait, wrappers");
            std::process::exit(2);
        }
    }
}
