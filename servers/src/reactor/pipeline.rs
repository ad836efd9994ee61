//! The requests of one connection that other threads answer, until the answers are sent.
//!
//! A client may send its next request before it has the answer to the previous request. Other threads answer
//! these requests while the loop continues to read. The jobs of one connection run in order, so the answers
//! come back in the order of the requests. Both the number of these requests and the sum of their bytes are
//! bounded. While a bound is reached, the loop does not parse the next request, and TCP makes the client
//! wait.

use super::handoff::{Exchange, Remote};
use super::turn::Turn;
use crate::http::Conversation;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// The number of requests of one connection that other threads may have at the same time.
const MOST: usize = 8;

/// The number of bytes that these requests may have together; a single request may be larger.
const MOST_BYTES: usize = 64 * 1024;

/// Counts the requests of the connection that have no answer yet, and keeps each answer until its turn to
/// be sent.
#[derive(Default)]
pub(super) struct Pipeline {
    /// The number of requests that have no answer yet, and the number of their bytes.
    unanswered: usize,
    bytes: usize,
    answered: VecDeque<Box<Exchange>>,
    /// True if the last answer of the connection was already returned. Later answers are dropped.
    is_over: bool,
    client: Option<Arc<Remote>>,
}

impl Pipeline {
    pub(super) fn is_empty(&self) -> bool {
        self.unanswered == 0 && self.answered.is_empty()
    }

    /// Returns true if the connection has nothing to send until another thread answers.
    pub(super) fn has_to_come(&self) -> bool {
        self.unanswered > 0 && self.answered.is_empty() && !self.is_over
    }

    pub(super) fn has_unanswered(&self) -> bool {
        self.unanswered > 0
    }

    pub(super) fn has_answers(&self) -> bool {
        !self.answered.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.unanswered == 0 || (self.unanswered < MOST && self.bytes < MOST_BYTES)
    }

    /// Moves the current request of a conversation into an exchange, and counts the request.
    pub(super) fn take(
        &mut self,
        conversation: &mut Conversation,
        peer: SocketAddr,
        turn: &mut Turn,
    ) -> Box<Exchange> {
        let client = Arc::clone(self.client.get_or_insert_default());
        let mut exchange = turn.exchange(peer, client);
        conversation.take(&mut exchange.request, turn.now);
        self.unanswered += 1;
        self.bytes += exchange.request.size();
        exchange
    }

    /// Takes back an exchange from another thread.
    pub(super) fn is_answered(&mut self, mut exchange: Box<Exchange>) {
        self.unanswered -= 1;
        self.bytes -= exchange.request.size();
        exchange.request.drop_body();
        if !self.is_over {
            self.answered.push_back(exchange);
        }
    }

    /// Returns the next answer to send; after the last answer of the connection, returns nothing.
    pub(super) fn next_answer(&mut self) -> Option<Box<Exchange>> {
        let next = self.answered.pop_front()?;
        if !next.stays {
            self.is_over = true;
            self.answered.clear();
        }
        Some(next)
    }

    /// Tells the handlers that their client is gone.
    pub(super) fn client_leaves(&self) {
        self.client.iter().for_each(|client| client.leaves());
    }
}
