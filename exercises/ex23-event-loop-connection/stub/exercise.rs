//! One connection of an event loop: it reads requests and writes answers in pieces, and never waits.
//!
//! This is the only file to edit. `cargo test -p ex23-event-loop-connection` checks the answer.
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
    // What must the connection remember from one turn to the next?
}

impl<T: Read + Write, H: FnMut(&[u8]) -> Vec<u8>> Connection<T, H> {
    /// Makes a connection that has not read anything. `handler` gets a request without its line end and
    /// returns an answer without a line end.
    pub fn new(transport: T, handler: H, limits: Limits) -> Self {
        todo!("keep all of it")
    }

    /// Reads input, answers requests and writes answers, as far as possible without waiting, up to the limit
    /// of a turn. `ready` contains the directions that the poller has reported since the last turn.
    pub fn turn(&mut self, ready: Ready) -> Next {
        todo!("read, answer and write as long as something of it can be done, and say what comes next")
    }
}
