//! The engine: one connection, which is reopened after it breaks, and an error message for each way in which
//! the engine can fail.

use anyhow::{anyhow, bail};
use redis::{Client, Cmd, Connection, ErrorKind, FromRedisValue, RedisError, cmd, pipe};
use std::time::Duration;
#[cfg(feature = "tls")]
use std::{error::Error, io, sync::Arc};

const SCRIPT: &str = include_str!("script.lua");

/// The time limits for opening a connection, and for an answer.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);

/// The checksum by which the engine identifies the script.
pub(super) struct Engine {
    client: Client,
    connection: Option<Connection>,
    /// The checksum that identifies the script in the engine.
    sum: Option<String>,
    /// Host and port, for messages to people.
    name: String,
    /// The prefix of the keys of the crawl. The braces in the prefix keep all keys on one machine of a
    /// cluster.
    pub(super) prefix: String,
}

/// The reason why the engine gives no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The problem may disappear by itself.
    Passing(String),
    /// The engine refuses this process until the engine's operator changes something.
    Closed(String),
    /// The problem ends the run.
    Lasting(String),
}

impl Trouble {
    pub(super) fn sentence(&self) -> &str {
        let (Trouble::Passing(sentence) | Trouble::Closed(sentence) | Trouble::Lasting(sentence)) = self;
        sentence
    }
}

