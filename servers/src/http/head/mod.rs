//! Stores the head of a request as positions in its bytes.
//!
//! The [`httparse`] crate checks the grammar of lines; `head/meaning.rs` checks everything else. The head
//! keeps *positions* in the bytes and not the bytes themselves. So the only allocation of a head is the
//! list of its fields, and the next head of the connection uses that memory again.
//!
//! # Bytes that come in pieces
//!
//! If all bytes were parsed again after each piece, the cost of a head that arrives byte by byte would grow
//! with the square of its length. So all runs of the parser on an incomplete head together read at most
//! [`WORTH`] times as many bytes as have arrived. Beyond that, a new piece is only searched for line ends, and
//! the parser runs when the head is complete, or when it can only be refused. Most heads arrive whole, and are
//! parsed once, without a search for line ends. A malformed head is refused before its end arrives; if the
//! head comes in tiny pieces, this may happen some bytes later. The kind of refusal does not depend on the
//! pieces in which the head arrives: see [`parse`].

mod meaning;

use super::request::{Field, Span};
use super::{Authority, Body, CLOSE, Framing, Persistence, Refusal, Request, Response, Version};
use crate::limits::Limits;
use httparse::Header;
use std::mem::MaybeUninit;

/// How often each byte may be parsed, on average, while the head is incomplete.
const WORTH: usize = 16;

/// A head that is being read or has been read.
#[derive(Debug, Default)]
pub(super) struct Head {
    sight: Sight,
    /// The number of bytes in the head; it is 0 until the head is complete.
    length: usize,
    parts: Parts,
    fields: Vec<Field>,
}

/// The parts of a head, except for its fields.
#[derive(Debug, Default)]
struct Parts {
    method: Span,
    target: Span,
    /// `None` means the path `/`: the target ends after its host.
    path: Option<Span>,
    query: Option<Span>,
    host: Option<Span>,
    version: Version,
    framing: Framing,
    expects_continue: bool,
    keep_alive: bool,
    /// True if the method is `HEAD`, for which the answer has no body.
    is_for_head: bool,
}

impl Head {
    /// Reads a head from the start of `bytes`, which contains all bytes that have arrived, including the
    /// bytes of earlier calls. Returns whether the head is complete. `is_end` means that no more bytes will
    /// arrive.
    ///
    /// # Errors
    ///
    /// Returns a [`Refusal`] if the bytes cannot become a head, whatever bytes follow.
    pub(super) fn read(&mut self, bytes: &[u8], limits: &Limits, is_end: bool) -> Result<bool, Refusal> {
        if self.sight.is_worth_parsing(bytes, limits) || is_end {
            self.sight.parsed += bytes.len();
            self.length = parse(bytes, limits, &mut self.parts, &mut self.fields)?.unwrap_or(0);
        }
        Ok(self.is_whole())
    }

    pub(super) fn is_whole(&self) -> bool {
        self.length > 0
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn framing(&self) -> Framing {
        self.parts.framing
    }

    /// Returns whether the client waits for "100 Continue" before it sends the body.
    pub(super) fn expects_continue(&self) -> bool {
        self.parts.expects_continue
    }

    fn version(&self) -> Version {
        self.parts.version
    }

    pub(super) fn wants_keep_alive(&self) -> bool {
        self.parts.keep_alive
    }

    /// Appends the head of the answer to `out`, and returns the body that follows this head.
    pub(super) fn answer(&self, response: Response, then: Persistence<'_>, out: &mut Vec<u8>) -> Body {
        let connection = match (then, self.version()) {
            (Persistence::Ends, _) => CLOSE,
            (Persistence::Stays, Version::Http10) => "Connection: keep-alive\r\n",
            (Persistence::Stays, Version::Http11) => "",
            (Persistence::Idles(lines), _) => lines,
        };
        response.append_head(connection, out);
        if self.parts.is_for_head { Body::None } else { response.body }
    }

    /// Clears the head, so that this value can hold the next one.
    pub(super) fn clear(&mut self) {
        (self.sight, self.length) = (Sight::default(), 0);
    }

    /// Returns the request with this head; `bytes` are the bytes from which the head was read.
    pub(super) fn request<'b>(&'b self, bytes: &'b [u8], body: &'b [u8]) -> Request<'b> {
        debug_assert!(self.is_whole(), "half a head is no request");
        let Parts { method, target, path, query, host, version, keep_alive, .. } = &self.parts;
        let text = target.text(bytes);
        let part = |part: Span| &text[part.start - target.start..part.end - target.start];
        Request {
            method: method.text(bytes),
            target: text,
            path: path.map_or("/", part),
            query: query.map(part),
            version: *version,
            body,
            peer: None,
            client: None,
            keep_alive: *keep_alive,
            authority: host.map(|host| Authority::of_host(host.bytes(bytes))),
            head: bytes,
            fields: &self.fields,
        }
    }
}

/// The progress of the search for line ends in a head.
#[derive(Debug, Default)]
struct Sight {
    /// The number of bytes that had arrived at the last call.
    arrived: usize,
    /// All line ends before this position have been found.
    looked: usize,
    line_start: usize,
    /// True if the head has had a line that is not empty. (Empty lines before the first such line
    /// are skipped.)
    has_line: bool,
    /// The number of bytes that all calls together have parsed; a byte that is parsed twice counts twice.
    parsed: usize,
}

