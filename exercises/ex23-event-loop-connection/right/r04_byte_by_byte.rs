//! Right: an automaton takes one byte after the other from a small buffer. The bytes that the automaton has
//! not taken stay in the buffer.
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

/// The state of the automaton.
enum Phase {
    /// The automaton is in the middle of a request.
    Request(Vec<u8>),
    /// A request is complete, and has no answer yet.
    Complete(Vec<u8>),
    /// The connection reads nothing more.
    Ended(End),
}

/// A client's connection, with the input that has no answer yet, and the answers that are not written yet.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    phase: Phase,
    buffer: [u8; 8],
    /// The number of bytes in the buffer, and the number of bytes that the automaton has taken from it.
    filled: usize,
    seen: usize,
    output: Vec<u8>,
    can_read: bool,
    can_write: bool,
}

/// The kind of step that was taken.
enum Did {
    Nothing,
    Looked,
    Answered,
    Wrote,
    Read,
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has not read anything. `handler` gets a request without its line end and
    /// returns an answer without a line end.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        Self {
            transport,
            handler,
            limits,
            phase: Phase::Request(Vec::new()),
            buffer: [0; 8],
            filled: 0,
            seen: 0,
            output: Vec::new(),
            can_read: false,
            can_write: false,
        }
    }

    /// Reads input, answers requests and writes answers, as far as possible without waiting, up to the limit
    /// of a turn. `ready` contains the directions that the poller has reported since the last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        self.can_read |= ready.readable;
        self.can_write |= ready.writable;
        let (mut answered, mut wrote, mut read) = (0, 0, 0);
        let most = self.limits.per_turn;
        while answered < most && wrote < most && read < most {
            match self.step() {
                Ok(Did::Nothing) => return self.rests(),
                Ok(Did::Looked) => {}
                Ok(Did::Answered) => answered += 1,
                Ok(Did::Wrote) => wrote += 1,
                Ok(Did::Read) => read += 1,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Next::Close(End::Failed(error.kind())),
            }
        }
        Next::Again
    }

    /// Returns the value for a turn in which no step is possible any more.
    fn rests(&self) -> Next {
        match self.phase {
            Phase::Ended(end) if self.output.is_empty() => Next::Close(end),
            Phase::Ended(_) => Next::Wait(Ready { readable: false, writable: true }),
            _ => Next::Wait(Ready { readable: self.has_room(), writable: !self.output.is_empty() }),
        }
    }

    fn has_room(&self) -> bool {
        self.output.len() < self.limits.pending
    }

    fn step(&mut self) -> io::Result<Did> {
        if self.can_write && !self.output.is_empty() {
            return self.write();
        }
        let is_empty = self.seen == self.filled;
        match &mut self.phase {
            _ if self.output.len() >= self.limits.pending => Ok(Did::Nothing),
            Phase::Ended(_) => Ok(Did::Nothing),
            Phase::Complete(request) => {
                let request = mem::take(request);
                self.output.extend((self.handler)(&request));
                self.output.push(b'\n');
                self.phase = Phase::Request(Vec::new());
                Ok(Did::Answered)
            }
            Phase::Request(_) if is_empty && !self.can_read => Ok(Did::Nothing),
            Phase::Request(_) if is_empty => self.read(),
            Phase::Request(request) => {
                let byte = self.buffer[self.seen];
                self.seen += 1;
                if byte == b'\n' {
                    self.phase = Phase::Complete(mem::take(request));
                } else if request.len() == self.limits.line {
                    self.phase = Phase::Ended(End::TooLong);
                } else {
                    request.push(byte);
                }
                Ok(Did::Looked)
            }
        }
    }

    fn write(&mut self) -> io::Result<Did> {
        match self.transport.write(&self.output) {
            Ok(0) => Err(ErrorKind::WriteZero.into()),
            Ok(written) => {
                self.output.drain(..written);
                Ok(Did::Wrote)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.can_write = false;
                Ok(Did::Looked)
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self) -> io::Result<Did> {
        match self.transport.read(&mut self.buffer) {
            Ok(0) => {
                self.phase = Phase::Ended(End::Finished);
                Ok(Did::Looked)
            }
            Ok(read) => {
                (self.filled, self.seen) = (read, 0);
                Ok(Did::Read)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.can_read = false;
                Ok(Did::Looked)
            }
            Err(error) => Err(error),
        }
    }
}
