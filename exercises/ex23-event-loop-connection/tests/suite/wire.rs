//! A transport that follows a script, and fails the test if the connection breaks a rule.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

use exercises_harness::{fail, step};

use super::super::exercise::{Limits, Ready};
use super::causes::{AFTER_END, ANSWER_FIRST, BUDGET, EMPTY, NOT_A_REQUEST, ONE_ANSWER, READS_ON, TOO_LONG};
use super::script::{Direction, Event};

/// The state of the transport: the bytes that have moved, and the events to come.
pub struct Wire {
    pub(super) input: Direction,
    pub(super) output: Direction,
    pub(super) limits: Limits,
    /// The part of an incomplete request that the connection has read.
    line: Vec<u8>,
    /// The complete requests that have not been given to the handler.
    pub(super) requests: VecDeque<Vec<u8>>,
    pub(super) too_long: bool,
    /// The answers that the handler has returned, with their line ends.
    answered: Vec<u8>,
    written: Vec<u8>,
    /// The number of calls in this turn that have changed something; a repeated `WouldBlock` changes nothing.
    pub(super) news: usize,
    handled: usize,
    pub(super) failed: Option<ErrorKind>,
}

/// The transport that the test gives to the connection.
pub struct Transport(pub Rc<RefCell<Wire>>);

pub(super) fn text(bytes: &[u8]) -> String {
    match bytes {
        [first @ .., _] if first.len() > 100 => {
            format!("\"{} …\" ({} bytes)", first[..40].escape_ascii(), bytes.len())
        }
        _ => format!("\"{}\"", bytes.escape_ascii()),
    }
}

/// Returns the answer to a request: the request in capitals, with each semicolon replaced by a line end, so
/// that answers contain line ends, too.
pub fn answer_to(request: &[u8]) -> Vec<u8> {
    request.iter().map(|byte| if *byte == b';' { b'\n' } else { byte.to_ascii_uppercase() }).collect()
}

impl Wire {
    pub fn new(input: Vec<Event>, output: Vec<Event>, limits: Limits) -> Self {
        Self {
            input: Direction::of(input),
            output: Direction::of(output),
            limits,
            line: Vec::new(),
            requests: VecDeque::new(),
            too_long: false,
            answered: Vec::new(),
            written: Vec::new(),
            news: 0,
            handled: 0,
            failed: None,
        }
    }

    /// Returns the directions that are ready at the beginning.
    pub fn at_first(&self) -> Ready {
        Ready { readable: !self.input.blocked, writable: !self.output.blocked }
    }

    /// Returns the directions that the connection waits for and that have become ready.
    pub fn poll(&mut self, interest: Ready) -> Ready {
        Ready { readable: self.input.poll(interest.readable), writable: self.output.poll(interest.writable) }
    }

