//! The values that an event loop lends to a connection for its turn.
//!
//! A loop has only one set of buffers, clock and spare memory, not one for each connection. Only one
//! connection at a time has a turn, and most of the thousands of connections are idle.

use super::handoff::{Answers, Exchange, Job, Remote};
use crate::http::{Request, date};
use crate::server::Server;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// The largest number of bytes that one read can return.
const READ: usize = 64 * 1024;

/// How many used exchanges are kept for further requests.
const SPARE: usize = 64;

/// The largest capacity, in bytes, of the answer's buffer in an exchange that is kept.
const MOST_KEPT: usize = 128 * 1024;

/// The values that the turn of each connection uses.
pub(super) struct Turn {
    pub(super) server: Arc<Server>,
    pub(super) answers: Arc<Answers>,
    pub(super) hand_over: Option<HandOver>,
    /// The time when the turn began, or a later time if the loop has read the clock again.
    pub(super) now: Instant,
    pub(super) stop: Stop,
    /// The buffer into which reads put their bytes.
    pub(super) arrived: Box<[u8]>,
    /// The answers of the current connection that are not sent yet.
    pub(super) output: Vec<u8>,
    #[expect(clippy::vec_box, reason = "it is the box that goes to another thread and back")]
    spare: Vec<Box<Exchange>>,
}

/// Selects the requests that other threads answer, and hands these requests over.
pub(super) struct HandOver {
    pub(super) is_wanted: Box<dyn Fn(&Request<'_>) -> bool + Send>,
    pub(super) give: Box<dyn Fn(Job) + Send>,
}

/// The progress of the loop towards its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    No,
    /// The loop finishes the requests in progress. The loop keeps idle connections at least until this time,
    /// because their next request may be on its way.
    Asked(Instant),
    /// The loop has no more time.
    Cancelled,
}

impl Turn {
    pub(super) fn new(server: &Arc<Server>, answers: Answers) -> Turn {
        Turn {
            server: Arc::clone(server),
            answers: Arc::new(answers),
            hand_over: None,
            now: Instant::now(),
            stop: Stop::No,
            arrived: vec![0; READ].into(),
            output: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(super) fn look_at_the_clock(&mut self) {
        self.now = Instant::now();
        date::hold();
    }

    pub(super) fn hands_over(&self, request: &Request<'_>) -> bool {
        self.hand_over.as_ref().is_some_and(|hand_over| (hand_over.is_wanted)(request))
    }

    /// Returns an exchange for a request of this client, if possible in the memory of an exchange that is no
    /// longer in use.
    pub(super) fn exchange(&mut self, peer: SocketAddr, client: Arc<Remote>) -> Box<Exchange> {
        match self.spare.pop() {
            Some(mut used) => {
                (used.peer, used.client) = (peer, client);
                used
            }
            None => Box::new(Exchange::new(Arc::clone(&self.server), peer, client)),
        }
    }

    /// Keeps an exchange so that another request can use its memory, unless its buffer is large.
    pub(super) fn keep(&mut self, mut exchange: Box<Exchange>) {
        if self.spare.len() < SPARE && exchange.output.capacity() <= MOST_KEPT {
            exchange.forget();
            self.spare.push(exchange);
        }
    }

    pub(super) fn hand_over(&self, exchange: Box<Exchange>) {
        let hand_over = self.hand_over.as_ref().expect("it hands over");
        (hand_over.give)(Job::new(exchange, &self.answers));
    }
}
