//! One connection of an event loop: it makes as much progress as possible without waiting.
//!
//! ```text
//!            last answer is under way       it is sent           the client sends on
//!   Open ──────────────────────────▶ Ending ────────────▶ gone  ◀──────────────────── Lingering
//!                                       └──────────────────────────────────────────────▶
//! ```
//!
//! A thread that serves a client has a position in its program, for instance in a read or in a write. An
//! event loop stores this position as values: the arrived bytes (a [`Conversation`]), the requests that
//! other threads answer ([`Pipeline`]), and the answers that are not sent yet ([`SendBuffer`]). A *turn*
//! continues from this position until the connection must wait.
//!
//! # Invariants
//!
//! 1. Sending comes first: while the client has not taken its answers, the server reads nothing and parses
//!    no request of that client. So the memory for one client has a bound, and TCP makes the client wait.
//! 2. `is_readable` is false only after a read has found that no more bytes have arrived. The system
//!    reports each *change* only once, so a turn that stops before it has read everything must record
//!    that there are more bytes.
//! 3. A turn reads and sends only a bounded number of bytes. A connection that could still continue reports
//!    this, and waits for its next turn.

use super::handoff::{AnswerLine, Exchange, append_last, into_bytes};
use super::pipeline::Pipeline;
use super::send_buffer::{SendBuffer, Sent};
use super::turn::{Stop, Turn};
use crate::access_log::Line;
use crate::crowd::Place;
use crate::http::{Conversation, Phase, Presence, Refusal, Response, Step};
use crate::lingering::{LAST_WORDS, LONGEST, Lingering, StillSending};
use crate::server::{KEPT_FOR, ON_THE_WAY};
use mio::net::TcpStream;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr};
use std::time::Instant;

/// How often a turn reads or sends: enough to read, to answer, and to find that nothing more has arrived.
/// With a greater number, clients that pipeline many requests would delay other clients for longer, and the
/// throughput would not rise.
pub(super) const STEPS: usize = 3;

/// The server collects answers up to this number of bytes before it sends them.
const ENOUGH: usize = 64 * 1024;

/// True on systems where a read that does not fill its buffer has found all arrived bytes.
const SHORT_IS_ALL: bool = cfg!(any(target_os = "linux", target_os = "android"));

pub(super) struct Connection {
    /// `None` if there was no place for the connection. Rust drops the fields in their order, and this field
    /// must be dropped first: when a client sees the end of its connection, the place of this connection is
    /// already free for another connection.
    pub(super) has_place: Option<Place>,
    pub(super) socket: TcpStream,
    peer: SocketAddr,
    /// The unique number of the connection.
    pub(super) number: u64,
    /// The index of the connection in the slab.
    pub(super) place: usize,
    conversation: Conversation,
    pipeline: Pipeline,
    send_buffer: SendBuffer,
    state: State,
    is_readable: bool,
    /// True if the system has reported that the client has ended its side. Even a read that does not fill its
    /// buffer can miss this end.
    end_is_near: bool,
    /// True if the connection is in the queue for another turn.
    pub(super) is_scheduled: bool,
    /// The only valid entry for this connection among the [deadlines](super::deadlines); all other entries
    /// for the connection are out of date.
    pub(super) looked_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Open,
    /// True if the connection parses no more requests. When all answers are sent, the connection is closed;
    /// if the client is still sending, the connection lingers first.
    Ending(StillSending, Lingering),
    Lingering(Lingering),
}

/// What the loop must do after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait for the system, for an answer, or for a deadline of this connection.
    Wait,
    /// Give the connection another turn, after the other connections.
    Again,
    /// Close the connection.
    Close,
}

/// What a connection needs to make progress.
enum Need {
    /// The connection needs room to send.
    Room,
    /// The connection needs bytes to read.
    Bytes,
    /// The connection needs the answer of a handler.
    Answer,
    /// The connection needs nothing, because it has ended.
    Nothing,
}

impl Connection {
    /// Makes the value that represents an accepted connection. If there is no `place`, the first turn sends
    /// the client a 503 and closes the connection.
    pub(super) fn new(
        socket: TcpStream,
        peer: SocketAddr,
        number: u64,
        place: Option<Place>,
        turn: &mut Turn,
    ) -> Connection {
        let state = if place.is_some() { State::Open } else { turn_away(turn) };
        Connection {
            has_place: place,
            socket,
            peer,
            number,
            place: usize::MAX,
            conversation: Conversation::sharing(&turn.server.room, &turn.server.limits, turn.now),
            pipeline: Pipeline::default(),
            send_buffer: SendBuffer::default(),
            state,
            is_readable: true,
            end_is_near: false,
            is_scheduled: false,
            looked_at: None,
        }
    }

