//! Right: a small buffer, from which one byte after the other goes through an automaton; what is not looked at stays in it.
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

/// How much a connection may do and keep. Each is at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// While so many bytes of answers wait to be written, or more, nothing is read and no request is answered.
    pub pending: usize,
    /// The longest request, without its line end.
    pub line: usize,
    /// In one turn, so many pieces are read, so many requests answered and so many pieces written, at most.
    pub per_turn: usize,
}

/// What the event loop has to do after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To call again when the poller tells of one of these. Until then nothing can be done.
    Wait(Ready),
    /// To call again soon, when others have had their turn. There is more to do, and it need not be waited for.
    Again,
    /// To close the connection.
    Close(End),
}

/// How a connection has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has closed its side, and has all answers.
    Finished,
    /// A request is longer than allowed. The client has the answers to those before it.
    TooLong,
    /// It cannot be read from or written to any more.
    Failed(ErrorKind),
}

// ----- Yours. -----

/// What the automaton is at.
enum Phase {
    /// In the middle of a request.
    Request(Vec<u8>),
    /// A request is complete, and has no answer.
    Complete(Vec<u8>),
    /// Nothing more is read.
    Ended(End),
}

/// A client's connection, with what was read and not answered, and what was answered and not written.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    phase: Phase,
    buffer: [u8; 8],
    /// What of it was read, and what of that was looked at.
    filled: usize,
    seen: usize,
    output: Vec<u8>,
    can_read: bool,
    can_write: bool,
}

/// What a step has used up.
enum Did {
    Nothing,
    Looked,
    Answered,
    Wrote,
    Read,
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has read nothing. `handler` answers requests, without the line ends of either.
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

    /// Does what can be done without waiting, up to the limit. `ready` is what the poller has told since the last turn.
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

    /// Nothing more can be done now.
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
