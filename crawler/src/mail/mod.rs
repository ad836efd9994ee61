//! How many new messages an account has: asking mail servers by IMAP and POP3.
//!
//! [`ask`] asks for one account, on the calling thread, and can be cancelled at every step. The program
//! `mailcheck` asks many accounts at once within one deadline. [`listing`] also asks many accounts, but with
//! two faults.
//!
//! ```text
//!   hosts file ─accounts::read─▶ Account ─ask─▶ Answer: how many new messages, or why it failed
//!                                          │
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
//!    module has been cleaned of passwords and tokens.

mod account;
pub mod accounts;
mod connect;
pub mod demo;
mod folder;
mod imap;
pub mod listing;
mod oauth;
mod pop3;
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
use std::io::{self, ErrorKind};
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

/// What a check is doing, in words. Clones show the same check.
#[derive(Debug, Clone)]
pub struct Progress(Arc<Mutex<&'static str>>);

impl Default for Progress {
    fn default() -> Progress {
        Progress(Arc::new(Mutex::new("waiting for a thread")))
    }
}

impl Progress {
    /// What the check is doing now, or was doing when it ended.
    pub fn step(&self) -> &'static str {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets what the check does from now on.
    pub fn at(&self, step: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }
}

/// Asks the server of an account how many new messages there are. `progress` shows the current step.
///
/// # Errors
/// If `token` was cancelled. If the server cannot be asked, this is not an error but an [`Answer`].
///
/// # Blocking
/// Blocks until the server has answered; only the token limits the time.
///
/// # Cancellation
/// Every step is a cancellation point of `token`: the socket is closed, and the call returns. A look-up of the
/// host's name that was begun goes on, on a thread of its own. On Windows a read that is blocked when the
/// cancel comes stays blocked until the server sends something: see [`CancellableStream`].
pub fn ask(account: &Account, progress: &Progress, token: &CancelToken) -> Result<Answer, Cancelled> {
    match count(account, progress, token).map_err(Cancelled::from_io) {
        Ok(0) => Ok(Answer::None),
        Ok(count) => Ok(Answer::New(count)),
        Err(Ok(cancelled)) => Err(cancelled),
        // With TLS, this is the error if the connection ends without a farewell.
        Err(Err(failure)) if failure.kind() == ErrorKind::UnexpectedEof => {
            Ok(Answer::Failed("the server closed the connection".to_owned()))
        }
        Err(Err(failure)) => Ok(Answer::Failed(account.clean(&failure.to_string()))),
    }
}

/// A failure for this reason. The reason may contain the server's words, so [`ask`] removes the password from
/// it.
fn failure(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

/// The steps of a session with a server, which IMAP and POP3 have in common.
trait Session {
    /// The connection, on which TLS can begin.
    fn wire(&mut self) -> &mut Wire;

    /// Waits for the server's first words. Returns whether they say that the client is logged in already.
    fn greeting(&mut self) -> io::Result<bool>;

    /// Asks for TLS. Returns false if the server does not offer it.
    fn start_tls(&mut self) -> io::Result<bool>;

    fn log_in_by_password(&mut self, user: &str, password: &Secret) -> io::Result<()>;

    /// Logs in by XOAUTH2, with the text that [`oauth::response`] makes.
    fn log_in_by_token(&mut self, response: &Secret) -> io::Result<()>;

    /// Counts the new messages. Only IMAP knows folders.
    fn count(&mut self, folder: &str) -> io::Result<u64>;

    fn say_good_bye(&mut self) -> io::Result<()>;
}

fn count(account: &Account, progress: &Progress, token: &CancelToken) -> io::Result<u64> {
    let tls = match account.security {
        Security::Plain if !account.allow_plain_password => {
            return Err(failure(
                "its password would go over the network unencrypted: use tls or starttls, or set allow_plain_password = true",
            ));
        }
        Security::Plain => None,
        Security::Tls | Security::StartTls => Some(tls::Client::new(account)?),
    };
    progress.at("looking up the host");
    let addresses = connect::resolve(&account.host, account.port, token)?;
    progress.at("connecting");
    let mut wire = Wire::over(CancellableStream::new(connect::connect(&addresses, token)?, token));
    if let (Security::Tls, Some(tls)) = (account.security, &tls) {
        progress.at("beginning TLS");
        tls.begin(&mut wire)?;
    }
    progress.at("waiting for the greeting");
    let mut session: Box<dyn Session> = match account.protocol {
        Protocol::Imap => Box::new(imap::Imap::over(wire)),
        Protocol::Pop3 => Box::new(pop3::Pop3::over(wire)),
    };
    let is_logged_in = session.greeting()?;
    if let (Security::StartTls, Some(tls)) = (account.security, &tls) {
        // IMAP does not allow STARTTLS after a login, and without TLS the server may be an attacker's.
        if is_logged_in {
            return Err(failure("the server says PREAUTH, so TLS cannot begin"));
        }
        progress.at("beginning TLS");
        if !session.start_tls()? {
            return Err(failure("the server does not offer STARTTLS"));
        }
        tls.begin(session.wire())?;
    }
    if !is_logged_in {
        progress.at("logging in");
        if !session.wire().is_encrypted() && !account.allow_plain_password {
            return Err(failure("the connection is not encrypted"));
        }
        match &account.login {
            Login::Password(password) => session.log_in_by_password(&account.user, password)?,
            Login::Token(token) => session.log_in_by_token(&oauth::response(&account.user, token))?,
        }
    }
    progress.at("counting the messages");
    let count = session.count(&account.folder)?;
    // The answer to the good-bye is not read: it changes nothing, and the count must not be lost if this
    // answer is late.
    let _ = session.say_good_bye();
    Ok(count)
}