impl Engine {
    /// Returns the engine at an address such as `redis://USER:PASSWORD@HOST:6379/0`, for the given crawl.
    /// This function only parses the address and sends nothing.
    ///
    /// # Errors
    /// Fails if the address is not valid.
    pub(super) fn at(url: &str, crawl: &str) -> anyhow::Result<Engine> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if crawl.is_empty() || !crawl.chars().all(is_name) {
            bail!("--crawl {crawl:?}: a name has letters, digits, '.', '_' and '-'");
        }
        if !cfg!(feature = "tls") && (url.starts_with("rediss:") || url.starts_with("valkeys:")) {
            bail!("--frontier: TLS needs a program that was built with `--features redis,tls`");
        }
        let client = Client::open(url).map_err(|error| anyhow!("--frontier: {error}"))?;
        let name = client.get_connection_info().addr().to_string();
        Ok(Engine { client, connection: None, sum: None, name, prefix: format!("{{{crawl}}}:") })
    }

    /// Runs the script in the engine. The call takes one round trip, unless the engine does not know the
    /// script.
    pub(super) fn step(&mut self, request: &str) -> Result<String, Trouble> {
        let first = match self.sum.clone() {
            Some(sum) => self.eval(&sum, request),
            None => self.load().and_then(|sum| self.eval(&sum, request)),
        };
        let is_unknown = |error: &RedisError| error.code() == Some("NOSCRIPT");
        match first {
            Err(error) if is_unknown(&error) => {
                self.load().and_then(|sum| self.eval(&sum, request)).map_err(|error| self.trouble(&error))
            }
            first => first.map_err(|error| self.trouble(&error)),
        }
    }

    fn load(&mut self) -> Result<String, RedisError> {
        let sum: String = self.query(cmd("SCRIPT").arg("LOAD").arg(SCRIPT))?;
        self.sum = Some(sum.clone());
        Ok(sum)
    }

    fn eval(&mut self, sum: &str, request: &str) -> Result<String, RedisError> {
        let prefix = self.prefix.clone();
        self.query(cmd("EVALSHA").arg(sum).arg(1).arg(prefix).arg(request))
    }

    /// Sends one command that is about a key of the crawl.
    pub(super) fn ask<T: FromRedisValue>(
        &mut self,
        name: &str,
        key: &str,
        args: &[&str],
    ) -> Result<T, Trouble> {
        let key = format!("{}{key}", self.prefix);
        self.query(cmd(name).arg(key).arg(args)).map_err(|error| self.trouble(&error))
    }

    /// Each pair in `members` has the name of a set of the crawl and a value; returns, for each pair, whether
    /// the set has the value. The call takes one round trip.
    pub(super) fn are_members(&mut self, members: &[(String, String)]) -> Result<Vec<bool>, Trouble> {
        let mut questions = pipe();
        for (set, member) in members {
            questions.cmd("SISMEMBER").arg(format!("{}{set}", self.prefix)).arg(member);
        }
        self.connected(|connection| questions.query(connection)).map_err(|error| self.trouble(&error))
    }

    /// Returns the time of the engine, in milliseconds since 1970.
    pub(super) fn now(&mut self) -> Result<u64, Trouble> {
        let (seconds, micros): (u64, u64) = self.query(&cmd("TIME")).map_err(|error| self.trouble(&error))?;
        Ok(seconds * 1000 + micros / 1000)
    }

    fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, RedisError> {
        self.connected(|connection| command.query(connection))
    }

    /// Calls a function with the connection. After most errors the connection is closed, because otherwise a
    /// late answer could be mistaken for the answer to the next request.
    fn connected<T>(
        &mut self,
        ask: impl FnOnce(&mut Connection) -> Result<T, RedisError>,
    ) -> Result<T, RedisError> {
        let mut connection = if let Some(connection) = self.connection.take() {
            connection
        } else {
            let connection = self.client.get_connection_with_timeout(CONNECT)?;
            connection.set_read_timeout(Some(ANSWER))?;
            connection.set_write_timeout(Some(ANSWER))?;
            connection
        };
        let answer = ask(&mut connection);
        let is_usable = answer
            .as_ref()
            .err()
            .is_none_or(|error| matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension));
        self.connection = Some(connection).filter(|_| is_usable);
        answer
    }

    fn trouble(&self, error: &RedisError) -> Trouble {
        let name = &self.name;
        if let Some(why) = distrust(error) {
            return Trouble::Closed(format!("the engine at {name} cannot be trusted: {why}"));
        }
        let what = match (error.code(), error.kind()) {
            _ if error.is_timeout() => "does not answer in time".to_owned(),
            (_, ErrorKind::Io) => format!("cannot be reached ({error})"),
            (Some("LOADING"), _) => "has just started, and is reading its data".to_owned(),
            (Some("OOM"), _) => {
                "is full: give it more memory (maxmemory), or delete another crawl".to_owned()
            }
            (Some("READONLY"), _) => "is a copy of another one, and takes nothing: name that one".to_owned(),
            (Some("MISCONF"), _) => "cannot write to its disk, so it takes nothing".to_owned(),
            (Some("MASTERDOWN" | "CLUSTERDOWN" | "NOREPLICAS" | "TRYAGAIN" | "BUSY"), _) => {
                format!("is not ready ({error})")
            }
            _ if error.to_string().contains("max number of clients") => {
                "has no room for another client".to_owned()
            }
            (Some("NOAUTH" | "WRONGPASS" | "NOPERM"), _) | (_, ErrorKind::AuthenticationFailed) => {
                return Trouble::Closed(format!(
                    "the engine at {name} does not let this crawl in: is the password in --frontier right? ({error})"
                ));
            }
            (Some("GONE"), _) => {
                return Trouble::Lasting(format!(
                    "the crawl is no longer in the engine at {name}: it was deleted, or the engine has started without its data"
                ));
            }
            _ => return Trouble::Lasting(format!("the engine at {name} has refused: {error}")),
        };
        Trouble::Passing(format!("the engine at {name} {what}"))
    }
}

/// If the error is a certificate error, returns what is wrong with the engine's certificate.
#[cfg(feature = "tls")]
fn distrust(error: &RedisError) -> Option<String> {
    let cause = error.source()?.downcast_ref::<Arc<dyn Error + Send + Sync>>()?;
    let cause = cause.downcast_ref::<io::Error>()?.get_ref()?;
    hypertext_http::trust::distrust(cause.downcast_ref()?)
}

#[cfg(not(feature = "tls"))]
fn distrust(_: &RedisError) -> Option<String> {
    None
}
