//! The protocol of one connection as a state machine: it turns bytes into requests, and responses into bytes.
//!
//! ```text
//!            a byte                head whole                  body whole
//!   New ──────────────▶ Head ──────────────────▶ Body ─────────────────────▶ Request
//!                        ▲                         (at once, if there is none)    │
//!                        │ a byte, or there are some already                      │ answered
//!                        └─────────────────────── Idle ◀──────────────────────────┘
//! ```
//!
//! A conversation has no socket and no clock, and never waits. The *driver* of the conversation has the
//! socket and the clock, and it is the driver that waits. The driver reads bytes and [hands them
//! in](Conversation::arrived), asks for [the next step](Conversation::step), and sends the bytes that the
//! conversation returns. The blocking driver is [`Server`](crate::Server), whose thread waits between two
//! steps. An event loop instead takes the steps for which a connection is ready, and then goes on with the
//! next connection. The conversation knows how long a client may take ([`Conversation::deadline`]); the
//! driver waits until that time, unless another reason ends the wait.
//!
//! # Invariants
//!
//! - The input begins with the head of the current request. Bytes of the body are removed from the input when
//!   they are decoded; some bytes of the body never enter the input. So the bytes behind the head are not
//!   parsed yet: they belong to the body or to the next request.
//! - A request stays in the conversation until the request is [answered](Conversation::answered).
//!   Until then each step is the same, so a conversation can be moved to another thread between a
//!   step and its answer.
//! - After a refusal, a conversation sends nothing more. Each later step repeats the refusal, even if more
//!   bytes arrive, because the driver may have to send other answers first.
//! - The requests and refusals do not depend on how the bytes are split on arrival.

use super::head::Head;
use super::{Body, BodyDecoder, OwnedRequest, Persistence, Refusal, Request, Response, Room, Share};
use crate::limits::Limits;
use std::time::Instant;

/// The server's side of one connection: requests and answers.
#[derive(Debug)]
pub struct Conversation {
    limits: Limits,
    /// The memory that all conversations share.
    room: Room,
    input: Vec<u8>,
    /// This conversation's share of the room, for the input beyond [`KEPT`].
    share: Share,
    /// Where the current request begins in the input. The requests before this place have been answered.
    start: usize,
    head: Head,
    /// The decoder of the current request's body, if the head is complete.
    body: Option<BodyDecoder>,
    /// True if the client waits for a "100 Continue" that was not sent yet.
    is_waiting: bool,
    has_ended: bool,
    /// The refusal that ends the conversation, if there is one. No request follows the refusal.
    refused: Option<Refusal>,
    answered: usize,
    /// The time when the current phase began.
    since: Instant,
    /// The latest time that the driver has told the conversation.
    now: Instant,
}

/// What the driver must do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Read on: the arrived bytes are not enough for another step.
    Read,
    /// Send [`Conversation::go_ahead`], or answer the request without its body. The body is incomplete, and
    /// the client waits for permission to send it.
    Expectation,
    /// Answer the request, which has arrived completely.
    Request,
    /// Close the connection: the client has ended its side, and expects no answer.
    Over,
}

/// The bytes that a conversation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first byte of the first request.
    New,
    /// The first byte of another request.
    Idle,
    /// The remaining bytes of a head.
    Head,
    /// The remaining bytes of a body.
    Body,
    /// The conversation waits for the server's answer or refusal, and not for bytes.
    Request,
}

/// The capacity in bytes that the input may always have, without a share of the memory for all clients.
const KEPT: usize = 4 * 1024;

const CUT_SHORT: Refusal = Refusal::Malformed("the request ends in the middle");

impl Conversation {
    /// Makes the conversation of a connection that was opened at the time `now`. No other conversation shares
    /// the memory that `limits` allow for bodies.
    pub fn new(limits: &Limits, now: Instant) -> Conversation {
        Conversation::sharing(&Room::of_at_most(limits.body_memory), limits, now)
    }

    /// Makes the conversation of a connection that was opened at the time `now`. The conversation takes
    /// memory for arriving bytes from `room`. If there is not enough memory, a request is
    /// [refused](Refusal::NoRoom). If the length of the request's body is known, the request is refused
    /// before the body is sent; if the body comes in chunks, the request is refused while the body grows.
    pub fn sharing(room: &Room, limits: &Limits, now: Instant) -> Conversation {
        Conversation {
            limits: limits.clone(),
            room: room.clone(),
            input: Vec::new(),
            share: Share::default(),
            start: 0,
            head: Head::default(),
            body: None,
            is_waiting: false,
            has_ended: false,
            refused: None,
            answered: 0,
            since: now,
            now,
        }
    }

