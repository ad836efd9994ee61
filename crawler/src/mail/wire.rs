//! Reads lines from a connection, up to a limit, so that a server cannot exhaust the memory. If a server
//! sends text without end, the token ends the session.

use super::{Secret, failure};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem;

/// The number of bytes that a server may send in a session, in any number of lines of any length.
const MOST_BYTES: usize = 1 << 20;

/// A stream of bytes: a socket, or TLS over a socket.
pub(super) trait Link: Read + Write + Send {}

impl<T: Read + Write + Send> Link for T {}

/// A connection from which lines are read.
pub(super) struct Wire {
    link: BufReader<Box<dyn Link>>,
    encrypted: bool,
    /// The number of bytes that the server may still send.
    left: usize,
}

impl Wire {
    /// Returns a connection that is not encrypted.
    pub(super) fn over(link: impl Link + 'static) -> Wire {
        Wire { link: BufReader::new(Box::new(link)), encrypted: false, left: MOST_BYTES }
    }

    /// Replaces the connection by the result of `secure`.
    ///
    /// Bytes that were read but not used arrived before TLS began, so an attacker may have sent these
    /// bytes. The client must not treat unused bytes as bytes of the peer whose certificate is checked, so
    /// such bytes end the session.
    pub(super) fn encrypt(
        &mut self,
        secure: impl FnOnce(Box<dyn Link>) -> io::Result<Box<dyn Link>>,
    ) -> io::Result<()> {
        if !self.link.buffer().is_empty() {
            return Err(failure("the server sent unexpected bytes before TLS began"));
        }
        let link = mem::replace(&mut self.link, BufReader::new(Box::new(io::empty())));
        self.link = BufReader::new(secure(link.into_inner())?);
        self.encrypted = true;
        Ok(())
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    pub(super) fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let link = self.link.get_mut();
        link.write_all(bytes.as_ref())?;
        link.flush()
    }

    /// Sends a password, with another part before it and another part after it.
    pub(super) fn send_secret(&mut self, before: &str, secret: &Secret, after: &str) -> io::Result<()> {
        self.send(secret.between(before.as_bytes(), after.as_bytes()).bytes())
    }

    /// Reads the next line, and returns it without its line break.
    pub(super) fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut self.link).take(self.left as u64).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Err(self.ended(line.len()));
        }
        self.left -= line.len();
        line.pop();
        line.pop_if(|last| *last == b'\r');
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// Reads the next `count` bytes of any value.
    pub(super) fn exactly(&mut self, count: usize) -> io::Result<String> {
        let mut bytes = Vec::new();
        (&mut self.link).take(count.min(self.left) as u64).read_to_end(&mut bytes)?;
        if bytes.len() < count {
            return Err(self.ended(bytes.len()));
        }
        self.left -= count;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the error for a connection that ends after `read` bytes.
    fn ended(&self, read: usize) -> io::Error {
        failure(if read < self.left {
            "the server closed the connection"
        } else {
            "the server sent too much"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn wire(bytes: impl Into<Vec<u8>>) -> Wire {
        Wire::over(Cursor::new(bytes.into()))
    }

    fn why<T>(read: io::Result<T>) -> String {
        read.err().map_or("it was read".to_owned(), |error| error.to_string())
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
    fn so_many_bytes_may_come_in_lines_as_long_and_as_many_as_it_likes() {
        for lines in [1, 2, 1 << 16] {
            let line = "x".repeat(MOST_BYTES / lines - 1);
            let mut wire = wire((line.clone() + "\n").repeat(lines + 1));
            assert!((0..lines).all(|_| wire.line().unwrap() == line));
            assert_eq!(why(wire.line()), "the server sent too much");
        }
        assert_eq!(why(wire("x".repeat(MOST_BYTES + 1)).line()), "the server sent too much");
        assert_eq!(why(wire("x".repeat(MOST_BYTES)).exactly(MOST_BYTES)), "it was read");
        assert_eq!(why(wire("x".repeat(MOST_BYTES + 1)).exactly(MOST_BYTES + 1)), "the server sent too much");
        assert_eq!(why(wire("x").exactly(usize::MAX)), "the server closed the connection");
    }

    #[test]
    fn what_was_read_and_not_taken_ends_the_session_when_tls_begins() {
        let mut wire = wire("a2 OK begin\r\n* OK injected\r\n");
        wire.line().unwrap();
        assert!(why(wire.encrypt(Ok)).contains("unexpected bytes before TLS"));
        assert!(!wire.is_encrypted());
    }
}
