//! The answers that a client has not taken yet: bytes in memory, then at most one tail.
//!
//! This buffer holds all answers of a connection that are not sent yet. While this buffer is not empty, the
//! loop answers no further request of the connection and reads nothing from the connection. So a client that
//! sends requests and never reads answers costs at most one buffer.
//!
//! A *tail* is the rest of a body that is too large to be copied into the buffer: a position in a file, or
//! bytes in memory. The loop reads a file one chunk at a time, from the position up to which the client has
//! taken the file.

use crate::access_log::Line;
use crate::http::{CHUNK, Share, append_chunk};
use crate::limits::Limits;
use crate::write_budget::WriteBudget;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::time::Instant;

/// How many chunks of a tail are sent in one turn.
const CHUNKS: usize = 16;

/// The answers that wait to be sent, and their access-log lines, which are written after the answers are
/// sent.
#[derive(Debug, Default)]
pub(super) struct SendBuffer {
    bytes: Vec<u8>,
    /// The number of bytes that have been sent.
    sent: usize,
    tail: Option<Tail>,
    /// `None` while there is nothing to send.
    budget: Option<WriteBudget>,
    /// The number of bytes that were sent since the connection was opened.
    total: u64,
    lines: VecDeque<Unfinished>,
}

/// The remaining bytes of a body.
#[derive(Debug)]
pub(super) struct Tail {
    source: Source,
    at: u64,
    end: u64,
    /// The tail's share of the memory for bodies; the tail may be a body that a client has sent.
    _share: Share,
}

#[derive(Debug)]
pub(super) enum Source {
    /// A file; its bytes are not kept in memory, so bytes that the system did not take are read again
    /// later.
    File(Arc<File>),
    Memory(Cow<'static, [u8]>),
}

impl Tail {
    /// Makes a tail that consists of the bytes `at..end` of `source`.
    pub(super) fn new(source: Source, at: u64, end: u64) -> Tail {
        Tail { source, at, end, _share: Share::default() }
    }

    /// Keeps this share of the memory until the tail is sent.
    pub(super) fn with(self, share: Share) -> Tail {
        Tail { _share: share, ..self }
    }

    /// Writes the next bytes of the tail, but at most one chunk. Returns the number of bytes that
    /// were written, and whether `to` accepts more bytes.
    fn send(&mut self, buffer: &mut Vec<u8>, to: &mut impl Write) -> io::Result<(usize, bool)> {
        let chunk = match &self.source {
            Source::File(file) => {
                append_chunk(file, self.at, self.end, buffer)?;
                &buffer[..]
            }
            Source::Memory(bytes) => {
                let rest = &bytes[usize::try_from(self.at).expect("it is in memory")..];
                &rest[..rest.len().min(CHUNK)]
            }
        };
        let (count, is_all) = write_all_of(chunk, to).map(|count| (count, count == chunk.len()))?;
        buffer.clear();
        self.at += count as u64;
        Ok((count, is_all))
    }
}

/// The access-log line of an answer that is not completely sent. Both positions count the bytes since the
/// connection was opened.
#[derive(Debug)]
struct Unfinished {
    line: Line,
    began: Instant,
    body: u64,
    end: u64,
}

/// The result of sending from the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    All,
    /// The system cannot take more bytes now.
    Blocked,
    /// The buffer has more bytes, but this turn has sent enough.
    Enough,
}

impl SendBuffer {
    /// Returns whether nothing is left to send.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.tail.is_none()
    }

    /// Returns whether a tail is left to send. The caller must append nothing after a tail.
    pub(super) fn has_tail(&self) -> bool {
        self.tail.is_some()
    }

    /// Returns the time until which the client must take the next bytes; returns `None` if the client has
    /// taken all bytes.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.budget.as_ref().map(WriteBudget::deadline)
    }

    /// Gives the client time until `deadline` at most, however many bytes the client takes.
    pub(super) fn end_by(&mut self, deadline: Instant) {
        if let Some(budget) = &mut self.budget {
            budget.end_by(deadline);
        }
    }

    /// Appends a tail behind the bytes.
    pub(super) fn put_tail(&mut self, tail: Tail) {
        debug_assert!(self.tail.is_none(), "one at a time");
        self.tail = Some(tail);
    }

    /// Sets the log line of the next answer; `head` and `body` are the lengths of the answer's parts in
    /// bytes.
    pub(super) fn put_line(&mut self, line: Line, began: Instant, before: usize, head: usize, body: u64) {
        let body_at = self.total + (before + head) as u64;
        self.lines.push_back(Unfinished { line, began, body: body_at, end: body_at + body });
    }

    /// Sends the buffer and then `fresh` at the time `now`, until `to` accepts no more bytes. The function
    /// leaves `fresh` empty.
    ///
    /// `fresh` is the buffer that all connections share. This buffer keeps only the bytes that the system
    /// did not take.
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
        self.budget.get_or_insert_with(|| WriteBudget::new(limits, now));
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
            self.budget = None;
        }
        Ok(sent)
    }

    fn send_tail(&mut self, buffer: &mut Vec<u8>, to: &mut impl Write, now: Instant) -> io::Result<Sent> {
        for _ in 0..CHUNKS {
            let Some(tail) = &mut self.tail else { return Ok(Sent::All) };
            let (count, is_all) = tail.send(buffer, to)?;
            self.took(count, now);
            if !is_all {
                return Ok(Sent::Blocked);
            }
            self.tail.take_if(|tail| tail.at == tail.end);
        }
        Ok(if self.tail.is_none() { Sent::All } else { Sent::Enough })
    }

    fn took(&mut self, count: usize, now: Instant) {
        self.total += count as u64;
        if let Some(budget) = &mut self.budget {
            budget.earn(count, now);
        }
        while let Some(first) = self.lines.pop_front_if(|first| first.end <= self.total) {
            first.line.end(first.end - first.body, false, first.began.elapsed());
        }
    }
}

impl Drop for SendBuffer {
    /// For each answer that was not sent completely, logs the number of bytes that were sent.
    fn drop(&mut self) {
        for Unfinished { line, began, body, .. } in self.lines.drain(..) {
            line.end(self.total.saturating_sub(body), true, began.elapsed());
        }
    }
}

/// Writes until all bytes are written or `to` has no more room. Returns the number of bytes that
/// were written.
fn write_all_of(bytes: &[u8], to: &mut impl Write) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match to.write(&bytes[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}
