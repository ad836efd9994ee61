//! Requests on their way to another thread, and answers on their way back.
//!
//! ```text
//!   event loop                                    whoever the loop hands over to
//!   take the request ──── Job ───▶ (a queue) ───▶ Job::run: answer it
//!   send the answer  ◀── Mailbox ──────────────── post, and wake the loop
//! ```
//!
//! The two share nothing but the mailbox: a request moves to the other thread, and its answer moves back. The memory of
//! an exchange is used again.
//!
//! # Invariants
//!
//! 1. Each job posts one answer: what its handler says, 500 if that panics, 503 if the job is dropped.
//! 2. Answers of one connection are sent in the order in which they are posted. That this is the order of the requests
//!    is up to whoever runs the jobs: one at a time for each connection, first come, first served.
//! 3. The loop is woken for the first answer that comes after it has looked, so it sleeps with no answer unread.

use super::outgoing::Tail;
use super::stats::ReactorStats;
use crate::access_log::Line;
use crate::http::{Body, CHUNK, OwnedRequest, Presence, Refusal, append_chunk};
use crate::server::Server;
use mio::Waker;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// One request and its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Where the connection is, and which one it is: another may have its place by now.
    pub(super) place: usize,
    pub(super) connection: u64,
    pub(super) request: OwnedRequest,
    pub(super) stays: bool,
    peer: SocketAddr,
    client: Arc<Remote>,
    /// The head of the answer, and the body as far as it is in memory.
    pub(super) output: Vec<u8>,
    pub(super) tail: Option<Tail>,
    pub(super) line: Option<(Line, Instant, usize, u64)>,
}

/// What a job can know of its client, which is on another thread.
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
    pub(super) fn new(peer: SocketAddr, client: Arc<Remote>) -> Exchange {
        Exchange {
            place: 0,
            connection: 0,
            request: OwnedRequest::default(),
            stays: false,
            peer,
            client,
            output: Vec::new(),
            tail: None,
            line: None,
        }
    }

    /// Makes one that was used ready for another client.
    pub(super) fn reused(mut self: Box<Self>, peer: SocketAddr, client: Arc<Remote>) -> Box<Self> {
        (self.peer, self.client) = (peer, client);
        self.output.clear();
        (self.tail, self.line) = (None, None);
        self
    }

    fn answer(&mut self, server: &Server) {
        let began = Instant::now();
        let mut request = self.request.request();
        request.peer = Some(self.peer);
        request.client = Some(&*self.client);
        let (response, is_sound) = server.respond(&request);
        self.stays &= is_sound;
        let line = server.log.begin(self.peer, Some(&request), response.status.code());
        let length = response.body.length();
        let body = self.request.answer(response, self.stays, &mut self.output);
        let head = self.output.len();
        match into_bytes(body, &mut self.output) {
            Ok(tail) => self.tail = tail,
            // The head has promised a body. Only the end of the connection can tell the client that it does not come.
            Err(_) => self.stays = false,
        }
        self.line = line.map(|line| (line, began, head, length));
    }

    /// The answer of a server that has no room for the request.
    fn decline(&mut self) {
        let response = Refusal::Overloaded.response();
        self.stays = false;
        self.output.clear();
        if let Body::Bytes(bytes) = self.request.answer(response, false, &mut self.output) {
            self.output.extend_from_slice(&bytes);
        }
    }
}

/// Appends a body to `out`. Gives back what is not in memory: of a file all but the first chunk.
///
/// # Errors
///
/// When the file cannot be read, or is shorter than it was.
pub(super) fn into_bytes(body: Body, out: &mut Vec<u8>) -> io::Result<Option<Tail>> {
    match body {
        Body::None => Ok(None),
        Body::Bytes(bytes) => {
            out.extend_from_slice(&bytes);
            Ok(None)
        }
        Body::File { file, start, length } => {
            let end = start + length;
            append_chunk(&file, start, end, out)?;
            Ok((length > CHUNK).then(|| Tail { file, at: start + CHUNK, end }))
        }
    }
}

/// One request that waits for its answer. Dropped without having [run](Job::run), it answers 503.
#[derive(Debug)]
pub struct Job {
    /// None once it is posted.
    exchange: Option<Box<Exchange>>,
    desk: Arc<Desk>,
}

/// Where jobs come from and answers go to.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) server: Arc<Server>,
    pub(super) mailbox: Mailbox,
    pub(super) stats: Arc<ReactorStats>,
}

impl Job {
    pub(super) fn new(exchange: Box<Exchange>, desk: &Arc<Desk>) -> Job {
        Job { exchange: Some(exchange), desk: Arc::clone(desk) }
    }

    /// The number of the connection that the request came over. Jobs of one connection have to be run one after the
    /// other, in the order in which they were handed over.
    pub fn connection(&self) -> u64 {
        self.exchange.as_ref().expect("it was not run").connection
    }

    /// Answers the request.
    ///
    /// # Blocking
    ///
    /// As long as the handler does. It never waits for the client.
    pub fn run(mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.answer(&self.desk.server);
        }
        self.post();
    }

    fn post(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            self.desk.mailbox.post(exchange);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.decline();
        }
        self.post();
    }
}

/// Answers that the event loop has not seen.
#[derive(Debug)]
pub(super) struct Mailbox {
    posted: Mutex<Vec<Box<Exchange>>>,
    waker: Waker,
}

impl Mailbox {
    pub(super) fn new(waker: Waker) -> Mailbox {
        Mailbox { posted: Mutex::new(Vec::new()), waker }
    }

    fn post(&self, exchange: Box<Exchange>) {
        let is_first = {
            let mut posted = self.posted.lock().unwrap_or_else(PoisonError::into_inner);
            posted.push(exchange);
            posted.len() == 1
        };
        if is_first {
            self.wake();
        }
    }

    /// Lets the event loop look.
    pub(super) fn wake(&self) {
        // It fails only where the system is out of memory; the loop looks again at its next event then.
        let _ = self.waker.wake();
    }

    /// Moves all answers into `seen`, which is empty.
    pub(super) fn take_all(&self, seen: &mut Vec<Box<Exchange>>) {
        std::mem::swap(&mut *self.posted.lock().unwrap_or_else(PoisonError::into_inner), seen);
    }
}
