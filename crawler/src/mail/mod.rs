//! Asks mail servers, by IMAP and POP3, for the number of new messages of an account.
//!
//! [`ask`] asks the server of one account, on the calling thread, and can be cancelled at every step. The
//! program `mailcheck` asks the servers of many accounts at once, within one deadline. [`listing`] also
//! asks the servers of many accounts, but with two faults.
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
//! 1. A password or a token is never sent over a connection that is not encrypted, unless the account
//!    allows this.
//! 2. If an account demands STARTTLS and its server does not offer STARTTLS, the account fails. Everything
//!    that the server sent before TLS is discarded, and unexpected bytes before TLS end the session.
//! 3. A password or a token is never printed, even if the server sends it back. Passwords and tokens are
//!    removed from every text that this module returns.

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

/// The result of a check of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The account has this many new messages.
    New(u64),
    /// The account has no new message.
    None,
    /// The server could not be asked. The text gives the reason; it contains no control characters and no
    /// password.
    Failed(String),
}

/// The current step of a check, in words. All clones of a `Progress` show the step of the same check.
#[derive(Debug, Clone)]
pub struct Progress(Arc<Mutex<&'static str>>);

impl Default for Progress {
    fn default() -> Progress {
        Progress(Arc::new(Mutex::new("waiting for a thread")))
    }
}

impl Progress {
    /// Returns the current step of the check, or its last step if the check has ended.
    pub fn step(&self) -> &'static str {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the current step of the check.
    pub fn at(&self, step: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }
}

/// Asks the server of an account for the number of new messages. `progress` shows the current step.
///
/// # Errors
/// Fails if `token` was cancelled. If the server cannot be asked, the result is not an error but
/// [`Answer::Failed`].
///
/// # Blocking
/// Blocks until the server has answered; only the token limits the waiting time.
///
/// # Cancellation
/// Every step is a cancellation point of `token`: a cancellation closes the socket, and the call returns. A
/// look-up of the host's name continues after a cancellation, on a thread of its own. On Windows, a read that
/// is blocked at the moment of the cancellation stays blocked until the server sends something: see
/// [`CancellableStream`].
pub fn ask(account: &Account, progress: &Progress, token: &CancelToken) -> Result<Answer, Cancelled> {
    match count(account, progress, token).map_err(Cancelled::from_io) {
        Ok(0) => Ok(Answer::None),
        Ok(count) => Ok(Answer::New(count)),
        Err(Ok(cancelled)) => Err(cancelled),
        // With TLS, this error occurs if the server closes the connection without the closing message of
        // TLS.
        Err(Err(failure)) if failure.kind() == ErrorKind::UnexpectedEof => {
            Ok(Answer::Failed("the server closed the connection".to_owned()))
        }
        Err(Err(failure)) => Ok(Answer::Failed(account.clean(&failure.to_string()))),
    }
}

/// Returns an error with the given reason. The reason can contain text from the server, so [`ask`] removes
/// the password from the reason.
fn failure(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

/// The steps of a session with a server, which are common to IMAP and POP3.
trait Session {
    /// Returns the connection, so that the caller can encrypt it with TLS.
    fn wire(&mut self) -> &mut Wire;

    /// Waits for the server's greeting. Returns true if the greeting says that the client is already logged
    /// in.
    fn greeting(&mut self) -> io::Result<bool>;

    /// Asks for TLS. Returns false if the server offers no TLS.
    fn start_tls(&mut self) -> io::Result<bool>;

    fn log_in_by_password(&mut self, user: &str, password: &Secret) -> io::Result<()>;

    /// Logs in by XOAUTH2, with the text that [`oauth::response`] makes.
    fn log_in_by_token(&mut self, response: &Secret) -> io::Result<()>;

    /// Counts the new messages. Only IMAP has folders.
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
        // IMAP does not allow STARTTLS after a login, and without TLS an attacker may have sent the
        // greeting.
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
    // The answer to the good-bye is not read: the answer changes nothing, and if a deadline passed during the
    // wait for it, the count would be lost.
    let _ = session.say_good_bye();
    Ok(count)
}
