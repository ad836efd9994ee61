//! Right: pieces are cut into requests when they are read; requests stand in one queue, answers in another.
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

/// What was found in the input.
enum Item {
    Request(Vec<u8>),
    TooLong,
}

/// A client's connection, with what was read and not answered, and what was answered and not written.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    /// A request that has no end yet.
    begun: Vec<u8>,
    items: VecDeque<Item>,
    /// With their line ends. Of the first, so many bytes are written.
    answers: VecDeque<Vec<u8>>,
    written: usize,
    /// Bytes of all answers that are not written.
    pending: usize,
    ready: Ready,
    reads: bool,
    end: Option<End>,
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes one that has not read anything. `handler` gives the answer to a request, both without their line ends.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        Self {
            transport,
            handler,
            limits,
            begun: Vec::new(),
            items: VecDeque::new(),
            answers: VecDeque::new(),
            written: 0,
            pending: 0,
            ready: Ready::default(),
            reads: true,
            end: None,
        }
    }

    /// Does what can be done without waiting, up to the limit. `ready` is what the poller has told since the last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        self.ready.readable |= ready.readable;
        self.ready.writable |= ready.writable;
        let (mut reads, mut writes, mut requests) = (0, 0, 0);
        let most = self.limits.per_turn;
        loop {
            let result = if requests < most && self.answers_one() {
                requests += 1;
                Ok(())
            } else if writes < most && self.ready.writable && self.pending > 0 {
                writes += 1;
                self.write()
            } else if reads < most && self.ready.readable && self.wants_to_read() {
                reads += 1;
                self.read()
            } else {
                break;
            };
            if let Err(error) = result {
                return Next::Close(End::Failed(error.kind()));
            }
        }
        let answers = !self.items.is_empty() && self.pending < self.limits.pending;
        let writes = self.ready.writable && self.pending > 0;
        if answers || writes || self.ready.readable && self.wants_to_read() {
            return Next::Again;
        }
        match self.end.filter(|_| self.pending == 0 && self.items.is_empty()) {
            Some(end) => Next::Close(end),
            None => Next::Wait(Ready { readable: self.wants_to_read(), writable: self.pending > 0 }),
        }
    }

    fn wants_to_read(&self) -> bool {
        self.reads && self.items.is_empty() && self.pending < self.limits.pending
    }

    fn answers_one(&mut self) -> bool {
        if self.pending >= self.limits.pending {
            return false;
        }
        match self.items.pop_front() {
            Some(Item::Request(request)) => {
                let mut answer = (self.handler)(&request);
                answer.push(b'\n');
                self.pending += answer.len();
                self.answers.push_back(answer);
                true
            }
            Some(Item::TooLong) => {
                self.end = Some(End::TooLong);
                true
            }
            None => false,
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(first) = self.answers.front() else { return Ok(()) };
        match self.transport.write(&first[self.written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(more) => {
                self.pending -= more;
                self.written += more;
                if self.written == first.len() {
                    self.answers.pop_front();
                    self.written = 0;
                }
            }
            Err(error) => {
                return if is_passing(&error, &mut self.ready.writable) { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut piece = [0; 512];
        match self.transport.read(&mut piece) {
            Ok(0) => (self.reads, self.end) = (false, Some(End::Finished)),
            Ok(read) => piece[..read].iter().for_each(|byte| self.has_read(*byte)),
            Err(error) => {
                return if is_passing(&error, &mut self.ready.readable) { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }

    fn has_read(&mut self, byte: u8) {
        if !self.reads {
            return; // it comes after a request that is too long
        }
        if byte == b'\n' {
            self.items.push_back(Item::Request(mem::take(&mut self.begun)));
        } else if self.begun.len() == self.limits.line {
            self.items.push_back(Item::TooLong);
            self.reads = false;
        } else {
            self.begun.push(byte);
        }
    }
}

/// Whether it is no failure. A direction that would block is not ready.
fn is_passing(error: &io::Error, ready: &mut bool) -> bool {
    *ready &= error.kind() != ErrorKind::WouldBlock;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
