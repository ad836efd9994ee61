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
    /// What was read of it and not taken came from nobody knows whom, so it must not count as said by the peer whose
    /// certificate is checked. It ends the session.
    pub(super) fn encrypt(
        &mut self,
        secure: impl FnOnce(Box<dyn Link>) -> Result<Box<dyn Link>, Failure>,
    ) -> Result<(), Failure> {
        if self.taken < self.buffer.len() {
            return Err(Failure::because("bytes came in before TLS began that nobody had asked for"));
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
