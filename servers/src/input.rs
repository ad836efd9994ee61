use crate::client::{Client, Received};
use std::io;
use std::time::{Duration, Instant};

/// Bytes that have arrived and are not yet used up: part of a request, or several of them.
pub(crate) struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    since: Instant,
}

impl Input {
    /// Room for `capacity` bytes. A request head that does not fit is too large.
    pub(crate) fn new(capacity: usize) -> Input {
        Input { bytes: vec![0; capacity].into_boxed_slice(), start: 0, end: 0, since: Instant::now() }
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// For how long there has been nothing; or, if there is something, for how long that has been so.
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Drops the next `count` unread bytes: a request that has been dealt with.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        self.since = Instant::now();
    }

    /// Puts back what was read elsewhere and follows. Everything that was here is used up by then.
    pub(crate) fn put_back(&mut self, bytes: &[u8]) {
        debug_assert!(self.is_empty(), "these bytes come after those");
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        (self.start, self.end) = (0, bytes.len());
    }

    /// Reads once, behind what is unread. There is room, or parsing would have found the head too large.
    pub(crate) fn receive(&mut self, client: &Client) -> io::Result<Received> {
        let was_empty = self.is_empty();
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let received = client.receive(&mut self.bytes[self.end..])?;
        if let Received::Bytes(count) = received {
            self.end += count;
            if was_empty {
                self.since = Instant::now();
            }
        }
        Ok(received)
    }
}