    /// Remembers a change that the system has reported.
    pub(super) fn has_changed(&mut self, event: &mio::event::Event) {
        self.is_readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        self.end_is_near |= event.is_read_closed() || event.is_error();
        if self.end_is_near && !self.pipeline.is_empty() && has_left(&self.socket) {
            self.pipeline.client_leaves();
        }
    }

    /// Takes an answer that another thread has produced.
    pub(super) fn has_answer(&mut self, exchange: Box<Exchange>) {
        self.pipeline.is_answered(exchange);
    }

    // ANCHOR: turn
    /// Makes as much progress as possible without waiting, but not for too long.
    pub(super) fn turn(&mut self, turn: &mut Turn) -> Next {
        self.go_on(turn).unwrap_or(Next::Close)
    }

    fn go_on(&mut self, turn: &mut Turn) -> io::Result<Next> {
        for _ in 0..STEPS {
            if let Some(next) = self.send(turn)? {
                return Ok(next);
            }
            let need = match self.state {
                State::Open => self.answer_what_is_here(turn),
                State::Ending(..) if self.pipeline.has_to_come() => Need::Answer,
                State::Ending(..) if self.pipeline.has_answers() => self.send_answers(turn),
                State::Ending(still_sending, lingering) => self.end(still_sending, lingering.from(turn.now)),
                State::Lingering(_) => Need::Bytes,
            };
            match need {
                _ if !turn.output.is_empty() => {} // the output must be sent first
                Need::Room => {}
                Need::Bytes if self.is_readable => self.read(turn)?,
                Need::Bytes | Need::Answer => return Ok(Next::Wait),
                Need::Nothing => return Ok(Next::Close),
            }
        }
        Ok(self.send(turn)?.unwrap_or(Next::Again))
    }

    /// Sends the answers in the output buffer. Returns what to do next if the connection cannot send more
    /// now.
    fn send(&mut self, turn: &mut Turn) -> io::Result<Option<Next>> {
        if !turn.output.is_empty() {
            turn.look_at_the_clock(); // a handler may have taken long
            self.conversation.is_its_turn(turn.now);
        }
        let limits = &turn.server.limits;
        Ok(match self.send_buffer.send(&mut turn.output, &mut self.socket, limits, turn.now)? {
            Sent::All => None,
            Sent::Blocked => Some(Next::Wait),
            Sent::Enough => Some(Next::Again),
        })
    }
    // ANCHOR_END: turn

    // ANCHOR: requests
    /// Answers the requests that have arrived, or hands them to other threads.
    fn answer_what_is_here(&mut self, turn: &mut Turn) -> Need {
        if self.pipeline.has_answers() {
            return self.send_answers(turn);
        }
        while turn.output.len() < ENOUGH && !self.send_buffer.has_tail() {
            match self.conversation.step() {
                Ok(Step::Read) => return Need::Bytes,
                Ok(Step::Request) if !self.answer(turn) => return Need::Answer,
                Ok(Step::Request) => {}
                // Every other step also waits until all requests before it have been answered.
                _ if self.pipeline.has_unanswered() => return Need::Answer,
                Ok(Step::Expectation) => self.go_ahead(turn),
                Ok(Step::Over) => self.state = ends(StillSending::No, turn.now),
                Err(refusal) => self.refuse(refusal, turn),
            }
            if !matches!(self.state, State::Open) {
                break;
            }
        }
        Need::Room
    }
    // ANCHOR_END: requests

