//! An account: where its mail is, and how the mail may be asked for.

use super::oauth;
use super::secret::{self, Secret};
use serde::Deserialize;
use std::path::PathBuf;

/// An account. Its `Debug` shows neither password nor token.
#[derive(Debug)]
pub struct Account {
    /// The account's name in the answers.
    pub name: String,
    /// The server: a name or an address.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// The language that the server speaks.
    pub protocol: Protocol,
    /// How the connection is encrypted.
    pub security: Security,
    /// The user's name at the server.
    pub user: String,
    /// What the user logs in with.
    pub login: Login,
    /// The folder whose new messages are counted: its name as mail programs show it. POP3 knows no
    /// folders and ignores it.
    pub folder: String,
    /// Whether the password, or the token, may be sent over a connection that is not encrypted.
    pub allow_plain_password: bool,
    /// A PEM file of certificates that are trusted beside those of the system.
    pub ca: Option<PathBuf>,
}

/// What an account logs in with.
#[derive(Debug)]
pub enum Login {
    /// The user's password.
    Password(Secret),
    /// An access token of OAuth 2.0.
    Token(Secret),
}

/// The language of a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Messages that are unseen count as new.
    Imap,
    /// POP3 does not know which messages were read, so all that lie on the server count as new.
    Pop3,
}

/// How a connection is encrypted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// TLS from the first byte.
    #[default]
    Tls,
    /// TLS after a command. A server that does not offer the command is not asked for anything else.
    StartTls,
    /// No encryption.
    Plain,
}

impl Account {
    /// Prepares a text that came from the account's server for a terminal: control characters are removed, the
    /// password or token is replaced, and what is beyond 200 characters is cut off.
    pub fn clean(&self, text: &str) -> String {
        secret::shown(&match &self.login {
            Login::Password(secret) => secret.hide(text),
            Login::Token(secret) => secret.hide(&oauth::response(&self.user, secret).hide(text)),
        })
    }
}

/// The port that servers usually have.
pub(super) fn usual_port(protocol: Protocol, security: Security) -> u16 {
    match (protocol, security) {
        (Protocol::Imap, Security::Tls) => 993,
        (Protocol::Imap, _) => 143,
        (Protocol::Pop3, Security::Tls) => 995,
        (Protocol::Pop3, _) => 110,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the text were cut first, the first half of a secret could remain at its end.
    #[test]
    fn a_secret_across_the_cut_is_replaced_before_the_text_is_cut() {
        let account = Account {
            name: String::new(),
            host: String::new(),
            port: 0,
            protocol: Protocol::Imap,
            security: Security::Tls,
            user: "ada".to_owned(),
            login: Login::Token(Secret::new("canary")),
            folder: String::new(),
            allow_plain_password: false,
            ca: None,
        };
        let sent = oauth::response("ada", &Secret::new("canary"));
        for said in ["canary", std::str::from_utf8(sent.bytes()).expect("base64")] {
            assert_eq!(account.clean(&("x".repeat(197) + said)), "x".repeat(197) + "[pa…", "{said}");
        }
    }
}
