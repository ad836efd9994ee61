//! What has to hold for any bytes whatever.
//!
//! 1. Nothing panics.
//! 2. It does not matter where what arrives is split: the requests, their bodies and the refusal at the end are the same.
//! 3. A refusal is one with a status that tells the client what it did, and never more is held than the limits allow.

use servers::Limits;
use servers::http::{BodyDecoder, Refusal, Request};

/// What a server makes of the bytes on a connection.
#[derive(Debug, PartialEq, Eq, Default)]
struct Conversation {
    requests: Vec<Exchange>,
    /// Why it ended, if it did before the bytes did.
    refusal: Option<Refusal>,
}

#[derive(Debug, PartialEq, Eq)]
struct Exchange {
    method: String,
    target: String,
    path: String,
    keep_alive: bool,
    body: Vec<u8>,
}

/// The defaults, and limits so small that small inputs get across them.
pub(crate) fn all_limits() -> [Limits; 2] {
    let small =
        Limits { max_request_line: 40, max_head: 120, max_headers: 4, max_body: 20, ..Limits::default() };
    [Limits::default(), small]
}

/// Panics unless the properties hold for `bytes`.
pub(crate) fn check(bytes: &[u8], limits: &Limits) {
    let whole = converse([bytes], limits);
    let byte_by_byte = converse(bytes.chunks(1), limits);
    assert_eq!(whole, byte_by_byte, "byte by byte: {:?}", bytes.escape_ascii().to_string());
    // Two cuts that depend on nothing but the input, so that a failure can be repeated.
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

/// Panics unless `bytes`, cut in two at each of these places, are understood as in one piece.
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

/// Reads requests and their bodies from pieces as they arrive, the way the server does.
fn converse<'b>(pieces: impl IntoIterator<Item = &'b [u8]>, limits: &Limits) -> Conversation {
    let mut conversation = Conversation::default();
    let (mut input, mut current) = (Vec::new(), None);
    for piece in pieces {
        input.extend_from_slice(piece);
        if let Err(refusal) = advance(&mut input, &mut current, &mut conversation.requests, limits) {
            conversation.refusal = Some(refusal);
            break;
        }
    }
    conversation
}

/// Goes as far as the input reaches. `current` is a request whose body is on its way.
fn advance(
    input: &mut Vec<u8>,
    current: &mut Option<(Exchange, BodyDecoder)>,
    requests: &mut Vec<Exchange>,
    limits: &Limits,
) -> Result<(), Refusal> {
    loop {
        if let Some((_, decoder)) = current {
            let used = decoder.decode(input)?;
            input.drain(..used);
            if !decoder.is_complete() {
                return Ok(());
            }
        }
        if let Some((exchange, decoder)) = current.take() {
            requests.push(Exchange { body: decoder.into_body(), ..exchange });
        }
        // A server has no more than so many bytes of a head at a time.
        let window = &input[..input.len().min(limits.max_head)];
        let Some((request, head)) = Request::parse(window, limits)? else { return Ok(()) };
        let exchange = Exchange {
            method: request.method.to_owned(),
            target: request.target.to_owned(),
            path: request.path.to_owned(),
            keep_alive: request.wants_keep_alive(),
            body: Vec::new(),
        };
        *current = Some((exchange, BodyDecoder::new(request.framing, limits)));
        input.drain(..head);
    }
}