    /// Answers a request, or hands it to another thread. Returns false if earlier answers must be sent
    /// first.
    fn answer(&mut self, turn: &mut Turn) -> bool {
        let mut request = self.conversation.request();
        if turn.hands_over(&request) {
            if self.pipeline.has_room() {
                self.hand_over(turn);
                return true;
            }
            return false;
        }
        if self.pipeline.has_unanswered() {
            return false;
        }
        let began = turn.server.log.is_on().then(Instant::now);
        request.peer = Some(self.peer);
        let client = Local(&self.socket);
        request.client = Some(&client);
        let (response, is_sound) = turn.server.respond(&request);
        let stays = is_sound && self.may_go_on(turn);
        let end = (!stays).then(|| ends(StillSending::behind(&self.conversation), turn.now));
        let line = turn.server.begin_answer(self.peer, Some(&request), response.status);
        let (before, length) = (turn.output.len(), response.body.length());
        let then = turn.server.then(stays, self.conversation.has_unread());
        let body = self.conversation.answer(response, then, &mut turn.output);
        let head = turn.output.len() - before;
        let tail = into_bytes(body, &mut turn.output)
            .map(|tail| tail.map(|tail| tail.with(self.conversation.take_share())));
        if let Some((line, began)) = line.zip(began) {
            self.send_buffer.put_line(line, began, before, head, length);
        }
        self.conversation.answered(turn.now);
        match tail {
            Ok(tail) => tail.into_iter().for_each(|tail| self.send_buffer.put_tail(tail)),
            // The head of the answer has already promised a body. Only the end of the connection can tell
            // the client that the body is missing.
            Err(_) => self.state = ends(StillSending::No, turn.now),
        }
        if let Some(end) = end {
            self.state = end;
        }
        true
    }

    fn hand_over(&mut self, turn: &mut Turn) {
        let stays = self.may_go_on(turn);
        if !stays {
            self.state = ends(StillSending::behind(&self.conversation), turn.now);
        }
        let has_more = self.conversation.has_unread();
        let mut exchange = self.pipeline.take(&mut self.conversation, self.peer, turn);
        exchange.has_more = has_more;
        (exchange.place, exchange.connection, exchange.stays) = (self.place, self.number, stays);
        turn.hand_over(exchange);
    }

    /// Appends to the output, in order, the answers that other threads have returned.
    fn send_answers(&mut self, turn: &mut Turn) -> Need {
        while turn.output.len() < ENOUGH
            && !self.send_buffer.has_tail()
            && let Some(mut exchange) = self.pipeline.next_answer()
        {
            if let Some(AnswerLine { line, began, head, body }) = exchange.line.take() {
                self.send_buffer.put_line(line, began, turn.output.len(), head, body);
            }
            turn.output.extend_from_slice(&exchange.output);
            exchange.tail.take().into_iter().for_each(|tail| self.send_buffer.put_tail(tail));
            // The answer may now be the last one, because its handler has panicked or because no thread has
            // run the handler.
            if !exchange.stays && matches!(self.state, State::Open) {
                let has_more = self.conversation.has_unread();
                self.state = ends(if has_more { StillSending::Yes } else { StillSending::Perhaps }, turn.now);
            }
            turn.keep(exchange);
        }
        Need::Room
    }

    /// Permits a waiting client to send its body, or refuses the request.
    fn go_ahead(&mut self, turn: &mut Turn) {
        let request = self.conversation.request();
        let Some(response) = turn.server.site.refusal(&request) else {
            turn.output.extend_from_slice(self.conversation.go_ahead());
            return;
        };
        let line = turn.server.begin_answer(self.peer, Some(&request), response.status);
        self.answer_last(response, line, turn);
        // The client may still send the body of a refused request.
        self.state = State::Ending(StillSending::Yes, refused(false, turn));
    }

    fn refuse(&mut self, refusal: Refusal, turn: &mut Turn) {
        self.conversation.refuse(refusal);
        turn.server.tally.refused(refusal);
        let response = refusal.response();
        let line = turn.server.begin_answer(self.peer, None, response.status);
        self.answer_last(response, line, turn);
        let lingering = match refusal {
            // The server has already waited long enough for this client.
            Refusal::HeadTimeout | Refusal::BodyTimeout => Lingering::briefly(turn.now),
            _ => refused(refusal.is_of_a_body(), turn),
        };
        self.state = State::Ending(StillSending::Yes, lingering);
    }

    /// Appends an answer from memory to the output, as the last answer of the connection.
    fn answer_last(&mut self, response: Response, line: Option<Line>, turn: &mut Turn) {
        let before = turn.output.len();
        let head = append_last(response, &mut turn.output);
        if let Some(line) = line {
            let length = turn.output.len() - before - head;
            self.send_buffer.put_line(line, turn.now, before, head, length as u64);
        }
    }

    fn may_go_on(&self, turn: &Turn) -> bool {
        self.conversation.may_go_on() && (turn.server.may_stay() || self.conversation.next_is_here())
    }

