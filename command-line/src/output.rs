//! Writes text to standard output and standard error.

use anyhow::Context;
use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Prints a text to standard output. A pipe that its reader has closed is not an error: the reader has
/// read enough.
///
/// # Errors
/// Returns an error if the text cannot be written for another reason, such as a full disk.
pub fn print(text: impl fmt::Display) -> anyhow::Result<()> {
    let (text, mut out) = (text.to_string(), io::stdout().lock());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the output cannot be written"),
    }
}

/// Prints a line to standard error. An error is ignored, because the program has no other place to
/// report it.
pub fn say(line: impl fmt::Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}
