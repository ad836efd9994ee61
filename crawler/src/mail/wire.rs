//! Lines over a connection, with limits: a server can neither fill the memory nor talk without end.

use super::{Failure, Secret};
use std::io::{self, Read, Write};
use std::mem;

/// Bytes that a line may have.
const LONGEST_LINE: usize = 8 << 10;
/// Bytes and lines that may come in a session.
const MOST_BYTES: usize = 1 << 20;
const MOST_LINES: usize = 10_000;

/// Bytes that are read at once.
const CHUNK: usize = 4 << 10;

/// What bytes go through: a socket, or TLS over it.
pub(super) trait Link: Read + Write + Send {}

impl<T: Read + Write + Send> Link for T {}

/// A connection that is read by lines.
pub(super) struct Wire {
    link: Box<dyn Link>,
    encrypted: bool,
    /// What has been read of the connection, of which the first `taken` bytes have been taken.
    buffer: Vec<u8>,
    taken: usize,
    bytes: usize,
    lines: usize,
}

impl Wire {
    /// A connection that is not encrypted.
    pub(super) fn over(link: impl Link + 'static) -> Wire {
        Wire { link: Box::new(link), encrypted: false, buffer: Vec::new(), taken: 0, bytes: 0, lines: 0 }
    }

    /// Goes on with what `secure` makes of the connection.
    ///
    /// Bytes that were read and not taken came before TLS, so an attacker may have sent them. They must not count as sent by the
    /// peer whose certificate is checked: they end the session.
    pub(super) fn encrypt(
        &mut self,
        secure: impl FnOnce(Box<dyn Link>) -> Result<Box<dyn Link>, Failure>,
    ) -> Result<(), Failure> {
        if self.taken < self.buffer.len() {
            return Err(Failure::because("the server sent unexpected bytes before TLS began"));
        }
        let link = mem::replace(&mut self.link, Box::new(io::empty()));
        self.link = secure(link)?;
        self.encrypted = true;
        Ok(())
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.link.write_all(bytes.as_ref())?;
        Ok(self.link.flush()?)
    }

    /// Sends a password between two other parts.
    pub(super) fn send_secret(&mut self, before: &str, secret: &Secret, after: &str) -> Result<(), Failure> {
        self.send(secret.between(before.as_bytes(), after.as_bytes()).bytes())
    }

    /// The next line, without its end.
    pub(super) fn line(&mut self) -> Result<String, Failure> {
        let length = loop {
            let rest = &self.buffer[self.taken..];
            match rest.iter().position(|&byte| byte == b'\n') {
                Some(end) if end <= LONGEST_LINE => break end,
                None if rest.len() <= LONGEST_LINE => self.fill()?,
                _ => return Err(Failure::because("the server sent a line that is too long")),
            }
        };
        self.lines += 1;
        if self.lines > MOST_LINES {
            return Err(Failure::because("the server sent too many lines"));
        }
        let line = self.take(length);
        self.taken += 1;
        Ok(line.strip_suffix('\r').map(str::to_owned).unwrap_or(line))
    }

    /// The next `count` bytes, whatever they are.
    pub(super) fn exactly(&mut self, count: usize) -> Result<String, Failure> {
        if count > LONGEST_LINE {
            return Err(Failure::because("the server sent a text that is too long"));
        }
        while self.buffer.len() - self.taken < count {
            self.fill()?;
        }
        Ok(self.take(count))
    }

    fn take(&mut self, count: usize) -> String {
        let bytes = &self.buffer[self.taken..][..count];
        self.taken += count;
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Reads something. That there is nothing more is a failure.
    fn fill(&mut self) -> Result<(), Failure> {
        self.buffer.drain(..mem::take(&mut self.taken));
        let used = self.buffer.len();
        self.buffer.resize(used + CHUNK, 0);
        let read = loop {
            match self.link.read(&mut self.buffer[used..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                // TLS calls it so if the connection ends without a farewell.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break Ok(0),
                read => break read,
            }
        };
        self.buffer.truncate(used + read.as_ref().map_or(0, |count| *count));
        self.bytes += self.buffer.len() - used;
        match read? {
            0 => Err(Failure::because("the server closed the connection")),
            _ if self.bytes > MOST_BYTES => Err(Failure::because("the server sent too much")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn wire(bytes: impl Into<Vec<u8>>) -> Wire {
        Wire::over(Cursor::new(bytes.into()))
    }

    fn why<T>(read: Result<T, Failure>) -> String {
        match read {
            Err(Failure::Because(why)) => why,
            Err(Failure::Cancelled(_)) => "it was cancelled".to_owned(),
            Ok(_) => "it was read".to_owned(),
        }
    }

    #[test]
    fn lines_end_with_or_without_a_carriage_return() {
        let mut wire = wire("one\r\n\ntwo\r\r\nü\nrest");
        for line in ["one", "", "two\r", "ü"] {
            assert_eq!(wire.line().unwrap(), line);
        }
        assert_eq!(why(wire.line()), "the server closed the connection");
    }

    #[test]
    fn the_longest_line_may_come_and_none_beyond() {
        for (length, said) in
            [(LONGEST_LINE, "it was read"), (LONGEST_LINE + 1, "the server sent a line that is too long")]
        {
            assert_eq!(why(wire("x".repeat(length) + "\n").line()), said);
        }
        assert_eq!(why(wire("x".repeat(3 * LONGEST_LINE)).line()), "the server sent a line that is too long");
        assert_eq!(why(wire("x").exactly(LONGEST_LINE + 1)), "the server sent a text that is too long");
        assert_eq!(why(wire("x").exactly(2)), "the server closed the connection");
    }

    #[test]
    fn a_session_has_so_many_lines_and_bytes() {
        let mut lines = wire("\n".repeat(MOST_LINES + 1));
        assert!((0..MOST_LINES).all(|_| lines.line().is_ok()));
        assert_eq!(why(lines.line()), "the server sent too many lines");
        let mut bytes = wire(("x".repeat(4000) + "\n").repeat(300));
        let (read, end) =
            (0..300).map(|read| (read * 4001, bytes.line())).find(|(_, line)| line.is_err()).unwrap();
        assert!((MOST_BYTES - 3 * CHUNK..=MOST_BYTES).contains(&read), "{read}");
        assert_eq!(why(end), "the server sent too much");
    }

    #[test]
    fn what_was_read_and_not_taken_ends_the_session_when_tls_begins() {
        let mut wire = wire("a2 OK begin\r\n* OK injected\r\n");
        wire.line().unwrap();
        assert!(why(wire.encrypt(Ok)).contains("unexpected bytes before TLS"));
        assert!(!wire.is_encrypted());
    }
}