    /// Ends the connection after every answer has been sent.
    fn end(&mut self, still_sending: StillSending, lingering: Lingering) -> Need {
        let has_more = match still_sending {
            StillSending::No => false,
            StillSending::Perhaps => matches!(self.socket.peek(&mut [0]), Ok(1..)),
            StillSending::Yes => true,
        };
        if !has_more || self.socket.shutdown(Shutdown::Write).is_err() {
            return Need::Nothing;
        }
        self.state = State::Lingering(lingering);
        Need::Bytes
    }

    // ANCHOR: read
    fn read(&mut self, turn: &mut Turn) -> io::Result<()> {
        let count = match self.socket.read(&mut turn.arrived) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.is_readable = false;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let is_all = SHORT_IS_ALL && count < turn.arrived.len() && !self.end_is_near;
        self.is_readable = count > 0 && !is_all;
        match &mut self.state {
            State::Lingering(_) if count == 0 => return Err(ErrorKind::UnexpectedEof.into()),
            State::Lingering(lingering) => lingering.heard(turn.now),
            _ if count == 0 => self.conversation.ended(),
            _ => self.conversation.arrived(&turn.arrived[..count], turn.now),
        }
        Ok(())
    }
    // ANCHOR_END: read

    // ANCHOR: deadline
    /// Returns the client's deadline; returns `None` if the client need not do anything.
    pub(super) fn deadline(&self, stop: Stop) -> Option<Instant> {
        match self.state {
            _ if !self.send_buffer.is_empty() => self.send_buffer.deadline(),
            State::Lingering(lingering) => Some(lingering.deadline(stop == Stop::Cancelled)),
            State::Open if self.pipeline.is_empty() => self.patience(stop).map(|(until, _)| until),
            State::Open | State::Ending(..) => None,
        }
    }

    /// Refuses the request or closes the connection, because its deadline has passed.
    pub(super) fn is_late(&mut self, turn: &mut Turn) -> Next {
        match self.state {
            State::Open if self.send_buffer.is_empty() => match self.patience(turn.stop) {
                Some((_, Some(refusal))) => {
                    self.refuse(refusal, turn);
                    self.turn(turn)
                }
                _ => Next::Close,
            },
            _ => Next::Close,
        }
    }
    // ANCHOR_END: deadline

    /// Returns the client's deadline for its request, and the refusal that the client gets after this
    /// deadline.
    fn patience(&self, stop: Stop) -> Option<(Instant, Option<Refusal>)> {
        let usual = (self.conversation.deadline()?, self.conversation.too_late());
        let began = self.conversation.since();
        let hurried = match (stop, self.conversation.phase()) {
            (Stop::No, _) | (_, Phase::Request) | (Stop::Asked(_), Phase::Body) => return Some(usual),
            // The client's next request may be on its way.
            (Stop::Asked(last_moment), Phase::Idle) => (last_moment.max(began + KEPT_FOR), None),
            (Stop::Cancelled, Phase::New | Phase::Idle) => (began, None),
            (Stop::Asked(_), Phase::New) => (began + ON_THE_WAY, None),
            (Stop::Asked(_), Phase::Head) => (began + ON_THE_WAY, Some(Refusal::Overloaded)),
            (Stop::Cancelled, Phase::Head | Phase::Body) => (began, Some(Refusal::Overloaded)),
        };
        Some(if hurried.0 < usual.0 { hurried } else { usual })
    }

    /// Cuts off the connection, because the server has no more time for it.
    pub(super) fn is_cancelled(&mut self, now: Instant) {
        self.send_buffer.end_by(now + LAST_WORDS);
    }
}

/// Returns the state after the last answer, if the request was read completely.
fn ends(still_sending: StillSending, now: Instant) -> State {
    State::Ending(still_sending, Lingering::briefly(now))
}

fn refused(is_sending: bool, turn: &Turn) -> Lingering {
    Lingering::refused(is_sending, turn.server.limits.linger_timeout, turn.now)
}

/// Appends to the output the answer for a client that has no place.
fn turn_away(turn: &mut Turn) -> State {
    append_last(Refusal::Overloaded.response(), &mut turn.output);
    State::Ending(StillSending::Yes, Lingering::refused(false, LONGEST, turn.now))
}

/// What a handler that runs on the loop can learn about its client.
#[derive(Debug)]
struct Local<'c>(&'c TcpStream);

impl Presence for Local<'_> {
    fn has_left(&self) -> bool {
        has_left(self.0)
    }
}

fn has_left(socket: &TcpStream) -> bool {
    match socket.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    }
}
