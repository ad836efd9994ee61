//! Sliding-block puzzles, searched by one thread and by many tasks.
//!
//! ```sh
//! cargo run --example puzzle -- moves              # the solution of Klotski
//! cargo run --example puzzle -- ways               # how long it is by each way to search
//! cargo run --example puzzle -- none               # a puzzle without solution
//! cargo run --release --example puzzle -- stop     # a time limit, a bound on memory
//! cargo run --release --example puzzle -- measure  # takes minutes
//! ```
//!
//! The book explains this example in the chapter "Searching".

#![allow(unreachable_pub)] // the modules are written like modules of a library

/// The types that a model checker replaces by its own types.
mod door {
    pub(crate) use std::sync;
}

mod puzzle; // positions and moves of any puzzle
mod blocks; // a board, and how it is packed into a word
mod slide; // blocks that move
mod moves; // a board is a puzzle
mod puzzles; // three boards
mod way; // a solution, board by board
mod text; // in a terminal
mod picture; // as SVG

mod mix; // a quick hash function
mod entry; // the record of a position
mod seen; // the positions that were seen
mod unfinished; // why a search has no answer
mod end; // how a search ends
mod under_way; // the tasks that are still to end
mod search; // the search on one thread
mod classic; // a task for each position: hangs if there is no solution
mod counted; // a task for each position, and a count: it notices when there is no solution
mod batches; // many positions for each task
mod levels; // a shortest solution

mod trials; // how long the solution is
mod hopeless; // a puzzle without solution
mod big; // a puzzle of sixteen million positions

use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    match (env::args().nth(1).as_deref(), env::args().nth(2)) {
        (Some("moves"), _) => text::print(&trials::solution()?),
        (Some("picture"), Some(file)) => fs::write(file, picture::of(&trials::solution()?))?,
        (Some("ways"), _) => trials::ways()?,
        (Some("none"), _) => hopeless::none(),
        (Some("stop"), _) => big::stop(),
        (Some("measure"), _) => big::measure(),
        _ => text::say_which(),
    }
    Ok(())
}
