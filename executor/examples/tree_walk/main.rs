//! A parallel walk through a tree: the caller gets each result as soon as a task has found it. A latch opens
//! when all results have been found.
//!
//! ```sh
//! cargo run --example tree_walk
//! ```
//!
//! The book explains this example in the chapter "Loops and recursion".

#![allow(unreachable_pub)] // the module is written like a module of a library

mod walk;

use executor::{ManualExecutor, ThreadPoolExecutor};
use std::{error::Error, sync::Arc};
use walk::{start, walk};

// ANCHOR: main
fn main() -> Result<(), Box<dyn Error>> {
    let mut results = Vec::new();
    walk(1, &mut results);
    println!("recursion:   {results:?}");

    let by_hand = Arc::new(ManualExecutor::new());
    let (all_done, come) = start(by_hand.clone());
    while by_hand.run_next().is_some() {
        println!(
            "result {:?}, folders to come: {}, latch: {}",
            come.recv()?,
            by_hand.pending().len(),
            all_done.count()
        );
    }

    let (all_done, come) = start(Arc::new(ThreadPoolExecutor::fixed(2)));
    all_done.wait()?;
    let mut results: Vec<_> = come.iter().collect();
    results.sort_unstable();
    println!("on a pool:   {results:?}, sorted");
    Ok(())
}
// ANCHOR_END: main
