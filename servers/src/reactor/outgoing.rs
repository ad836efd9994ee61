use super::io::is_nothing_yet;
use crate::access_log::Line;
use crate::http::append_chunk;
use crate::limits::Limits;
use crate::pace::Pace;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::time::Instant;

/// How many chunks of a file are sent in one turn.
const CHUNKS: usize = 16;

/// What a client has not taken yet: bytes, then at most one part of a file.
///
/// It is a connection's whole memory of its answers. While there is something in it, no further request of that
/// connection is answered, and then nothing is read. So a client that sends and never reads costs this and no more.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    /// How many of the bytes were sent.
    sent: usize,
    tail: Option<Tail>,
    /// None while there is nothing to send.
    pace: Option<Pace>,
    /// How many bytes were sent since the connection was opened.
    total: u64,
    lines: VecDeque<Unfinished>,
}

/// A part of a file. What was sent is not remembered as bytes: it is read again from where the client is.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: File,
    pub(super) at: u64,
    pub(super) end: u64,
}

/// The line in the access log of an answer that is not sent to its end. The numbers count from the opening of the
/// connection.
#[derive(Debug)]
struct Unfinished {
    line: Line,
    began: Instant,
    body: u64,
    end: u64,
}

/// How far sending went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    /// The system takes no more for now.
    Blocked,
    /// There is more, and this turn was long enough.
    Enough,
}

impl Outgoing {
    /// Nothing is left to send.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.tail.is_none()
    }

    /// A part of a file is left to send. Nothing may be put behind it.
    pub(super) fn has_tail(&self) -> bool {
        self.tail.is_some()
    }

    /// Until when the client has to take the next bytes; none if it has all of them.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.pace.as_ref().map(Pace::deadline)
    }

    /// The client has until `deadline`, whatever it takes.
    pub(super) fn end_by(&mut self, deadline: Instant) {
        if let Some(pace) = &mut self.pace {
            pace.end_by(deadline);
        }
    }

    /// Puts a part of a file behind the bytes.
    pub(super) fn put_tail(&mut self, tail: Tail) {
        debug_assert!(self.tail.is_none(), "one at a time");
        self.tail = Some(tail);
    }

    /// The answer whose `head` bytes of head and `body` bytes of body come behind the last that was told here has this line.
    pub(super) fn put_line(&mut self, line: Line, began: Instant, before: usize, head: usize, body: u64) {
        let body_at = self.total + (before + head) as u64;
        self.lines.push_back(Unfinished { line, began, body: body_at, end: body_at + body });
    }

    /// Sends what is here, then what is in `fresh`, which is empty afterwards, as far as `to` takes it. It is `now`.
    ///
    /// What is new goes out from the buffer that all connections share. Only what is not taken at once is kept here.
    pub(super) fn send(
        &mut self,
        fresh: &mut Vec<u8>,
        to: &mut impl Write,
        limits: &Limits,
        now: Instant,
    ) -> io::Result<Sent> {
        if self.is_empty() && fresh.is_empty() {
            return Ok(Sent::All);
        }
        self.pace.get_or_insert_with(|| Pace::new(limits, now));
        if !self.bytes.is_empty() {
            debug_assert!(fresh.is_empty(), "nothing is answered while something is left to send");
            let count = write_all_of(&self.bytes[self.sent..], to)?;
            self.took(count, now);
            self.sent += count;
            if self.sent < self.bytes.len() {
                return Ok(Sent::Blocked);
            }
            (self.bytes, self.sent) = (Vec::new(), 0);
        }
        let count = write_all_of(fresh, to)?;
        self.took(count, now);
        if count < fresh.len() {
            self.bytes.extend_from_slice(&fresh[count..]);
            fresh.clear();
            return Ok(Sent::Blocked);
        }
        fresh.clear();
        let sent = self.send_tail(fresh, to, now)?;
        if sent == Sent::All {
            self.pace = None;
        }
        Ok(sent)
    }

    fn send_tail(&mut self, buffer: &mut Vec<u8>, to: &mut impl Write, now: Instant) -> io::Result<Sent> {
        for _ in 0..CHUNKS {
            let Some(Tail { file, at, end }) = &self.tail else { return Ok(Sent::All) };
            append_chunk(file, *at, *end, buffer)?;
            let (count, chunk) = (write_all_of(buffer, to)?, buffer.len());
            buffer.clear();
            self.took(count, now);
            if let Some(tail) = &mut self.tail {
                tail.at += count as u64;
            }
            if count < chunk {
                return Ok(Sent::Blocked);
            }
            self.tail.take_if(|tail| tail.at == tail.end);
        }
        Ok(if self.tail.is_none() { Sent::All } else { Sent::Enough })
    }

    fn took(&mut self, count: usize, now: Instant) {
        self.total += count as u64;
        if let Some(pace) = &mut self.pace {
            pace.earn(count, now);
        }
        while let Some(first) = self.lines.pop_front_if(|first| first.end <= self.total) {
            first.line.end(first.end - first.body, false, first.began.elapsed());
        }
    }
}

impl Drop for Outgoing {
    /// Says of each answer that was not sent to its end how far it came.
    fn drop(&mut self) {
        for Unfinished { line, began, body, .. } in self.lines.drain(..) {
            line.end(self.total.saturating_sub(body), true, began.elapsed());
        }
    }
}

/// Writes until all is written or there is no more room. Says how much was written.
fn write_all_of(bytes: &[u8], to: &mut impl Write) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match to.write(&bytes[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_nothing_yet(&error) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
