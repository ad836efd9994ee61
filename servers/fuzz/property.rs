//! The properties that must hold for every input.
//!
//! 1. Nothing panics.
//! 2. The places where the arriving bytes are split do not matter: the requests, their bodies and the
//!    refusal at the end are the same.
//! 3. A request gets the same answer, whether the request stays in its conversation or is moved out of the
//!    conversation first.
//! 4. If a test asks for the same step twice, the conversation returns the same step both times. A refusal
//!    is repeated even if more bytes arrive.
//! 5. When the conversation and its requests are dropped, they give back the memory that they took from
//!    the shared bound.
//! 6. Each refusal has a status that tells the client what was wrong, and the conversation never holds more
//!    bytes than the limits allow.

use servers::Limits;
use servers::http::{Body, Conversation, OwnedRequest, Refusal, Request, Response, Room, Status, Step};
use std::time::Instant;

/// The requests that a server reads from the bytes on a connection.
#[derive(Debug, PartialEq, Eq, Default)]
struct Heard {
    requests: Vec<Exchange>,
    /// The reason why the conversation ended, if it ended before the end of the bytes.
    refusal: Option<Refusal>,
}

#[derive(Debug, PartialEq, Eq)]
struct Exchange {
    method: String,
    target: String,
    path: String,
    query: Option<String>,
    keep_alive: bool,
    body: Vec<u8>,
}

/// Returns the default limits, and also limits that are so small that even short inputs exceed them.
pub(crate) fn all_limits() -> [Limits; 2] {
    let small =
        Limits { max_request_line: 40, max_head: 120, max_headers: 4, max_body: 20, ..Limits::default() };
    [Limits::default(), small]
}

/// Panics unless the properties hold for `bytes`.
pub(crate) fn check(bytes: &[u8], limits: &Limits) {
    let whole = converse([bytes], limits);
    let taken = converse_by(taken, [bytes], limits);
    assert_eq!(whole, taken, "taken away: {:?}", bytes.escape_ascii().to_string());
    let byte_by_byte = converse(bytes.chunks(1), limits);
    assert_eq!(whole, byte_by_byte, "byte by byte: {:?}", bytes.escape_ascii().to_string());
    // Two places at which the test cuts the input; these places depend only on the input, so a failure can be
    // repeated.
    let sum = bytes.iter().fold(bytes.len(), |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    check_cuts(bytes, [sum % (bytes.len() + 1), sum / 7 % (bytes.len() + 1)], limits);
    if let Some(refusal) = whole.refusal {
        let status = refusal.status().code();
        assert!([400, 413, 414, 417, 421, 431, 501, 505].contains(&status), "{refusal:?}");
    }
    for exchange in &whole.requests {
        assert!(exchange.path.starts_with('/') || exchange.path == "*", "{exchange:?}");
        assert!(exchange.body.len() <= limits.max_body);
        assert!(exchange.target.len() <= limits.max_request_line);
    }
}

/// Panics if the server understands `bytes` differently when they arrive in two pieces, cut at one of
/// these places.
pub(crate) fn check_cuts(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) {
    let whole = converse([bytes], limits);
    for cut in cuts {
        let (first, second) = bytes.split_at(cut);
        assert_eq!(
            whole,
            converse([first, second], limits),
            "cut at {cut}: {:?}",
            bytes.escape_ascii().to_string()
        );
    }
}

/// Takes the bytes piece by piece, reads the requests and their bodies, and answers the requests, as a
/// server does.
fn converse<'b>(pieces: impl IntoIterator<Item = &'b [u8]>, limits: &Limits) -> Heard {
    converse_by(answered, pieces, limits)
}

/// Moves a whole request out of its conversation, so that the conversation goes on to the next request.
type Way = fn(&mut Conversation, Instant) -> Exchange;

fn converse_by<'b>(way: Way, pieces: impl IntoIterator<Item = &'b [u8]>, limits: &Limits) -> Heard {
    let (mut heard, now) = (Heard::default(), Instant::now());
    let room = Room::of_at_most(limits.body_memory);
    heard.refusal = converse_in(&room, way, pieces, limits, &mut heard.requests, now).err();
    assert_eq!(room.held(), 0);
    heard
}

fn converse_in<'b>(
    room: &Room,
    way: Way,
    pieces: impl IntoIterator<Item = &'b [u8]>,
    limits: &Limits,
    requests: &mut Vec<Exchange>,
    now: Instant,
) -> Result<(), Refusal> {
    let mut conversation = Conversation::sharing(room, limits, now);
    for piece in pieces {
        conversation.arrived(piece, now);
        advance(&mut conversation, requests, now, way)?;
    }
    // Parses bytes that were too few to be parsed earlier. An incomplete request is refused.
    conversation.ended();
    advance(&mut conversation, requests, now, way)
}

/// Takes steps until more bytes are needed.
fn advance(
    conversation: &mut Conversation,
    requests: &mut Vec<Exchange>,
    now: Instant,
    way: Way,
) -> Result<(), Refusal> {
    loop {
        match step(conversation, now)? {
            Step::Read | Step::Over => return Ok(()),
            Step::Expectation => drop(conversation.go_ahead()),
            Step::Request => requests.push(way(conversation, now)),
        }
    }
}

/// Returns the next step, and checks that a second call returns the same step.
fn step(conversation: &mut Conversation, now: Instant) -> Result<Step, Refusal> {
    let said = conversation.step();
    assert_eq!(conversation.step(), said, "asked again");
    if said.is_err() {
        conversation.arrived(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", now);
        assert_eq!(conversation.step(), said, "asked when more had arrived");
    }
    said
}

fn answered(conversation: &mut Conversation, now: Instant) -> Exchange {
    let request = conversation.request();
    let mut answer = Vec::new();
    let body = conversation.answer(Response::text(Status::Ok, "a"), true, &mut answer);
    assert_eq!(matches!(body, Body::None), request.method == "HEAD");
    let exchange = exchange(&request);
    conversation.answered(now);
    exchange
}

fn taken(conversation: &mut Conversation, now: Instant) -> Exchange {
    let mut owned = OwnedRequest::default();
    conversation.take(&mut owned, now);
    let mut answer = Vec::new();
    let body = owned.answer(Response::text(Status::Ok, "a"), true, &mut answer);
    assert_eq!(matches!(body, Body::None), owned.request().method == "HEAD");
    exchange(&owned.request())
}

fn exchange(request: &Request<'_>) -> Exchange {
    Exchange {
        method: request.method.to_owned(),
        target: request.target.to_owned(),
        path: request.path.to_owned(),
        query: request.query.map(str::to_owned),
        keep_alive: request.wants_keep_alive(),
        body: request.body.to_vec(),
    }
}
