//! Counts the unseen messages of a folder, by IMAP (RFC 3501).

use super::wire::Wire;
use super::{Secret, Session, failure, folder};
use std::io;

/// A response of the server.
enum Response {
    /// A response that the client did not ask for, or a part of an answer.
    Untagged(String),
    /// The server asks for the rest of the command.
    GoOn,
    /// The last response to a command: its tag, a status, and a text.
    Tagged(String),
}

/// A session with a server that speaks IMAP.
pub(super) struct Imap {
    wire: Wire,
    /// The number of commands that have been sent. The number of a command is also its tag.
    tags: u32,
}

impl Session for Imap {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn greeting(&mut self) -> io::Result<bool> {
        let Response::Untagged(words) = self.response()? else {
            return Err(failure("the server does not speak IMAP"));
        };
        match first_word(&words).0.as_str() {
            "OK" => Ok(false),
            "PREAUTH" => Ok(true),
            _ => Err(failure(format!("the server does not speak IMAP; it said: {words}"))),
        }
    }

    fn start_tls(&mut self) -> io::Result<bool> {
        if !self.can("STARTTLS")? {
            return Ok(false);
        }
        let tag = self.send("STARTTLS")?;
        self.finish(&tag, "STARTTLS", |_| ()).map(|()| true)
    }

    fn log_in_by_token(&mut self, response: &Secret) -> io::Result<()> {
        if !self.can("AUTH=XOAUTH2")? {
            return Err(failure("the server does not accept an access token (XOAUTH2)"));
        }
        let tag = self.send("AUTHENTICATE XOAUTH2")?;
        self.go_on(&tag)?;
        self.wire.send_secret("", response, "\r\n")?;
        loop {
            match self.response()? {
                // Before the server refuses the login, it sends the reason in machine-readable form and
                // waits for an empty line.
                Response::GoOn => self.wire.send("\r\n")?,
                Response::Untagged(_) => (),
                Response::Tagged(words) => return done(&tag, "the login", &words),
            }
        }
    }

    /// Sends user and password as literals, in which each byte stands for itself.
    fn log_in_by_password(&mut self, user: &str, password: &Secret) -> io::Result<()> {
        if self.can("LOGINDISABLED")? {
            return Err(failure("the server does not accept a password here (LOGINDISABLED)"));
        }
        let tag = self.send(&format!("LOGIN {{{}}}", user.len()))?;
        self.go_on(&tag)?;
        self.wire.send(format!("{user} {{{}}}\r\n", password.bytes().len()))?;
        self.go_on(&tag)?;
        self.wire.send_secret("", password, "\r\n")?;
        self.finish(&tag, "the login", |_| ())
    }

    fn count(&mut self, folder: &str) -> io::Result<u64> {
        let folder = folder::sent(folder);
        let tag = self.send(&format!("STATUS {} (UNSEEN)", quoted(&folder)))?;
        let mut count = None;
        self.finish(&tag, "to count the folder's messages", |words| {
            count = unseen_in(words, &folder).or(count);
        })?;
        count.ok_or_else(|| failure("the server did not say how many messages are unseen"))
    }

    fn say_good_bye(&mut self) -> io::Result<()> {
        self.send("LOGOUT").map(drop)
    }
}

impl Imap {
    pub(super) fn over(wire: Wire) -> Imap {
        Imap { wire, tags: 0 }
    }

    /// Returns true if the server lists a capability. The server is asked each time, because an answer that
    /// came before TLS may have come from an attacker.
    fn can(&mut self, capability: &str) -> io::Result<bool> {
        let tag = self.send("CAPABILITY")?;
        let mut is_listed = false;
        self.finish(&tag, "CAPABILITY", |words| {
            let (word, list) = first_word(words);
            let mut list = list.split(' ');
            is_listed |= word == "CAPABILITY" && list.any(|word| word.eq_ignore_ascii_case(capability));
        })?;
        Ok(is_listed)
    }

    /// Sends a command, and returns its tag.
    fn send(&mut self, command: &str) -> io::Result<String> {
        self.tags += 1;
        let tag = format!("a{}", self.tags);
        self.wire.send(format!("{tag} {command}\r\n"))?;
        Ok(tag)
    }

    /// Waits until the server is ready for the rest of the command.
    fn go_on(&mut self, tag: &str) -> io::Result<()> {
        loop {
            match self.response()? {
                Response::GoOn => return Ok(()),
                Response::Untagged(_) => (),
                Response::Tagged(words) => {
                    done(tag, "the login", &words)?;
                    return Err(failure("the server ended the login in the middle"));
                }
            }
        }
    }

