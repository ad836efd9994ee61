//! What the mail check does around its lesson: files and output.

use super::{Account, accounts};
use anyhow::Context;
use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Reads a hosts file, and prints its warnings to standard error.
///
/// # Errors
/// The first mistake in it.
pub fn read(hosts: &Path) -> anyhow::Result<Vec<Arc<Account>>> {
    let env = |name: &str| Some(env::var_os(name)?.into_encoded_bytes());
    let read = accounts::read(hosts, env).with_context(|| hosts.display().to_string())?;
    for warning in read.warnings {
        eprintln!("mailcheck: {}: {warning}", hosts.display());
    }
    Ok(read.accounts)
}

/// Prints a text to standard output. That its reader has closed it is no error.
///
/// # Errors
/// If it cannot be written for another reason.
pub fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the answers cannot be printed"),
    }
}