    /// Takes bytes that have arrived at the time `now`. After a refusal, arriving bytes are
    /// dropped.
    pub fn arrived(&mut self, bytes: &[u8], now: Instant) {
        if self.refused.is_some() {
            return;
        }
        self.now = now;
        if matches!(self.phase(), Phase::New | Phase::Idle) {
            self.since = now;
        }
        self.input.drain(..self.start);
        self.start = 0;
        match self.decode_at_once(bytes) {
            Ok(rest) if self.make_room_for(rest.len()) => self.input.extend_from_slice(rest),
            Ok(_) => self.refuse(Refusal::NoRoom),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Decodes more bytes of a body whose beginning has been decoded. These bytes then need no memory in the
    /// input. These bytes may arrive when the memory for the input is used up, because the body has its own
    /// memory. Returns the bytes that follow the body.
    fn decode_at_once<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Refusal> {
        let is_next = self.input.len() == self.head.length();
        match &mut self.body {
            Some(body) if is_next => Ok(&bytes[body.decode(bytes, &self.room)?..]),
            _ => Ok(bytes),
        }
    }

    /// Makes room for `count` more bytes; returns false if they do not fit.
    fn make_room_for(&mut self, count: usize) -> bool {
        let (length, capacity) = (self.input.len(), self.input.capacity());
        if length + count <= capacity {
            return true;
        }
        let wanted = (2 * capacity).max(length + count);
        self.share.grow_to(wanted.saturating_sub(KEPT), &self.room)
            && self.input.try_reserve_exact(wanted - length).is_ok()
    }

    /// Remembers that the client has ended its side: no more bytes will arrive.
    pub fn ended(&mut self) {
        self.has_ended = true;
    }

    /// Parses as many of the arrived bytes as possible, and returns the step that the driver must take.
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`] that the driver must send before it closes the connection. From then on each
    /// step repeats the refusal.
    pub fn step(&mut self) -> Result<Step, Refusal> {
        if let Some(refusal) = self.refused {
            return Err(refusal);
        }
        self.look().inspect_err(|&refusal| self.refuse(refusal))
    }

    /// Refuses everything that follows: from now on each step returns `refusal`, and further bytes are
    /// dropped.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        self.refused = Some(refusal);
        (self.input, self.share, self.start) = (Vec::new(), Share::default(), 0);
        self.head.clear();
        self.body = None;
    }

    fn look(&mut self) -> Result<Step, Refusal> {
        if self.body.is_none() {
            if !self.head.read(&self.input[self.start..], &self.limits, self.has_ended)? {
                return match self.has_ended {
                    false => Ok(Step::Read),
                    true if self.has_unread() => Err(CUT_SHORT),
                    true => Ok(Step::Over),
                };
            }
            let body = self.body.insert(BodyDecoder::new(self.head.framing(), &self.limits));
            body.reserve(&self.room)?;
            self.is_waiting = self.head.expects_continue();
            self.since = self.now;
        }
        let behind_head = self.start + self.head.length();
        let body = self.body.as_mut().expect("it was just made");
        let used = body.decode(&self.input[behind_head..], &self.room)?;
        self.input.drain(behind_head..behind_head + used);
        match body.is_complete() {
            true => Ok(Step::Request),
            false if self.is_waiting => Ok(Step::Expectation),
            false if self.has_ended => Err(CUT_SHORT),
            false => Ok(Step::Read),
        }
    }

    /// Returns the request of the last step, with the part of its body that has arrived.
    ///
    /// # Panics
    ///
    /// Panics if the last step was neither [`Step::Expectation`] nor [`Step::Request`].
    pub fn request(&self) -> Request<'_> {
        let body = self.body.as_ref().expect("a step has found a request").body();
        self.head.request(&self.input[self.start..self.start + self.head.length()], body)
    }

    /// Returns the bytes that permit the client to send its body.
    pub fn go_ahead(&mut self) -> &'static [u8] {
        self.is_waiting = false;
        b"HTTP/1.1 100 Continue\r\n\r\n"
    }

    /// Returns whether the connection may stay open after the answer to the current request, that is, whether
    /// the client wants this and the limit on requests is not reached.
    pub fn may_go_on(&self) -> bool {
        self.limits.max_requests.is_none_or(|most| self.answered + 1 < most.get())
            && self.head.wants_keep_alive()
    }

    /// Returns whether the client has announced that the current request is its last one, and whether this
    /// request has no body. After a body the server cannot know whether more bytes follow, because some
    /// clients send an empty line after the body.
    pub(crate) fn is_the_clients_last(&self) -> bool {
        !self.head.wants_keep_alive() && self.body.as_ref().is_none_or(|body| body.body().is_empty())
    }

    /// Returns whether another request has arrived after the current request, and can be answered or refused
    /// without more bytes.
    pub fn next_is_here(&self) -> bool {
        let next = &self.input[self.start + self.head.length()..];
        let mut head = Head::default();
        match head.read(next, &self.limits, true) {
            Ok(false) => false,
            Ok(true) => {
                let mut body = BodyDecoder::new(head.framing(), &self.limits);
                body.decode(&next[head.length()..], &self.room).is_err() || body.is_complete()
            }
            Err(_) => true,
        }
    }

    /// Returns whether there are bytes that were refused, or bytes that were not recognised as part of a
    /// request yet.
    pub fn has_unread(&self) -> bool {
        self.refused.is_some() || self.start + self.head.length() < self.input.len()
    }

    /// Appends to `out` the head of the answer to the current request, and returns the body that follows this
    /// head. The head tells the client whether the connection stays open, as `then` says.
    pub fn answer<'s>(
        &self,
        response: Response,
        then: impl Into<Persistence<'s>>,
        out: &mut Vec<u8>,
    ) -> Body {
        self.head.answer(response, then.into(), out)
    }

    /// Moves the current body's share of the memory out of the conversation, for an answer that is not sent
    /// yet and may repeat the body.
    pub(crate) fn take_share(&mut self) -> Share {
        self.body.as_mut().map(BodyDecoder::take_share).unwrap_or_default()
    }

    /// Goes on to the next request at the time `now`, because the current request has its answer.
    pub fn answered(&mut self, now: Instant) {
        self.go_past(self.head.length(), now);
    }

    /// Moves the current, complete request into `owned`, and goes on to the next request, at the time
    /// `now`.
    ///
    /// So the server can work on several requests of one connection at the same time. The server must send
    /// their answers in the order in which it took the requests.
    ///
    /// # Panics
    ///
    /// Panics if the last step was not [`Step::Request`].
    pub fn take(&mut self, owned: &mut OwnedRequest, now: Instant) {
        let body =
            self.body.take().filter(BodyDecoder::is_complete).expect("a step has found a whole request");
        (owned.body, owned.share) = body.into_body();
        owned.bytes.clear();
        owned.bytes.extend_from_slice(&self.input[self.start..self.start + self.head.length()]);
        std::mem::swap(&mut owned.head, &mut self.head);
        self.go_past(owned.bytes.len(), now);
    }

    /// Goes on to the bytes behind the current request, whose head has `length` bytes.
    fn go_past(&mut self, length: usize, now: Instant) {
        self.start += length;
        self.head.clear();
        self.body = None;
        self.answered += 1;
        (self.since, self.now) = (now, now);
        if !self.has_unread() {
            self.input.clear();
            self.start = 0;
            self.input.shrink_to(KEPT); // gives back the memory of a long request
            self.share.shrink_to(self.input.capacity().saturating_sub(KEPT));
        }
    }

    /// Starts the client's time for its next request at `now`, because the client has the answers to all
    /// requests that were taken. If the client has already begun to send another request, the time for that
    /// request also begins now.
    pub fn is_its_turn(&mut self, now: Instant) {
        (self.since, self.now) = (now, now);
    }

    /// Returns what the conversation waits for.
    pub fn phase(&self) -> Phase {
        match &self.body {
            _ if self.refused.is_some() => Phase::Request,
            Some(body) if body.is_complete() => Phase::Request,
            Some(_) => Phase::Body,
            None if self.has_unread() => Phase::Head,
            None if self.answered == 0 => Phase::New,
            None => Phase::Idle,
        }
    }

    /// Returns the time since which the conversation has been waiting for these bytes.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Returns the time until which the client may send the bytes that the conversation waits for; returns
    /// `None` if the client need not send anything.
    pub fn deadline(&self) -> Option<Instant> {
        let longest = match self.phase() {
            // A client that is silent from the beginning may only want to occupy a thread.
            Phase::New | Phase::Head => self.limits.header_timeout,
            Phase::Idle => self.limits.idle_timeout,
            Phase::Body => self.limits.body_timeout,
            Phase::Request => return None,
        };
        Some(self.since + longest)
    }

    /// Returns the refusal that the client gets after its [deadline](Conversation::deadline); returns `None`
    /// if the client expects no answer.
    pub fn too_late(&self) -> Option<Refusal> {
        match self.phase() {
            Phase::New | Phase::Idle | Phase::Request => None,
            Phase::Head => Some(Refusal::HeadTimeout),
            Phase::Body => Some(Refusal::BodyTimeout),
        }
    }
}

#[cfg(test)]
impl Conversation {
    /// Makes a conversation that holds a complete request, for tests.
    pub(crate) fn of(bytes: &[u8]) -> Conversation {
        let mut conversation = Conversation::new(&Limits::default(), Instant::now());
        conversation.arrived(bytes, Instant::now());
        assert_eq!(conversation.step(), Ok(Step::Request), "{}", bytes.escape_ascii());
        conversation
    }
}

#[cfg(test)]
mod tests;
