//! The demo's IMAP.

use super::{Client, Fault, Script};
use crate::mail::{Security, failure};
use std::io;

impl Client<'_> {
    pub(super) fn imap(&mut self) -> io::Result<()> {
        let fault = self.server.script.fault;
        self.wire.send(match fault {
            Fault::SaysGoodBye => "* BYE too many clients\r\n",
            Fault::Preauth => "* PREAUTH welcome back\r\n",
            _ => "* OK ready\r\n",
        })?;
        loop {
            let line = self.line()?;
            let (tag, command) = line.split_once(' ').unwrap_or((&line, ""));
            let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
            match (verb, fault) {
                (_, Fault::SilentLater) | ("LOGOUT", Fault::NoFarewell) => return self.say_nothing(),
                ("CAPABILITY", Fault::EndlessLines) => self.without_end("* OK more of it\r\n")?,
                ("CAPABILITY", _) => self.imap_capabilities(tag)?,
                ("STARTTLS", fault) => {
                    let more = if fault == Fault::Injects { "* OK not encrypted\r\n" } else { "" };
                    self.wire.send(format!("{tag} OK begin\r\n{more}"))?;
                    self.encrypt()?;
                }
                ("LOGIN", _) => self.imap_login(tag, rest)?,
                ("AUTHENTICATE", _) => {
                    let why = self.judge_token()?;
                    self.imap_judged(tag, why)?;
                }
                ("STATUS", Fault::NoFolder) => {
                    self.wire.send(format!("{tag} NO there is no such folder\r\n"))?;
                }
                ("STATUS", Fault::NoCount) => {
                    self.wire.send(format!("* STATUS INBOX (MESSAGES many)\r\n{tag} OK done\r\n"))?;
                }
                ("STATUS", _) => self.imap_status(tag, rest)?,
                ("LOGOUT", _) => return self.wire.send(format!("* BYE\r\n{tag} OK done\r\n")),
                _ => self.wire.send(format!("{tag} BAD there is no such command\r\n"))?,
            }
        }
    }

    /// Answers with the folder's name as a literal, which a client must be able to read.
    fn imap_status(&mut self, tag: &str, asked: &str) -> io::Result<()> {
        let Script { mail, fault, .. } = self.server.script;
        let more = match fault {
            Fault::SaysMore => {
                "* STATUS Other (UNSEEN 9)\r\n".to_owned() + &"* 1 FETCH (FLAGS ())\r\n".repeat(12_000)
            }
            _ => String::new(),
        };
        let name =
            asked.trim_end_matches(" (UNSEEN)").trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
        let count = format!("* STATUS {{{}}}\r\n{name} (UNSEEN {mail})\r\n", name.len());
        self.wire.send(format!("{more}{count}{more}{tag} OK done\r\n"))
    }

    /// Lists the capabilities. A server with STARTTLS offers no login before TLS.
    fn imap_capabilities(&mut self, tag: &str) -> io::Result<()> {
        let script = &self.server.script;
        let words = match script.fault {
            Fault::LoginDisabled => "LOGINDISABLED",
            _ if script.security != Security::StartTls || self.wire.is_encrypted() => {
                "AUTH=PLAIN AUTH=XOAUTH2"
            }
            Fault::NoStartTls => "AUTH=PLAIN AUTH=XOAUTH2",
            _ => "STARTTLS LOGINDISABLED",
        };
        self.wire.send(format!("* CAPABILITY IMAP4rev1 {words}\r\n{tag} OK done\r\n"))
    }

    /// Reads user and password, which come as literals.
    fn imap_login(&mut self, tag: &str, user: &str) -> io::Result<()> {
        let rest = self.imap_literal(user)?;
        let length = rest.1.trim_start().to_owned();
        let (password, _) = self.imap_literal(&length)?;
        let why = self.judge(&password)?;
        self.imap_judged(tag, why)
    }

    fn imap_judged(&mut self, tag: &str, why: Option<String>) -> io::Result<()> {
        match why {
            Some(why) => self.wire.send(format!("{tag} NO [AUTHENTICATIONFAILED] {why}\r\n")),
            None => self.wire.send(format!("{tag} OK logged in\r\n")),
        }
    }

    /// Reads the literal whose length is `{5}`, and the line behind it.
    fn imap_literal(&mut self, length: &str) -> io::Result<(String, String)> {
        let length = length.trim_matches(['{', '}']).parse().map_err(|_| failure("it is no literal"))?;
        self.wire.send("+ go on\r\n")?;
        let literal = self.wire.exactly(length)?;
        let rest = self.wire.line()?;
        self.note(&literal);
        Ok((literal, rest))
    }
}
