//! The log service as a program.
//!
//! ```sh
//! cargo run -p logservice -- road            # every step of the road, and its fault
//! cargo run -p logservice -- road --step 2   # one of them
//! ```
//!
//! The book's chapters: A service that outlives its clients; Stopping producers and consumers.

mod road;

use clap::{Parser, Subcommand};

/// The log service: the road to it.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Road(road::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Road(args) => road::run(&args),
    }
}
