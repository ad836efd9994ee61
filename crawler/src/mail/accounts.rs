//! The hosts file: the list of accounts.
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```
//!
//! A message about a mistake in the file names a line and says what the line should contain. The message
//! never shows the text in the file, because this text may be a password.

use super::account::{Account, Login, Protocol, Security, usual_port};
use super::secret::Secret;
use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// A hosts file that explains all possible entries.
pub const EXAMPLE: &str = include_str!("example.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hosts {
    account: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Text,
    host: Text,
    port: Option<NonZeroU16>,
    protocol: Protocol,
    #[serde(default)]
    security: Security,
    user: Text,
    password_file: Option<PathBuf>,
    password_env: Option<String>,
    token_file: Option<PathBuf>,
    folder: Option<Text>,
    #[serde(default)]
    allow_plain_password: bool,
    ca: Option<PathBuf>,
}

/// A text that can be shown and sent: it is not empty and has no control characters.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Text(String);

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Text, &'static str> {
        let is_shown = !text.is_empty() && !text.contains(char::is_control);
        if is_shown { Ok(Text(text)) } else { Err("it is empty, or has more than one line") }
    }
}

/// Reads a hosts file, and also the passwords to which the file refers. `env` looks up the passwords that
/// come from the environment.
///
/// # Errors
/// Returns the first mistake in the file.
pub fn read(path: &Path, env: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Vec<Arc<Account>>> {
    let text = fs::read_to_string(path).context("it cannot be read")?;
    let line = |at: usize| text.as_bytes()[..at.min(text.len())].split(|&byte| byte == b'\n').count();
    let hosts: Hosts = toml::from_str(&text).map_err(|error| {
        let at = error.span().unwrap_or_default().start;
        anyhow!("line {}: {}", line(at), explained(error.message()))
    })?;
    if hosts.account.is_empty() {
        bail!("it has no accounts: each begins with a line [[account]]");
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let account = |entry: Spanned<Entry>| {
        let line = line(entry.span().start);
        let account = entry.into_inner().account(folder, &env);
        account.map(Arc::new).map_err(|why| anyhow!("the account in line {line}: {why}"))
    };
    hosts.account.into_iter().map(account).collect()
}

/// Explains a parser error, and leaves out the parser's own words if these words could contain a text of the
/// file.
fn explained(message: &str) -> String {
    if let Some(key) = message.strip_prefix("missing field ") {
        format!("{key} is missing")
    } else if message.starts_with("unknown field `password`") {
        "a password does not belong in this file: write it to a file of its own, which `password_file` names, or to \
         an environment variable, which `password_env` names"
            .to_owned()
    } else {
        "this is not what can stand here: `mailcheck --help` has an example".to_owned()
    }
}

impl Entry {
    fn account(self, folder: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> anyhow::Result<Account> {
        let of_file = |key, path| {
            let secret = File::open(folder.join(path)).and_then(Secret::read);
            secret
                .map_err(|error| anyhow!("the file that `{key}` names cannot be read: {}", error.kind()))
                .and_then(|secret| sendable(key, secret))
        };
        let login = match (self.password_file, self.password_env, self.token_file) {
            (Some(path), None, None) => Login::Password(of_file("password_file", path)?),
            (None, Some(name), None) => {
                let password = env(&name).context("the environment variable of `password_env` is not set")?;
                Login::Password(sendable("password_env", Secret::new(password.into_encoded_bytes()))?)
            }
            (None, None, Some(path)) => Login::Token(of_file("token_file", path)?),
            _ => bail!("it needs one of password_file, password_env and token_file"),
        };
        Ok(Account {
            name: self.name.0,
            host: self.host.0,
            port: self.port.map_or_else(|| usual_port(self.protocol, self.security), NonZeroU16::get),
            protocol: self.protocol,
            security: self.security,
            user: self.user.0,
            login,
            folder: self.folder.map_or_else(|| "INBOX".to_owned(), |folder| folder.0),
            allow_plain_password: self.allow_plain_password,
            ca: self.ca.map(|path| folder.join(path)),
        })
    }
}

fn sendable(key: &str, secret: Secret) -> anyhow::Result<Secret> {
    match secret.fault() {
        Some(fault) => bail!("what `{key}` names {fault}"),
        None => Ok(secret),
    }
}