    /// Returns the bytes that the client has received.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    pub fn begin_turn(&mut self, told: Ready) {
        self.input.begin_turn(told.readable);
        self.output.begin_turn(told.writable);
        (self.news, self.handled) = (0, 0);
    }

    pub(super) fn pending(&self) -> usize {
        self.answered.len() - self.written.len()
    }

    pub(super) fn has_room(&self) -> bool {
        self.pending() < self.limits.pending
    }

    pub(super) fn is_at_its_limit(&self) -> bool {
        [self.handled, self.input.moved, self.output.moved].contains(&self.limits.per_turn)
    }

    pub(super) fn nothing_more_is_read(&self) -> bool {
        self.input.over || self.too_long
    }

    /// The handler of the connection; checks that each call gets the next request.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        step(&format!("the handler is asked {}", text(request)));
        if self.failed.is_some() {
            fail("the handler is called, and the transport has failed", AFTER_END);
        }
        self.news += 1;
        self.handled += 1;
        match self.requests.pop_front() {
            Some(next) if next == request => {}
            Some(next) => fail(
                &format!("the handler is asked {}, and the next request is {}", text(request), text(&next)),
                NOT_A_REQUEST,
            ),
            None => {
                let seen = format!("the handler is asked {}, and no request is complete", text(request));
                fail(&seen, if self.too_long { TOO_LONG } else { NOT_A_REQUEST });
            }
        }
        if !self.has_room() {
            let (pending, limit) = (self.pending(), self.limits.pending);
            fail(
                &format!(
                    "a request is answered while {pending} bytes wait to be written, and the limit is {limit}"
                ),
                READS_ON,
            );
        }
        if self.handled > self.limits.per_turn {
            self.too_much(self.handled, "requests are answered");
        }
        let answer = answer_to(request);
        self.answered.extend_from_slice(&answer);
        self.answered.push(b'\n');
        answer
    }

    fn too_much(&self, count: usize, what: &str) -> ! {
        let limit = self.limits.per_turn;
        fail(&format!("{count} {what} in one turn, and the limit is {limit}"), BUDGET)
    }

    fn may_read(&self, buffer: &[u8]) {
        let (pending, limit) = (self.pending(), self.limits.pending);
        if self.input.over {
            fail("read() is called, and the input has ended or failed", AFTER_END);
        } else if self.failed.is_some() {
            fail("read() is called, and write() has failed", AFTER_END);
        } else if self.too_long {
            fail(
                &format!("read() is called, and a request has more than {} bytes", self.limits.line),
                TOO_LONG,
            );
        } else if !self.has_room() {
            fail(
                &format!(
                    "read() is called while {pending} bytes wait to be written, and the limit is {limit}"
                ),
                READS_ON,
            );
        } else if let Some(request) = self.requests.front() {
            fail(
                &format!("read() is called, and the request {} has no answer yet", text(request)),
                ANSWER_FIRST,
            );
        } else if buffer.is_empty() {
            fail("read() is called with an empty buffer", EMPTY);
        }
    }

    /// Records the bytes that the connection has read.
    fn has_read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.too_long {
                return;
            }
            if *byte == b'\n' {
                self.requests.push_back(std::mem::take(&mut self.line));
            } else {
                self.line.push(*byte);
                self.too_long = self.line.len() > self.limits.line;
            }
        }
    }

    /// Records an error, and returns true if the error ends the direction.
    fn fails(&mut self, kind: ErrorKind) -> bool {
        if kind != ErrorKind::Interrupted {
            self.failed = Some(kind);
        }
        kind != ErrorKind::Interrupted
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.may_read(buffer);
        let is_new = !self.input.blocked;
        if self.input.blocks("read()") {
            self.news += usize::from(is_new);
            step("read() gives WouldBlock");
            return Err(ErrorKind::WouldBlock.into());
        }
        self.news += 1;
        match self.input.events.pop_front() {
            Some(Event::Bytes(bytes)) => {
                let (now, later) = bytes.split_at(bytes.len().min(buffer.len()));
                if !later.is_empty() {
                    self.input.events.push_front(Event::Bytes(later));
                }
                buffer[..now.len()].copy_from_slice(now);
                step(&format!("read() gives {}", text(now)));
                self.has_read(now);
                self.input.moved += 1;
                if self.input.moved > self.limits.per_turn {
                    self.too_much(self.input.moved, "pieces are read");
                }
                Ok(now.len())
            }
            Some(Event::Fails(kind)) => {
                self.input.over = self.fails(kind);
                step(&format!("read() gives {kind:?}"));
                Err(kind.into())
            }
            _ => {
                self.input.over = true;
                step("read() gives 0: the end");
                Ok(0)
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_some() {
            fail("write() is called, and the transport has failed before", AFTER_END);
        } else if bytes.is_empty() {
            fail("write() is called with nothing to write", EMPTY);
        }
        let is_new = !self.output.blocked;
        // Without a script for writes, there is always room.
        if matches!(self.output.events.front(), Some(Event::Block)) && self.output.blocks("write()") {
            self.news += usize::from(is_new);
            step("write() gives WouldBlock");
            return Err(ErrorKind::WouldBlock.into());
        }
        self.news += 1;
        let room = match self.output.events.pop_front() {
            Some(Event::Fails(kind)) => {
                self.output.over = self.fails(kind);
                step(&format!("write() gives {kind:?}"));
                return Err(kind.into());
            }
            Some(Event::Room(room)) => room,
            _ => bytes.len(),
        };
        let written = &bytes[..room.min(bytes.len())];
        step(&format!("write() takes {}", text(written)));
        if written.is_empty() {
            self.output.over = self.fails(ErrorKind::WriteZero);
        }
        self.written.extend_from_slice(written);
        if !self.answered.starts_with(&self.written) {
            let (written, answered) = (text(&self.written), text(&self.answered));
            fail(
                &format!("written so far: {written}; and the answers with their line ends: {answered}"),
                ONE_ANSWER,
            );
        }
        self.output.moved += 1;
        if self.output.moved > self.limits.per_turn {
            self.too_much(self.output.moved, "pieces are written");
        }
        Ok(written.len())
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
