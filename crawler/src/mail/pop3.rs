//! Counts the messages on a server, by POP3 (RFC 1939, 2449 and 2595).

use super::wire::Wire;
use super::{Secret, Session, failure};
use std::io;

/// A session with a server that speaks POP3.
pub(super) struct Pop3 {
    wire: Wire,
}

impl Session for Pop3 {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn greeting(&mut self) -> io::Result<bool> {
        self.answer("the session").map(|_| false)
    }

    fn start_tls(&mut self) -> io::Result<bool> {
        self.wire.send("CAPA\r\n")?;
        let mut is_offered = false;
        if let (Some("+OK"), _) = status(&self.wire.line()?) {
            loop {
                match self.wire.line()?.trim_end() {
                    "." => break,
                    capability => is_offered |= capability.eq_ignore_ascii_case("STLS"),
                }
            }
        }
        if is_offered {
            self.wire.send("STLS\r\n")?;
            self.answer("STLS")?;
        }
        Ok(is_offered)
    }

    fn log_in_by_password(&mut self, user: &str, password: &Secret) -> io::Result<()> {
        self.wire.send(format!("USER {user}\r\n"))?;
        self.answer("the user")?;
        self.wire.send_secret("PASS ", password, "\r\n")?;
        self.answer("the login").map(drop)
    }

    fn log_in_by_token(&mut self, response: &Secret) -> io::Result<()> {
        self.wire.send("AUTH XOAUTH2\r\n")?;
        let mut line = self.wire.line()?;
        if status(&line).0 == Some("+") {
            self.wire.send_secret("", response, "\r\n")?;
            line = self.wire.line()?;
        }
        if status(&line).0 == Some("+") {
            // Before the server refuses the login, it sends the reason in machine-readable form and waits
            // for an empty line.
            self.wire.send("\r\n")?;
            line = self.wire.line()?;
        }
        accepted(&line, "the login").map(drop)
    }

    /// Counts all messages on the server, because POP3 does not know which messages were read.
    fn count(&mut self, _: &str) -> io::Result<u64> {
        self.wire.send("STAT\r\n")?;
        count(&self.answer("STAT")?)
    }

    fn say_good_bye(&mut self) -> io::Result<()> {
        self.wire.send("QUIT\r\n")
    }
}

impl Pop3 {
    pub(super) fn over(wire: Wire) -> Pop3 {
        Pop3 { wire }
    }

    /// Returns the text of the server's answer, or an error if the server refuses the command.
    fn answer(&mut self, what: &str) -> io::Result<String> {
        accepted(&self.wire.line()?, what)
    }
}

fn accepted(line: &str, what: &str) -> io::Result<String> {
    match status(line) {
        (Some("+OK"), words) => Ok(words.to_owned()),
        (Some("-ERR"), words) => Err(failure(format!("the server refused {what}: {words}"))),
        _ => Err(failure(format!("the server does not speak POP3; it said: {line}"))),
    }
}

/// Parses the status, `+OK`, `-ERR` or `+` (which asks for more), and returns the status and the text after
/// it. Some servers write the status in lower case, or write no space or several spaces after it.
fn status(line: &str) -> (Option<&'static str>, &str) {
    let is = |status: &&str| line.get(..status.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(status));
    let status = ["+OK", "-ERR", "+"].into_iter().find(is);
    (status, line[status.map_or(0, str::len)..].trim_ascii())
}

/// Parses `2 320`, which is the number of messages and their size in bytes, and returns the number of
/// messages.
fn count(words: &str) -> io::Result<u64> {
    let count = words.split_ascii_whitespace().next().and_then(|count| count.parse().ok());
    count.ok_or_else(|| failure(format!("the server's count of messages makes no sense: {words}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_as_servers_write_it() {
        for (line, read) in [
            ("+OK", (Some("+OK"), "")),
            ("+OK 4 800", (Some("+OK"), "4 800")),
            ("+OK  4 800", (Some("+OK"), "4 800")),
            ("+OK\t4\t800 ", (Some("+OK"), "4\t800")),
            ("+ok ready", (Some("+OK"), "ready")),
            ("+OK<1896.697170952@example.org>", (Some("+OK"), "<1896.697170952@example.org>")),
            ("-Err no", (Some("-ERR"), "no")),
            ("OK", (None, "OK")),
            ("+", (Some("+"), "")),
            ("+ more", (Some("+"), "more")),
            ("öOK", (None, "öOK")),
            ("* OK ready", (None, "* OK ready")),
        ] {
            assert_eq!(status(line), read);
        }
        for (words, messages) in
            [("4 800", Some(4)), ("4\t800", Some(4)), ("0", Some(0)), ("many", None), ("", None)]
        {
            assert_eq!(count(words).ok(), messages, "{words:?}");
        }
    }
}
