//! The demo's POP3.

use super::{Client, Fault};
use crate::mail::Security;
use std::io;

impl Client<'_> {
    pub(super) fn pop3(&mut self) -> io::Result<()> {
        let fault = self.server.script.fault;
        self.wire.send(match fault {
            Fault::SaysGoodBye => "-ERR too many clients\r\n",
            _ => "+OK ready\r\n",
        })?;
        loop {
            let line = self.line()?;
            let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match (verb, fault) {
                (_, Fault::SilentLater) | ("QUIT", Fault::NoFarewell) => return self.say_nothing(),
                ("CAPA" | "USER", Fault::EndlessLines) => self.without_end("+OK more of it\r\n")?,
                ("CAPA", _) => self.pop3_capabilities()?,
                ("STLS", Fault::Injects) => {
                    self.wire.send("+OK begin\r\n+OK not encrypted\r\n")?;
                    self.encrypt()?;
                }
                ("STLS", _) => {
                    self.wire.send("+OK begin\r\n")?;
                    self.encrypt()?;
                }
                ("USER" | "AUTH", Fault::LoginDisabled) => self.wire.send("-ERR not without TLS\r\n")?,
                ("USER", _) => self.wire.send("+OK and the password?\r\n")?,
                ("PASS" | "AUTH", _) => {
                    let why = if verb == "PASS" { self.judge(rest)? } else { self.judge_token()? };
                    self.wire.send(
                        why.map_or("+OK logged in\r\n".to_owned(), |why| format!("-ERR [AUTH] {why}\r\n")),
                    )?;
                }
                ("STAT", Fault::NoCount) => self.wire.send("+OK many\r\n")?,
                ("STAT", _) => {
                    let mail = self.server.script.mail;
                    self.wire.send(format!("+OK {mail} {}\r\n", mail * 1000))?;
                }
                ("QUIT", _) => return self.wire.send("+OK\r\n"),
                _ => self.wire.send("-ERR there is no such command\r\n")?,
            }
        }
    }

    fn pop3_capabilities(&mut self) -> io::Result<()> {
        let script = &self.server.script;
        let offers = script.security == Security::StartTls && script.fault != Fault::NoStartTls;
        let stls = if offers && !self.wire.is_encrypted() { "STLS\r\n" } else { "" };
        self.wire.send(format!("+OK\r\nTOP\r\nUSER\r\n{stls}.\r\n"))
    }
}
