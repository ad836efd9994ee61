//! Right: each turn takes one step, and says `Again` until none is left.
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

/// A client's connection, with what was read and not answered, and what was answered and not written.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    /// Read and not answered: complete requests, and the beginning of one.
    input: Vec<u8>,
    /// Answers that are not written.
    output: VecDeque<u8>,
    /// As far as we know: a direction is ready until it says `WouldBlock`, and again when the poller tells of it.
    ready: Ready,
    /// Nothing more is read, and why.
    end: Option<End>,
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has read nothing. `handler` answers requests, without the line ends of either.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        let (input, output) = (Vec::new(), VecDeque::new());
        Self { transport, handler, limits, input, output, ready: Ready::default(), end: None }
    }

    /// Does what can be done without waiting, up to the limit. `ready` is what the poller has told since the last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        self.ready.readable |= ready.readable;
        self.ready.writable |= ready.writable;
        match self.work() {
            Ok(()) => self.next(),
            Err(error) => Next::Close(End::Failed(error.kind())),
        }
    }

    fn work(&mut self) -> io::Result<()> {
        if self.can_write() {
            self.write()
        } else if self.can_answer() {
            self.answer();
            Ok(())
        } else if self.can_read() {
            self.read()
        } else {
            Ok(())
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

    /// Whether there is a request, complete or too long, and room for its answer.
    fn can_answer(&self) -> bool {
        self.has_room() && (self.input.contains(&b'\n') || self.input.len() > self.limits.line)
    }

    fn can_write(&self) -> bool {
        !self.output.is_empty() && self.ready.writable
    }

    fn can_read(&self) -> bool {
        self.wants_to_read() && self.ready.readable
    }

    /// Only if nothing else is left to do with what was read.
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
