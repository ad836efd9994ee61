//! What the mail check does beside its lesson: it reads the hosts file.

use super::{Account, accounts};
use anyhow::Context;
use command_line::say;
use std::env;
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
        say(format_args!("mailcheck: {}: {warning}", hosts.display()));
    }
    Ok(read.accounts)
}
