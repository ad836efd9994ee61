//! What is said on one connection, as a state machine: bytes in, requests; responses, bytes out.
//!
//! ```text
//!            a byte                head whole                  body whole
//!   New ──────────────▶ Head ──────────────────▶ Body ─────────────────────▶ Request
//!                        ▲                         (at once, if there is none)    │
//!                        │ a byte, or there are some already                      │ answered
//!                        └─────────────────────── Idle ◀──────────────────────────┘
//! ```
//!
//! It has no socket and no clock, and waits for nothing. A *driver* has these: it reads bytes and [hands them
//! in](Conversation::arrived), asks for [the next step](Conversation::step), and sends what it is given. The blocking
//! driver is [`Server`](crate::Server), whose thread waits between two steps; an event loop takes the step that a
//! connection is ready for and turns to the next connection. How long a client may take is known here
//! ([`Conversation::deadline`]); the driver waits until then, and looks after who else ends a wait.
//!
//! # Invariants
//!
//! - The input begins with the head of the current request. Bytes of its body are taken out as they are decoded, or never
//!   put in, so behind the head is what has not been looked at: the beginning of the body, or the next request.
//! - A request stays here until it is [answered](Conversation::answered). Until then a step says the same again, so a
//!   conversation can be moved to another thread between a step and its answer.
//! - A refusal is the last thing that a conversation says. Each later step says it again, whatever arrives: a driver may
//!   have to send other answers first.
//! - Where and in how many pieces the bytes arrive changes no request and no refusal.

use super::head::Head;
use super::{Body, BodyDecoder, OwnedRequest, Persistence, Refusal, Request, Response, Room, Share};
use crate::limits::Limits;
use std::time::Instant;

/// One side of the exchange of requests and answers on one connection: the server's.
#[derive(Debug)]
pub struct Conversation {
    limits: Limits,
    /// The memory that all conversations share.
    room: Room,
    input: Vec<u8>,
    /// Of the room, for the memory of the input beyond what each conversation may have.
    share: Share,
    /// Where in the input the current request begins. Before it is what has been answered.
    start: usize,
    head: Head,
    /// Of the current request, once its head is whole.
    body: Option<BodyDecoder>,
    /// The client waits for "100 Continue", and has not been told it.
    is_waiting: bool,
    has_ended: bool,
    /// What the last request was refused with. No other follows.
    refused: Option<Refusal>,
    answered: usize,
    /// When the phase began.
    since: Instant,
    /// The latest time that the driver has told.
    now: Instant,
}

/// What a driver can do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Read on: nothing can be done with what has arrived.
    Read,
    /// Send [`Conversation::go_ahead`], or answer the request without its body. It has arrived in part at most, and the
    /// client waits to be told that it is wanted.
    Expectation,
    /// Answer the request. It is whole.
    Request,
    /// Close: the client has ended its side, and no answer is owed.
    Over,
}

/// What a conversation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first byte of the first request.
    New,
    /// The first byte of another request.
    Idle,
    /// The rest of a head.
    Head,
    /// The rest of a body.
    Body,
    /// The answer, or the refusal.
    Request,
}

/// How many bytes the memory for the input keeps room for, and may have without a share of what all clients may take.
const KEPT: usize = 4 * 1024;

const CUT_SHORT: Refusal = Refusal::Malformed("the request ends in the middle");

impl Conversation {
    /// A connection that was opened at the time `now`. No other shares the memory that `limits` have for bodies.
    pub fn new(limits: &Limits, now: Instant) -> Conversation {
        Conversation::sharing(&Room::of_at_most(limits.body_memory), limits, now)
    }

    /// A connection that was opened at the time `now`. What arrives on it takes of the memory in `room`; what does not
    /// find enough is [refused](Refusal::NoRoom): a body of known length before it is wanted, one in chunks as it grows.
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

    /// Takes bytes that have arrived at the time `now`. Behind a request that was refused they are dropped.
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

    /// Takes what belongs to a body whose beginning has been taken: it need not wait in the input, for which there may be no
    /// memory though there is for the body. Gives back what is behind it.
    fn decode_at_once<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Refusal> {
        let is_next = self.input.len() == self.head.length();
        match &mut self.body {
            Some(body) if is_next => Ok(&bytes[body.decode(bytes, &self.room)?..]),
            _ => Ok(bytes),
        }
    }

    /// Whether so many more bytes fit.
    fn make_room_for(&mut self, count: usize) -> bool {
        let (length, capacity) = (self.input.len(), self.input.capacity());
        if length + count <= capacity {
            return true;
        }
        let wanted = (2 * capacity).max(length + count);
        self.share.grow_to(wanted.saturating_sub(KEPT), &self.room)
            && self.input.try_reserve_exact(wanted - length).is_ok()
    }

    /// The client has ended its side: no more bytes will arrive.
    pub fn ended(&mut self) {
        self.has_ended = true;
    }

    /// Goes as far as what has arrived reaches.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] to answer, after which the connection has to be closed. From then on each step says it again.
    pub fn step(&mut self) -> Result<Step, Refusal> {
        if let Some(refusal) = self.refused {
            return Err(refusal);
        }
        self.look().inspect_err(|&refusal| self.refuse(refusal))
    }

