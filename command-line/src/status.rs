//! Exit statuses that have the same meaning in several programs. Status 0 is [`ExitCode::SUCCESS`]. A
//! program that uses other statuses defines them itself.

use crate::output::say;
use std::process::ExitCode;

/// The program has failed with an error.
pub const FAILED: u8 = 1;

/// The command line is wrong; clap also uses this status.
pub const WRONG_USAGE: u8 = 2;

/// The program has failed, but status 1 has another meaning: as with `grep`, status 1 means that
/// nothing was found.
pub const TROUBLE: u8 = 2;

/// The program has finished, but its result is incomplete.
pub const GAPS: u8 = 3;

/// A signal has stopped the program, which has ended gracefully: the status is 128 plus the number of SIGINT,
/// as in shells, whichever signal it was.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit status of a program from its result. An error is printed as a sentence on standard
/// error, and the exit status is `failed`.
pub fn ended(name: &str, failed: u8, program: anyhow::Result<ExitCode>) -> ExitCode {
    program.unwrap_or_else(|error| {
        say(format_args!("{name}: {error:#}"));
        ExitCode::from(failed)
    })
}