impl Sight {
    fn is_worth_parsing(&mut self, bytes: &[u8], limits: &Limits) -> bool {
        let is_new = bytes.len() > self.arrived;
        self.arrived = bytes.len();
        // Most heads arrive whole, and are parsed without a search for their end.
        is_new
            && (self.parsed <= WORTH * bytes.len() || bytes.len() >= limits.max_head || self.has_end(bytes))
    }

    /// Returns whether the head is complete, or must be refused because a line ends in LF alone.
    fn has_end(&mut self, bytes: &[u8]) -> bool {
        while let Some(distance) = memchr::memchr(b'\n', &bytes[self.looked..]) {
            let end = self.looked + distance;
            match &bytes[self.line_start..end] {
                [b'\r'] if self.has_line => return true,
                [b'\r'] => {}
                [.., b'\r'] => self.has_line = true,
                _ => return true,
            }
            (self.looked, self.line_start) = (end + 1, end + 1);
        }
        self.looked = bytes.len();
        false
    }
}

/// Parses a head from the start of `bytes`. Returns the length of the head, or `None` if the head is
/// incomplete.
///
/// The result does not depend on how the bytes were split on arrival: if there are several mistakes, the
/// parser reports the mistake that it can find in the fewest bytes. If the parser refuses a beginning of the
/// bytes, it also refuses every longer beginning, so a search can find the shortest refused beginning.
fn parse(
    bytes: &[u8],
    limits: &Limits,
    parts: &mut Parts,
    fields: &mut Vec<Field>,
) -> Result<Option<usize>, Refusal> {
    parse_arrived(bytes, limits, parts, fields).map_err(|refusal| {
        let (mut accepted, mut refused, mut earliest) = (0, bytes.len(), refusal);
        while refused - accepted > 1 {
            let middle = usize::midpoint(accepted, refused);
            match parse_arrived(&bytes[..middle], limits, parts, fields) {
                Ok(_) => accepted = middle,
                Err(refusal) => (refused, earliest) = (middle, refusal),
            }
        }
        earliest
    })
}

fn parse_arrived(
    bytes: &[u8],
    limits: &Limits,
    parts: &mut Parts,
    fields: &mut Vec<Field>,
) -> Result<Option<usize>, Refusal> {
    let mut headers = [const { MaybeUninit::uninit() }; Limits::MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut []);
    let status = match parsed.parse_with_uninit_headers(bytes, &mut headers[..limits.max_headers]) {
        Err(httparse::Error::Version) if meaning::may_become_a_version(bytes) => httparse::Status::Partial,
        result => result.map_err(|error| meaning::refusal(error, bytes))?,
    };
    let head = match status {
        httparse::Status::Complete(length) => &bytes[..length],
        httparse::Status::Partial => bytes,
    };
    // Some readers end a line at LF, others only at CR LF; an attacker could use the difference to hide a
    // header from some readers.
    if has_bare_line_feed(head) {
        return Err(Refusal::Malformed("a line ends in LF alone instead of CR LF"));
    }
    if head.len() > limits.max_request_line && meaning::request_line(head).0.len() > limits.max_request_line {
        return Err(Refusal::RequestLineTooLong);
    }
    if head.len() > limits.max_head || (status.is_partial() && head.len() == limits.max_head) {
        return Err(Refusal::HeadTooLarge);
    }
    let (Some(method), Some(target), Some(version), true) =
        (parsed.method, parsed.path, parsed.version, status.is_complete())
    else {
        return Ok(None);
    };
    let version = if version == 0 { Version::Http10 } else { Version::Http11 };
    let meant = meaning::target(method, target)?;
    let host = meaning::host(parsed.headers, version, meant.authority)?;
    let framing = meaning::framing(parsed.headers, version)?;
    if matches!(framing, Framing::Length(length) if length > limits.longest_body()) {
        return Err(Refusal::BodyTooLarge);
    }
    let span = |part: &[u8]| Span::of(part, bytes);
    *parts = Parts {
        method: span(method.as_bytes()),
        target: span(target.as_bytes()),
        path: meant.path.map(|path| span(path.as_bytes())),
        query: meant.query.map(|query| span(query.as_bytes())),
        host: host.map(|host| span(host.host())),
        version,
        framing,
        expects_continue: meaning::expects_continue(parsed.headers, version)?,
        keep_alive: meaning::wants_keep_alive(parsed.headers, version),
        is_for_head: method == "HEAD",
    };
    fields.clear();
    let place = |header: &Header<'_>| Field { name: span(header.name.as_bytes()), value: span(header.value) };
    fields.extend(parsed.headers.iter().map(place));
    Ok(Some(head.len()))
}

#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at a time")]
fn has_bare_line_feed(head: &[u8]) -> bool {
    let is_bare = |pair: &[u8]| (pair[0] != b'\r') & (pair[1] == b'\n');
    head.first() == Some(&b'\n') || head.windows(2).fold(false, |found, pair| found | is_bare(pair))
}

#[cfg(test)]
mod tests;
