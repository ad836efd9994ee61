//! How many new messages an account has: asking mail servers by IMAP and POP3.
//!
//! [`ask`] asks for one account, on the calling thread, and can be cancelled at every step. The program
//! `mailcheck` asks many accounts at once within one deadline. [`listing`] does so with two faults.
//!
//! ```text
//!   hosts file ─accounts::read─▶ Account ─ask─▶ Answer: how many new messages, or why it failed
//!                                          │
//!                                          ├ get a token         if a program prints it: a cancel kills it
//!                                          ├ look up the host    on a thread of its own
//!                                          ├ connect             sleeps on the token
//!                                          └ greeting, TLS, log in, count      the token closes the socket
//! ```
//!
//! # What is never done
//!
//! 1. A password or a token is not sent over a connection that is not encrypted, unless the account allows
//!    it.
//! 2. An account with STARTTLS is never asked without it: if the server does not offer STARTTLS, the account
//!    fails. What the server said before TLS is forgotten, and unexpected bytes before TLS end the session.
//! 3. A password or a token is not printed, not even if the server sends it back. Every text that leaves this
//!    module has been cleaned of it.

mod account;
pub mod accounts;
mod connect;
pub mod demo;
mod folder;
mod imap;
pub mod listing;
mod oauth;
mod pop3;
pub mod program;
pub mod report;
mod secret;
mod threads;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod wire;

pub use account::{Account, Login, Protocol, Security};
pub use secret::Secret;
pub use threads::Threads;
pub use tls::Identity;

use executor::{CancelToken, CancellableStream, Cancelled};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use wire::Wire;

/// What is known of an account's mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There are this many new messages.
    New(u64),
    /// No new message.
    None,
    /// The server could not be asked. The text says why; it has no control characters and no password in it.
    Failed(String),
}

/// How far a check has come. Clones show the same check.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Step>>);

/// What a check is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Step {
    /// No thread has begun with it.
    #[default]
    Waiting,
    /// Waiting for the program that prints the token.
    GettingToken,
    /// Looking up the host's addresses.
    LookingUp,
    /// Connecting.
    Connecting,
    /// The TLS handshake.
    Encrypting,
    /// Waiting for the server's first words.
    Greeting,
    /// Logging in.
    LoggingIn,
    /// Waiting for the number of messages.
    Counting,
}

impl Progress {
    /// What the check is doing now, or was doing when it ended.
    pub fn step(&self) -> Step {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what the check does from now on.
    pub fn at(&self, step: Step) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Waiting => "waiting for a thread",
            Step::GettingToken => "waiting for the program of `token_command`",
            Step::LookingUp => "looking up the host",
            Step::Connecting => "connecting",
            Step::Encrypting => "beginning TLS",
            Step::Greeting => "waiting for the greeting",
            Step::LoggingIn => "logging in",
            Step::Counting => "counting the messages",
        })
    }
}

/// Asks the server of an account how many new messages there are. `progress` shows how far it is.
///
/// # Errors
/// If `token` was cancelled. A server that cannot be asked is no error but an [`Answer`].
///
/// # Blocking
/// Blocks until the server has answered; only the token limits the time.
///
/// # Cancellation
/// Every step is a cancellation point of `token`: the socket is closed, or the program killed, and the call
/// returns. A look-up of the host's name that was begun goes on, on a thread of its own. On Windows a read
/// that is blocked when the cancel comes stays so until the server sends something: see
/// [`CancellableStream`].
pub fn ask(account: &Account, progress: &Progress, token: &CancelToken) -> Result<Answer, Cancelled> {
    match &account.login {
        Login::Password(secret) | Login::Token(secret) => {
            answer(count(account, secret, progress, token), secret)
        }
        Login::TokenCommand(command) => {
            progress.at(Step::GettingToken);
            match oauth::printed_by(command, token) {
                Ok(secret) => answer(count(account, &secret, progress, token), &secret),
                Err(failure) => answer(Err(failure), &Secret::new("")),
            }
        }
    }
}

fn answer(counted: Result<u64, Failure>, secret: &Secret) -> Result<Answer, Cancelled> {
    match counted {
        Ok(0) => Ok(Answer::None),
        Ok(count) => Ok(Answer::New(count)),
        Err(Failure::Cancelled(cancelled)) => Err(cancelled),
        Err(Failure::Because(why)) => Ok(Answer::Failed(secret.clean(&why))),
    }
}

fn count(
    account: &Account,
    secret: &Secret,
    progress: &Progress,
    token: &CancelToken,
) -> Result<u64, Failure> {
    let tls = match account.security {
        Security::Plain if !account.allow_plain_password => {
            return Err(Failure::because(
                "its password would go over the network unencrypted: use tls or starttls, or set allow_plain_password = true",
            ));
        }
        Security::Plain => None,
        Security::Tls | Security::StartTls => Some(tls::Client::new(account)?),
    };
    progress.at(Step::LookingUp);
    let addresses = connect::resolve(&account.host, account.port, token)?;
    progress.at(Step::Connecting);
    let stream = connect::connect(&addresses, token)?;
    let mut wire = Wire::over(CancellableStream::new(stream, token));
    if let (Security::Tls, Some(tls)) = (account.security, &tls) {
        progress.at(Step::Encrypting);
        tls.begin(&mut wire)?;
    }
    match account.protocol {
        Protocol::Imap => imap::unseen(&mut wire, tls.as_ref(), account, secret, progress),
        Protocol::Pop3 => pop3::waiting(&mut wire, tls.as_ref(), account, secret, progress),
    }
}

/// Why there is no count.
#[derive(Debug)]
enum Failure {
    Cancelled(Cancelled),
    /// A reason. It may have a server's words in it, so it is cleaned of the password before it is shown.
    Because(String),
}

impl Failure {
    fn because(why: impl Into<String>) -> Failure {
        Failure::Because(why.into())
    }

    /// This failure, with a secret that was sent removed from its text.
    fn without(self, secret: &Secret) -> Failure {
        match self {
            Failure::Because(why) => Failure::Because(secret.clean(&why)),
            cancelled @ Failure::Cancelled(_) => cancelled,
        }
    }
}

impl From<Cancelled> for Failure {
    fn from(cancelled: Cancelled) -> Failure {
        Failure::Cancelled(cancelled)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match Cancelled::from_io(error) {
            Ok(cancelled) => Failure::Cancelled(cancelled),
            // TLS calls it so if the connection ends without a farewell.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Failure::because("the server closed the connection")
            }
            Err(error) => Failure::Because(error.to_string()),
        }
    }
}
