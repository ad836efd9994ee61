//! The hosts file: which accounts there are.
//!
//! ```toml
#![doc = include_str!("example.toml")]
//! ```
//!
//! A message about a mistake in the file names a line and says what should stand there. It never shows the
//! text that does stand there, even where that would help: it may be a password.

use super::account::{Account, Login, Protocol, Security, usual_port};
use super::secret::Secret;
use anyhow::{Context, anyhow, bail};
use command_line::say;
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::collections::HashMap;
use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::num::NonZeroU16;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A hosts file that says what can stand in one.
pub const EXAMPLE: &str = include_str!("example.toml");

/// Bytes that a hosts file may have, and accounts in it.
const LONGEST_FILE: u64 = 1 << 20;
const MOST_ACCOUNTS: usize = 1000;

/// The keys that an account may have.
const KEYS: &str = "name, host, port, protocol, security, user, password_file, password_env, token_file, token_command, \
                    folder, allow_plain_password, ca";

/// The keys of which an account has exactly one.
const LOGINS: [&str; 4] = ["password_file", "password_env", "token_file", "token_command"];

/// The accounts of a hosts file.
#[derive(Debug)]
pub struct Accounts {
    /// The accounts, in the order of the file.
    pub accounts: Vec<Arc<Account>>,
    /// Settings that work, but are dangerous: a sentence for each.
    pub warnings: Vec<String>,
}

/// Reads a hosts file and the passwords that it names, and says its warnings on standard error.
///
/// # Errors
/// The first mistake in it.
pub fn read_and_warn(hosts: &Path) -> anyhow::Result<Vec<Arc<Account>>> {
    let env = |name: &str| Some(env::var_os(name)?.into_encoded_bytes());
    let read = read(hosts, env).with_context(|| hosts.display().to_string())?;
    for warning in read.warnings {
        say(format_args!("mailcheck: {}: {warning}", hosts.display()));
    }
    Ok(read.accounts)
}

/// Reads a hosts file and the passwords that it names. `env` gives the passwords from the environment.
///
/// # Errors
/// The first mistake in it.
pub fn read(path: &Path, env: impl Fn(&str) -> Option<Vec<u8>>) -> anyhow::Result<Accounts> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST_FILE + 1).read_to_string(&mut text))
        .map_err(|error| anyhow!("it cannot be read: {error}"))?;
    if text.len() as u64 > LONGEST_FILE {
        bail!("it is longer than a mebibyte");
    }
    let file = Source { text: &text, folder: path.parent().unwrap_or(Path::new("")), env: &env };
    file.accounts()
}

/// A hosts file that is being read.
struct Source<'a> {
    text: &'a str,
    /// The folder to which paths in the file are relative.
    folder: &'a Path,
    env: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

/// An account of the file.
struct Entry<'a> {
    source: &'a Source<'a>,
    table: &'a DeTable<'a>,
    /// The place of the account in the file.
    span: Range<usize>,
}

impl Source<'_> {
    fn accounts(&self) -> anyhow::Result<Accounts> {
        // The parser's own message would show the line.
        let root = DeTable::parse(self.text).map_err(|error| {
            let what = "this is no TOML: texts need quotes, and each key stands once in its account";
            self.error(error.span().unwrap_or(0..0), what)
        })?;
        let mut entries: &[Spanned<DeValue<'_>>] = &[];
        for (key, value) in root.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("account", DeValue::Array(accounts)) => entries = accounts,
                _ => {
                    return Err(self.error(
                        key.span(),
                        "a hosts file has nothing but accounts: each begins with a line [[account]]",
                    ));
                }
            }
        }
        if entries.is_empty() || entries.len() > MOST_ACCOUNTS {
            bail!("it must have from 1 to {MOST_ACCOUNTS} accounts; each begins with a line [[account]]");
        }
        let (mut accounts, mut warnings, mut names) = (Vec::new(), Vec::new(), HashMap::new());
        for entry in entries {
            let DeValue::Table(table) = entry.get_ref() else {
                return Err(self.error(entry.span(), "an account begins with a line [[account]]"));
            };
            let entry = Entry { source: self, table, span: entry.span() };
            let account = entry.account(&mut warnings)?;
            let line = self.line(&entry.span_of("name"));
            if let Some(first) = names.insert(account.name.clone(), line) {
                bail!("line {line}: the account in line {first} has this name already");
            }
            accounts.push(Arc::new(account));
        }
        Ok(Accounts { accounts, warnings })
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        before.split(|&byte| byte == b'\n').count()
    }

    fn error(&self, span: Range<usize>, what: impl fmt::Display) -> anyhow::Error {
        anyhow!("line {}: {what}", self.line(&span))
    }
}

