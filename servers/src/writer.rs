use crate::client::{Client, LAST_WORDS, is_nothing_yet};
use crate::limits::Limits;
use crate::pace::Pace;
use std::io::{self, ErrorKind, Write};
use std::time::Instant;

/// Writes one answer to a client, at the [pace](crate::pace) that the limits ask for.
pub(crate) struct Writer<'c> {
    client: &'c Client,
    pace: Pace,
    taken: u64,
}

impl<'c> Writer<'c> {
    pub(crate) fn new(client: &'c Client, limits: &Limits) -> Writer<'c> {
        Writer { client, pace: Pace::new(limits, Instant::now()), taken: 0 }
    }

    /// How many bytes were written: the system has them, and perhaps the client.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    fn check(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.client.is_cancelled() {
            self.pace.end_by(now + LAST_WORDS);
        }
        if now < self.pace.deadline() { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.client.write(bytes)?;
        self.taken += count as u64;
        self.pace.earn(count, Instant::now());
        Ok(count)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.taken > 0 {
                self.check()?;
            }
            match self.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_nothing_yet(&error) => self.check()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
