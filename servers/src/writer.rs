//! Writes that keep a pace.
//!
//! A time-out for each write would start again whenever the client takes a byte, and a client that takes one now and
//! then would hold a thread for hours. So an answer has a budget of time. It begins with the write time-out; each byte
//! that the client takes adds to it what a byte may take at the least rate; it never grows beyond the write time-out.
//! Hence two bounds:
//!
//! - a client that takes nothing is given up after the write time-out, and
//! - an answer of N bytes is over after the write time-out and N / rate seconds.

use crate::client::{Client, LAST_WORDS, is_nothing_yet};
use crate::limits::Limits;
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

/// Writes one answer to a client.
pub(crate) struct Writer<'c> {
    client: &'c Client,
    timeout: Duration,
    /// How many bytes the client has to take in a second.
    rate: usize,
    /// When the budget is used up.
    deadline: Instant,
    /// The task is cancelled: there is no more to earn.
    is_ending: bool,
    taken: u64,
}

impl<'c> Writer<'c> {
    pub(crate) fn new(client: &'c Client, limits: &Limits) -> Writer<'c> {
        let (timeout, rate) = (limits.write_timeout, limits.min_write_rate);
        Writer { client, timeout, rate, deadline: Instant::now() + timeout, is_ending: false, taken: 0 }
    }

    /// How many bytes were written: the system has them, and perhaps the client.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    fn earn(&mut self, count: usize) {
        self.taken += count as u64;
        if !self.is_ending {
            let earned = Duration::from_secs_f64(count as f64 / self.rate as f64);
            self.deadline = (self.deadline + earned).min(Instant::now() + self.timeout);
        }
    }

    fn check(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if !self.is_ending && self.client.is_cancelled() {
            self.is_ending = true;
            self.deadline = self.deadline.min(now + LAST_WORDS);
        }
        if now < self.deadline { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.client.write(bytes)?;
        self.earn(count);
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
