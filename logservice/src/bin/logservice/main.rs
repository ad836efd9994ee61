//! The log service on the command line: runs a load test, or follows a log file.
//!
//! ```text
//! cargo run --release --bin logservice -- load --threads 4 --messages 250000
//! ```

mod follow;
mod load;

use clap::{Parser, Subcommand};
use command_line::FAILED;
use std::process::ExitCode;

/// A log service: it writes lines from many threads to one place, and loses no line that it has accepted.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(load::LoadArgs),
    Follow(follow::FollowArgs),
}

fn main() -> ExitCode {
    let ended = match Args::parse().command {
        Command::Load(args) => load::run(&args),
        Command::Follow(args) => follow::run(&args),
    };
    command_line::ended("logservice", FAILED, ended)
}