    /// Refuses whatever comes next: from now on each step says `refusal`, and what has arrived is forgotten.
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

    /// The request that the last step was about; its body is there as far as it has arrived.
    ///
    /// # Panics
    ///
    /// If the last step said neither [`Step::Expectation`] nor [`Step::Request`].
    pub fn request(&self) -> Request<'_> {
        let body = self.body.as_ref().expect("a step has found a request").body();
        self.head.request(&self.input[self.start..self.start + self.head.length()], body)
    }

    /// Tells the client that its body is wanted: what to send.
    pub fn go_ahead(&mut self) -> &'static [u8] {
        self.is_waiting = false;
        b"HTTP/1.1 100 Continue\r\n\r\n"
    }

    /// Whether the connection may stay open once the current request is answered: its client wants that, and it has
    /// not had as many answers as the limit allows.
    pub fn may_go_on(&self) -> bool {
        self.limits.max_requests.is_none_or(|most| self.answered + 1 < most.get())
            && self.head.wants_keep_alive()
    }

    /// Whether the client has announced the current request as its last, and that request has no body. Behind a body some
    /// send an empty line all the same.
    pub(crate) fn is_the_clients_last(&self) -> bool {
        !self.head.wants_keep_alive() && self.body.as_ref().is_none_or(|body| body.body().is_empty())
    }

    /// Whether behind the current request another one has arrived that can be answered, or refused, without reading on.
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

    /// Whether there are bytes that belong to no request that was found so far, or were refused.
    pub fn has_unread(&self) -> bool {
        self.refused.is_some() || self.start + self.head.length() < self.input.len()
    }

    /// Appends the head of the answer to the current request to `out`, and gives the body that follows it. The head tells
    /// the client what becomes of the connection `then`.
    pub fn answer<'s>(
        &self,
        response: Response,
        then: impl Into<Persistence<'s>>,
        out: &mut Vec<u8>,
    ) -> Body {
        self.head.answer(response, then.into(), out)
    }

    /// Moves the current body's share of the memory away, for an answer that may repeat it and is not sent yet.
    pub(crate) fn take_share(&mut self) -> Share {
        self.body.as_mut().map(BodyDecoder::take_share).unwrap_or_default()
    }

    /// The current request has its answer: the next one is looked for. It is `now`.
    pub fn answered(&mut self, now: Instant) {
        self.go_past(self.head.length(), now);
    }

    /// Moves the current request, which is whole, into `owned`, and goes on to the next one. It is `now`.
    ///
    /// So several requests of one connection can be under way. Their answers have to be sent in the order in which the
    /// requests were taken.
    ///
    /// # Panics
    ///
    /// If the last step did not say [`Step::Request`].
    pub fn take(&mut self, owned: &mut OwnedRequest, now: Instant) {
        let body =
            self.body.take().filter(BodyDecoder::is_complete).expect("a step has found a whole request");
        (owned.body, owned.share) = body.into_body();
        owned.bytes.clear();
        owned.bytes.extend_from_slice(&self.input[self.start..self.start + self.head.length()]);
        std::mem::swap(&mut owned.head, &mut self.head);
        self.go_past(owned.bytes.len(), now);
    }

    /// Goes on to what is behind the current request, whose head has `length` bytes.
    fn go_past(&mut self, length: usize, now: Instant) {
        self.start += length;
        self.head.clear();
        self.body = None;
        self.answered += 1;
        (self.since, self.now) = (now, now);
        if !self.has_unread() {
            self.input.clear();
            self.start = 0;
            self.input.shrink_to(KEPT); // a long request's memory is given back
            self.share.shrink_to(self.input.capacity().saturating_sub(KEPT));
        }
    }

    /// The client's turn begins `now`: it has the answers to all requests that were taken. What it may have begun to send
    /// meanwhile has its time from now on, too.
    pub fn is_its_turn(&mut self, now: Instant) {
        (self.since, self.now) = (now, now);
    }

    /// What is waited for.
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

    /// Since when it is waited for.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Until when the client may take its time with it; `None` if it is not the client's turn.
    pub fn deadline(&self) -> Option<Instant> {
        let longest = match self.phase() {
            // A connection that says nothing from the beginning is one of those who want to hold a thread.
            Phase::New | Phase::Head => self.limits.header_timeout,
            Phase::Idle => self.limits.idle_timeout,
            Phase::Body => self.limits.body_timeout,
            Phase::Request => return None,
        };
        Some(self.since + longest)
    }

    /// What the client is told whose [deadline](Conversation::deadline) has passed; `None` if no answer is owed.
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
    /// One that has come to a whole request, for tests of what is made of it.
    pub(crate) fn of(bytes: &[u8]) -> Conversation {
        let mut conversation = Conversation::new(&Limits::default(), Instant::now());
        conversation.arrived(bytes, Instant::now());
        assert_eq!(conversation.step(), Ok(Step::Request), "{}", bytes.escape_ascii());
        conversation
    }
}

#[cfg(test)]
mod tests;
