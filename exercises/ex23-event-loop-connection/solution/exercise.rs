//! One connection of an event loop: it reads requests and writes answers in pieces, and never waits.
#![allow(unused)]

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::mem;

// ----- Given. -----

/// The two directions in which a connection can be ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    pub readable: bool,
    pub writable: bool,
}

/// The limits on the work of one turn, and on the bytes in memory. Each limit is at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The bound on the answer bytes that wait to be written. At this bound, the connection reads nothing and
    /// answers no request.
    pub pending: usize,
    /// The length of the longest request, without its line end.
    pub line: usize,
    /// One turn reads at most this many pieces, answers at most this many requests, and writes at most this
    /// many pieces.
    pub per_turn: usize,
}

/// What the event loop must do next, after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Call `turn` again when the poller reports one of the given directions. Until the poller reports a
    /// direction, the connection can do nothing.
    Wait(Ready),
    /// Call `turn` again soon, after the turns of other connections. The connection can go on without
    /// waiting.
    Again,
    /// Close the connection.
    Close(End),
}

/// The reason why a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has closed its side, and has received all answers.
    Finished,
    /// A request is longer than the limit. The client has received the answers to the requests before the
    /// long request.
    TooLong,
    /// The transport has failed: reading and writing are no longer possible.
    Failed(ErrorKind),
}

// ----- Yours. -----

/// A client's connection, with the input that has no answer yet, and the answers that are not written yet.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    /// The input that has no answer yet: complete requests, and the beginning of another request.
    input: Vec<u8>,
    /// The answers that are not written yet.
    output: VecDeque<u8>,
    /// The ready directions: the poller has reported them, and they have not returned `WouldBlock` since.
    ready: Ready,
    /// The reason why the connection reads nothing more, if there is one.
    end: Option<End>,
}

/// The numbers of reads, answers and writes that the turn may still do.
struct Budget {
    reads: usize,
    requests: usize,
    writes: usize,
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has not read anything. `handler` gets a request without its line end and
    /// returns an answer without a line end.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        let (input, output) = (Vec::new(), VecDeque::new());
        Self { transport, handler, limits, input, output, ready: Ready::default(), end: None }
    }

    /// Reads input, answers requests and writes answers, as far as possible without waiting, up to the limit
    /// of a turn. `ready` contains the directions that the poller has reported since the last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        self.ready.readable |= ready.readable;
        self.ready.writable |= ready.writable;
        match self.work() {
            Ok(()) => self.next(),
            Err(error) => Next::Close(End::Failed(error.kind())),
        }
    }

    fn work(&mut self) -> io::Result<()> {
        let per_turn = self.limits.per_turn;
        let mut left = Budget { reads: per_turn, requests: per_turn, writes: per_turn };
        loop {
            // Reading is the last step, because new input makes work for the other steps.
            if self.can_answer() && left.requests > 0 {
                left.requests -= 1;
                self.answer();
            } else if self.can_write() && left.writes > 0 {
                left.writes -= 1;
                self.write()?;
            } else if self.can_read() && left.reads > 0 {
                left.reads -= 1;
                self.read()?;
            } else {
                return Ok(());
            }
        }
    }

    fn next(&self) -> Next {
        if self.can_answer() || self.can_write() || self.can_read() {
            return Next::Again;
        }
        match self.end {
            Some(end) if self.output.is_empty() => Next::Close(end),
            _ => Next::Wait(Ready { readable: self.wants_to_read(), writable: !self.output.is_empty() }),
        }
    }

    /// Returns true if there is a complete or too long request, and room for its answer.
    fn can_answer(&self) -> bool {
        self.has_room() && (self.input.contains(&b'\n') || self.input.len() > self.limits.line)
    }

    fn can_write(&self) -> bool {
        !self.output.is_empty() && self.ready.writable
    }

    fn can_read(&self) -> bool {
        self.wants_to_read() && self.ready.readable
    }

    /// Returns true if the connection may read more: the input has not ended, there is room for answers, and
    /// no request waits for its answer.
    fn wants_to_read(&self) -> bool {
        self.end.is_none() && self.has_room() && !self.can_answer()
    }

    fn has_room(&self) -> bool {
        self.output.len() < self.limits.pending
    }

    fn answer(&mut self) {
        let line_end = self.input.iter().position(|byte| *byte == b'\n');
        match line_end {
            Some(length) if length <= self.limits.line => {
                let request: Vec<u8> = self.input.drain(..=length).collect();
                self.output.extend((self.handler)(&request[..length]));
                self.output.push_back(b'\n');
            }
            _ => {
                self.input.clear();
                self.end = Some(End::TooLong);
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let (bytes, _) = self.output.as_slices();
        match self.transport.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => drop(self.output.drain(..written)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.ready.writable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {} // still ready
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut piece = [0; 4096];
        match self.transport.read(&mut piece) {
            Ok(0) => self.end = Some(End::Finished),
            Ok(read) => self.input.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.ready.readable = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {} // still ready
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
