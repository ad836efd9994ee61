//! One connection of an event loop: reads requests and writes answers in pieces, and never waits.
//!
//! This is the only file to edit. `cargo test -p ex23-event-loop-connection` checks it.
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

/// How much a connection may do and keep. Each limit is at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// While at least so many bytes of answers wait to be written, nothing is read and no request is
    /// answered.
    pub pending: usize,
    /// The longest request, without its line end.
    pub line: usize,
    /// The limit of one turn: at most so many pieces are read, so many requests answered, and so many pieces
    /// written.
    pub per_turn: usize,
}

/// What the event loop must do after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Call again when the poller tells of one of these directions. Until then nothing can be done.
    Wait(Ready),
    /// Call again soon, when other connections have had their turn. There is more to do, without waiting.
    Again,
    /// Close the connection.
    Close(End),
}

/// How a connection has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client has closed its side, and has all answers.
    Finished,
    /// A request is longer than allowed. The client has the answers to the requests before it.
    TooLong,
    /// The transport cannot be read from or written to any more.
    Failed(ErrorKind),
}

// ----- Yours. -----

/// A client's connection, with what was read and not answered, and what was answered and not written.
pub struct Connection<T, H> {
    transport: T,
    handler: H,
    limits: Limits,
    // What must be remembered from one turn to the next?
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has not read anything. `handler` gives the answer to a request, both without
    /// line ends.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        todo!("keep all of it")
    }

    /// Does what can be done without waiting, up to the limit. `ready` is what the poller has told since the
    /// last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        todo!("read, answer and write as long as something of it can be done, and say what comes next")
    }
}
