//! An account: the location of its mail, and the way in which the mail may be requested.

use super::oauth;
use super::secret::{self, Secret};
use serde::Deserialize;
use std::path::PathBuf;

/// An account. The `Debug` output of an account shows neither password nor token.
#[derive(Debug)]
pub struct Account {
    /// The account's name in the report.
    pub name: String,
    /// The server: a name or an address.
    pub host: String,
    /// The port of the server.
    pub port: u16,
    /// The protocol that the server speaks.
    pub protocol: Protocol,
    /// The encryption of the connection.
    pub security: Security,
    /// The user's name at the server.
    pub user: String,
    /// The secret with which the user logs in.
    pub login: Login,
    /// The folder whose new messages are counted, by the name that mail programs show. POP3 has no folders
    /// and ignores this field.
    pub folder: String,
    /// True if the password or the token may be sent over a connection that is not encrypted.
    pub allow_plain_password: bool,
    /// A PEM file of certificates that are trusted in addition to the certificates of the system.
    pub ca: Option<PathBuf>,
}

/// The secret with which an account logs in.
#[derive(Debug)]
pub enum Login {
    /// The user's password.
    Password(Secret),
    /// An access token of OAuth 2.0.
    Token(Secret),
}

/// The protocol of a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// IMAP; here, the unseen messages count as new.
    Imap,
    /// POP3, which does not know which messages were read; here, all messages on the server count as new.
    Pop3,
}

/// The encryption of a connection.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// TLS encrypts the connection from the first byte.
    #[default]
    Tls,
    /// TLS encrypts the connection after a command. If a server does not offer the command for TLS, the
    /// client sends no other command.
    StartTls,
    /// No encryption.
    Plain,
}

impl Account {
    /// Prepares a text from the account's server for a terminal: removes control characters, replaces the
    /// password or token, and cuts the text after 200 characters.
    pub fn clean(&self, text: &str) -> String {
        secret::shown(&match &self.login {
            Login::Password(secret) => secret.hide(text),
            Login::Token(secret) => secret.hide(&oauth::response(&self.user, secret).hide(text)),
        })
    }
}

/// Returns the usual port for a protocol and an encryption.
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

    /// Checks that the secret is replaced before the text is cut, because otherwise the first half of a
    /// secret could remain at the end of the text.
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
