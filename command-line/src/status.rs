//! Exit statuses that have the same meaning in several programs. 0 is [`ExitCode::SUCCESS`]. A program that has others names them
//! itself.

use crate::output::say;
use std::process::ExitCode;

/// The program has failed.
pub const FAILED: u8 = 1;

/// The command line is wrong, as clap says it.
pub const WRONG_USAGE: u8 = 2;

/// The program has failed, and its status 1 is an answer, as with `grep`: it has found nothing.
pub const TROUBLE: u8 = 2;

/// The program has come to its end, but something is missing from what it made.
pub const GAPS: u8 = 3;

/// A signal has stopped the program: 128 and the number of SIGINT, as shells count.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit status of a program. An error becomes a sentence on standard error, and the exit status `failed`.
pub fn ended(name: &str, failed: u8, program: anyhow::Result<ExitCode>) -> ExitCode {
    program.unwrap_or_else(|error| {
        say(format_args!("{name}: {error:#}"));
        ExitCode::from(failed)
    })
}
