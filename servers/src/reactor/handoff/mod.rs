//! A request that the loop passes to another thread, and the answer that comes back.
//!
//! ```text
//!   event loop     Exchange: the request ──▶ Job ──▶ Job::run, on another thread
//!                  Exchange: the answer  ◀──────────  (or the job is dropped, and the answer is 503)
//! ```
//!
//! The loop passes a complete request, in its own box, to another thread. The other thread produces the bytes
//! of the answer, head and body. The other thread never waits for the client, and the loop only has to send
//! the bytes. The box comes back through the [mailbox] of the loop; after the answer is sent, the loop uses
//! the box for another request.

mod mailbox;

/// Only this module imports the types that a model replaces.
mod door {
    pub(super) use std::sync;
}

use super::send_buffer::{Source, Tail};
use crate::access_log::Line;
use crate::http::{Body, CHUNK, CLOSE, OwnedRequest, Presence, Refusal, Response, append_chunk};
use crate::server::Server;
use mailbox::{Errand, Load, Mailbox, Notify};
use mio::Waker;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// One request that is passed to another thread, and its answer. The memory of an exchange is used again for
/// other requests.
#[derive(Debug)]
pub(super) struct Exchange {
    server: Arc<Server>,
    /// The slab index and the unique number of the connection; the number shows whether the index already
    /// belongs to another connection.
    pub(super) place: usize,
    pub(super) connection: u64,
    pub(super) request: OwnedRequest,
    /// True if the connection stays open after this request.
    pub(super) stays: bool,
    /// True if more bytes have arrived behind the request.
    pub(super) has_more: bool,
    pub(super) peer: SocketAddr,
    pub(super) client: Arc<Remote>,
    /// The head of the answer, and the part of the body that is in memory.
    pub(super) output: Vec<u8>,
    pub(super) tail: Option<Tail>,
    pub(super) line: Option<AnswerLine>,
}

/// The line of the answer in the access log.
#[derive(Debug)]
pub(super) struct AnswerLine {
    pub(super) line: Line,
    pub(super) began: Instant,
    /// The number of bytes in the answer's head, and the number in its body.
    pub(super) head: usize,
    pub(super) body: u64,
}

/// What a handler on another thread can learn about its client.
#[derive(Debug, Default)]
pub(super) struct Remote(AtomicBool);

impl Remote {
    pub(super) fn leaves(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Presence for Remote {
    fn has_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Exchange {
    pub(super) fn new(server: Arc<Server>, peer: SocketAddr, client: Arc<Remote>) -> Exchange {
        Exchange {
            server,
            place: 0,
            connection: 0,
            request: OwnedRequest::default(),
            stays: false,
            has_more: false,
            peer,
            client,
            output: Vec::new(),
            tail: None,
            line: None,
        }
    }

    fn answer(&mut self) {
        let began = Instant::now();
        let mut request = self.request.request();
        request.peer = Some(self.peer);
        request.client = Some(&*self.client);
        let (response, is_sound) = self.server.respond(&request);
        self.stays &= is_sound;
        let line = self.server.begin_answer(self.peer, Some(&request), response.status);
        let length = response.body.length();
        let then = self.server.then(self.stays, self.has_more);
        let body = self.request.answer(response, then, &mut self.output);
        let head = self.output.len();
        match into_bytes(body, &mut self.output) {
            Ok(tail) => self.tail = tail.map(|tail| tail.with(self.request.take_share())),
            // The head of the answer has already promised a body. Only the end of the connection can tell the
            // client that the body is missing.
            Err(_) => self.stays = false,
        }
        self.line = line.map(|line| AnswerLine { line, began, head, body: length });
    }

    /// Drops the contents of the request and the answer, and keeps their memory for other requests.
    pub(super) fn forget(&mut self) {
        self.request.drop_body();
        (self.tail, self.line) = (None, None);
        self.output.clear();
    }
}

impl Load for Box<Exchange> {
    /// Makes the answer of a server that has no room for the request.
    fn is_undone(&mut self) {
        self.stays = false;
        self.output.clear();
        let response = Refusal::Overloaded.response();
        self.server.tally.refused(Refusal::Overloaded);
        self.server.tally.answered(response.status);
        if let Body::Bytes(bytes) = self.request.answer(response, false, &mut self.output) {
            self.output.extend_from_slice(&bytes);
        }
    }
}

impl Notify for Waker {
    fn notify(&self) {
        // Waking the loop fails only if the system is out of memory; then the loop empties its mailbox at its
        // next event.
        let _ = self.wake();
    }
}

/// The mailbox of an event loop.
pub(super) type Answers = Mailbox<Box<Exchange>, Waker>;

/// A request that waits for its answer. A job that is dropped before it has [run](Job::run) answers 503.
#[derive(Debug)]
pub struct Job(Errand<Box<Exchange>, Waker>);

impl Job {
    pub(super) fn new(exchange: Box<Exchange>, answers: &Arc<Answers>) -> Job {
        Job(Errand::new(exchange, answers))
    }

    /// Returns the unique number of the request's connection. The program must run the jobs of one connection
    /// one after the other, in the order in which the program got them, because the loop sends the answers in
    /// the order in which they come back.
    pub fn connection(&self) -> u64 {
        self.0.load().connection
    }

    /// Answers the request of the job.
    ///
    /// # Blocking
    ///
    /// Blocks while the handler blocks, but never waits for the client.
    pub fn run(self) {
        self.0.done(|exchange| exchange.answer());
    }
}

/// Appends the next bytes of a body to `out`, but at most one chunk. Returns the part of the body that was
/// not appended.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or is shorter than expected.
pub(super) fn into_bytes(body: Body, out: &mut Vec<u8>) -> io::Result<Option<Tail>> {
    match body {
        Body::None => Ok(None),
        Body::Bytes(bytes) => {
            let end = bytes.len();
            out.extend_from_slice(&bytes[..end.min(CHUNK)]);
            Ok((end > CHUNK).then(|| Tail::new(Source::Memory(bytes), CHUNK as u64, end as u64)))
        }
        Body::File { file, start, length } => {
            let (chunk, end) = (CHUNK as u64, start + length);
            append_chunk(&file, start, end, out)?;
            Ok((length > chunk).then(|| Tail::new(Source::File(file), start + chunk, end)))
        }
    }
}

/// Appends an answer from memory, as the last answer of the connection. Returns the length of the answer's
/// head.
pub(super) fn append_last(response: Response, output: &mut Vec<u8>) -> usize {
    let before = output.len();
    response.append_head(CLOSE, output);
    let head = output.len() - before;
    if let Body::Bytes(bytes) = response.body {
        output.extend_from_slice(&bytes);
    }
    head
}