impl Entry<'_> {
    fn account(&self, warnings: &mut Vec<String>) -> anyhow::Result<Account> {
        self.check_keys()?;
        let protocol =
            self.value("protocol", "\"imap\" or \"pop3\"")?.ok_or_else(|| self.missing("protocol"))?;
        let security =
            self.value("security", "\"tls\" or \"starttls\" or \"plain\"")?.unwrap_or(Security::Tls);
        let port = self.value("port", "a number from 1 to 65535, without quotes")?.map(NonZeroU16::get);
        let allow_plain_password = self.value("allow_plain_password", "true or false, without quotes")?;
        let folder = self.text("folder")?;
        if folder.is_some() && protocol == Protocol::Pop3 {
            return Err(self.error("folder", "POP3 knows no folders: leave `folder` out"));
        }
        Ok(Account {
            name: self.needed("name")?,
            host: self.needed("host")?,
            port: port.unwrap_or_else(|| usual_port(protocol, security)),
            protocol,
            security,
            user: self.needed("user")?,
            folder: folder.unwrap_or_else(|| "INBOX".to_owned()),
            allow_plain_password: allow_plain_password.unwrap_or(false),
            ca: self.text("ca")?.map(|path| self.source.folder.join(path)),
            login: self.login(warnings)?,
        })
    }

    fn check_keys(&self) -> anyhow::Result<()> {
        let is_unknown = |key: &&Spanned<_>| !KEYS.split(", ").any(|known| key.get_ref() == known);
        let Some(key) = self.table.keys().find(is_unknown) else { return Ok(()) };
        let what = if key.get_ref() == "password" {
            "a password does not belong in this file: write it to a file of its own, which `password_file` names, or to an \
             environment variable, which `password_env` names"
        } else {
            &format!("there is no such key; those of an account are {KEYS}")
        };
        Err(self.source.error(key.span(), what))
    }

    /// The value of a key, which must be `what`.
    fn value<T: DeserializeOwned>(&self, key: &str, what: &str) -> anyhow::Result<Option<T>> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let read = T::deserialize(value.clone().into_deserializer());
        // The library's own message would show the value.
        read.map(Some).map_err(|_| self.error(key, &format!("`{key}` must be {what}")))
    }

    /// A text that can be shown and sent: not empty, and without control characters.
    fn text(&self, key: &str) -> anyhow::Result<Option<String>> {
        let what = "a text in quotes, of at least one character, on one line";
        match self.value::<String>(key, what)? {
            Some(text) if text.is_empty() || text.contains(char::is_control) => {
                Err(self.error(key, &format!("`{key}` must be {what}")))
            }
            text => Ok(text),
        }
    }

    fn needed(&self, key: &str) -> anyhow::Result<String> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    fn login(&self, warnings: &mut Vec<String>) -> anyhow::Result<Login> {
        let given: Vec<_> = LOGINS.into_iter().filter(|key| self.table.contains_key(*key)).collect();
        let key = match given[..] {
            [] => return Err(self.missing(&LOGINS.join("` or `"))),
            [key] => key,
            [first, _, ..] => {
                return Err(
                    self.error(first, &format!("an account has one of {}, and no other", LOGINS.join(", ")))
                );
            }
        };
        if key == "token_command" {
            let what = "a list of texts: a program, and its arguments if it needs some";
            let command = self.value(key, what)?.filter(|command: &Vec<_>| !command.is_empty());
            return command
                .map(Login::TokenCommand)
                .ok_or_else(|| self.error(key, &format!("`{key}` must be {what}")));
        }
        let named = self.needed(key)?;
        let secret = match key {
            "password_env" => (self.source.env)(&named).map(Secret::new).ok_or_else(|| {
                self.error(key, &format!("the environment variable that `{key}` names is not set"))
            })?,
            _ => self.secret_of_file(key, &named, warnings)?,
        };
        match secret.fault() {
            Some(fault) => Err(self.error(key, &format!("what `{key}` names {fault}"))),
            None if key == "token_file" => Ok(Login::Token(secret)),
            None => Ok(Login::Password(secret)),
        }
    }

    fn secret_of_file(&self, key: &str, path: &str, warnings: &mut Vec<String>) -> anyhow::Result<Secret> {
        let path = self.source.folder.join(path);
        let secret = File::open(&path).and_then(Secret::read).map_err(|error| {
            self.error(key, &format!("the file that `{key}` names cannot be read: {}", error.kind()))
        })?;
        if others_may_read(&path) {
            let line = self.source.line(&self.span_of(key));
            warnings
                .push(format!("line {line}: others may read the file that `{key}` names: chmod 600 helps"));
        }
        Ok(secret)
    }

    fn span_of(&self, key: &str) -> Range<usize> {
        let named = self.table.iter().find(|(name, _)| name.get_ref() == key);
        named.map_or(self.span.clone(), |(name, _)| name.span())
    }

    fn error(&self, key: &str, what: &str) -> anyhow::Error {
        self.source.error(self.span_of(key), what)
    }

    fn missing(&self, key: &str) -> anyhow::Error {
        self.source.error(self.span.clone(), format!("this account needs `{key}`"))
    }
}

#[cfg(unix)]
fn others_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o044 != 0)
}

/// On other systems the rights of the folder count, which are harder to read.
#[cfg(not(unix))]
fn others_may_read(_: &Path) -> bool {
    false
}