    /// Waits until the server has answered a command, and passes each earlier response to `part`.
    fn finish(&mut self, tag: &str, what: &str, mut part: impl FnMut(&str)) -> io::Result<()> {
        loop {
            match self.response()? {
                Response::Tagged(words) => return done(tag, what, &words),
                Response::Untagged(words) => part(&words),
                Response::GoOn => {
                    return Err(failure("the server asked for more of a command that was complete"));
                }
            }
        }
    }

    /// Reads the next response. A good-bye of the server counts as a failure.
    fn response(&mut self) -> io::Result<Response> {
        let mut line = self.wire.line()?;
        while let Some((before, length)) = literal(&line) {
            // The literal is replaced by a quoted text, which has the same meaning. Without quotes, the text
            // of the literal could look like an answer.
            line = before.to_owned() + &quoted(&self.wire.exactly(length)?) + &self.wire.line()?;
        }
        match line.split_once(' ') {
            Some(("*", words)) if first_word(words).0 == "BYE" => {
                Err(failure(format!("the server ended the session: {}", first_word(words).1)))
            }
            Some(("*", words)) => Ok(Response::Untagged(words.to_owned())),
            _ if line.starts_with('+') => Ok(Response::GoOn),
            Some((tag, _)) if tag.starts_with('a') => Ok(Response::Tagged(line)),
            _ => Err(failure(format!("the server does not speak IMAP; it said: {line}"))),
        }
    }
}

/// Returns whether the command with this tag has succeeded.
fn done(tag: &str, what: &str, line: &str) -> io::Result<()> {
    match line.strip_prefix(tag).and_then(|rest| rest.strip_prefix(' ')).map(first_word) {
        Some((status, _)) if status == "OK" => Ok(()),
        Some((_, words)) => Err(failure(format!("the server refused {what}: {words}"))),
        None => Err(failure("the server answered another command than the one it was sent")),
    }
}

/// Returns the first word of a text, in capitals, and the rest of the text.
fn first_word(words: &str) -> (String, &str) {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    (word.to_ascii_uppercase(), rest)
}

/// Parses a line that ends in a length such as `{5}`: the next five bytes belong to the line, and the rest of
/// the line follows these bytes.
fn literal(line: &str) -> Option<(&str, usize)> {
    let (before, length) = line.strip_suffix('}')?.rsplit_once('{')?;
    Some((before, length.parse().ok()?))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Parses `STATUS "a folder" (UNSEEN 3)`, and returns the number if the response belongs to this folder.
/// Some servers mix upper and lower case.
fn unseen_in(words: &str, folder: &str) -> Option<u64> {
    let (word, rest) = first_word(words);
    let (name, items) = name(rest)?;
    if word != "STATUS" || !name.eq_ignore_ascii_case(folder) {
        return None;
    }
    let items = items.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut items = items.split_ascii_whitespace();
    while let Some(name) = items.next() {
        let value = items.next()?;
        if name.eq_ignore_ascii_case("UNSEEN") {
            return value.parse().ok();
        }
    }
    None
}

/// Parses a name, which may be quoted and can then contain any character; returns the name and the text
/// after it.
fn name(words: &str) -> Option<(String, &str)> {
    let Some(quoted) = words.strip_prefix('"') else {
        return words.split_once(' ').map(|(name, rest)| (name.to_owned(), rest));
    };
    let (mut name, mut characters) = (String::new(), quoted.chars());
    loop {
        match characters.next()? {
            '"' => return Some((name, characters.as_str())),
            '\\' => name.push(characters.next()?),
            other => name.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_behind_the_folder_and_nowhere_else() {
        for (folder, words, count) in [
            ("INBOX", "STATUS INBOX (UNSEEN 3)", Some(3)),
            ("inbox", "status \"INBOX\" (unseen 3)", Some(3)),
            ("a (UNSEEN 9)", "STATUS \"a (UNSEEN 9)\" (MESSAGES 12 UNSEEN 3)", Some(3)),
            ("a \" (UNSEEN 9)\\", "STATUS \"a \\\" (UNSEEN 9)\\\\\" (UNSEEN 3)", Some(3)),
            ("INBOX", "STATUS \"INBOX\" (UNSEEN 0) ", Some(0)),
            ("INBOX", "STATUS INBOX.a (UNSEEN 3)", None),
            ("a", "STATUS \"a b\" (UNSEEN 3)", None),
            ("INBOX", "STATUS INBOX (MESSAGES 3)", None),
            ("INBOX", "STATUS INBOX (UNSEEN -3)", None),
            ("INBOX", "STATUS INBOX", None),
            ("INBOX", "STATUS \"INBOX (UNSEEN 3)", None),
            ("INBOX", "OK INBOX (UNSEEN 3)", None),
        ] {
            assert_eq!(unseen_in(words, folder), count, "{words}");
        }
    }
}
