//! Merge sort with tasks, in six ways: three of the ways are wrong, and three are right.
//!
//! ```sh
//! cargo run --example merge_sort -- plain
//! ```
//!
//! The example also has the arguments `swallow`, `spin`, `help`, `fork_join` and `library`, and the argument
//! `stats`, which prints the pool's statistics after a sort.
//!
//! The book explains this example in two chapters: Divide and conquer, Work stealing.

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod input; // the numbers to sort
mod merge; // two sorted halves become one
mod halves; // each half a task of its own
mod on_top; // tasks on top of tasks

mod plain; // joins its halves
mod swallow; // ignores failed joins, and merges the list as it is
mod spin; // asks again and again until its halves are done
mod help; // runs other tasks while it waits
mod fork_join; // a join runs other tasks while it waits
mod library; // calls a library that does the whole sort
mod stats; // steals of a sort

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("plain") => plain::show(),
        Some("swallow") => swallow::show(),
        Some("spin") => spin::show(),
        Some("help") => help::show(),
        Some("fork_join") => fork_join::show(),
        Some("library") => {
            library::show();
            Ok(())
        }
        Some("stats") => stats::show(),
        _ => {
            eprintln!("say which: plain, swallow, spin, help, fork_join, library, stats");
            std::process::exit(2);
        }
    }
}
