//! Shows three ways to give a task a time limit. For each way, the example shows a usual mistake and its
//! cure.
//!
//! ```sh
//! cargo run --example timed_run -- caller     # on the caller's own thread
//! cargo run --example timed_run -- thread     # on a thread of its own, with a timed join
//! cargo run --example timed_run -- executor   # on an executor
//! ```
//!
//! The book explains this example in the chapter "Timed run".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod on_an_executor;
mod on_its_own_thread;
mod on_the_callers_thread;

mod a_page; // uses of each of them
mod flights;
mod three_tasks;

use std::error::Error;
use std::time::Duration;

/// The time limit of the tasks that take longer than the limit.
const LIMIT: Duration = Duration::from_millis(10);
/// The time limit of the tasks that end long before the limit.
const A_MINUTE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("caller") => a_page::show()?,
        Some("thread") => three_tasks::show(),
        Some("executor") => flights::show(),
        _ => {
            eprintln!("say which: caller, thread or executor");
            std::process::exit(2);
        }
    }
    Ok(())
}
