//! Refusals: the status and the text of each, and its name in the statistics.

use super::{Response, Status};
use std::fmt;

/// The reason why the server answers a request with an error and closes its connection.
///
/// After any refusal the server cannot know where the next request would begin, so the connection cannot
/// go on. If the server understood the request but cannot fulfil it (no such page, wrong method), the
/// error is an ordinary [`Response`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes are not an HTTP request, or two readers could understand them differently.
    Malformed(&'static str),
    /// The request line is longer than the limit.
    RequestLineTooLong,
    /// The head of the request is longer, or has more fields, than the limit allows.
    HeadTooLarge,
    /// The request's body is longer than the limit.
    BodyTooLarge,
    /// The request is for a server that speaks TLS.
    Misdirected,
    /// The request has an expectation that the server does not know.
    ExpectationFailed,
    /// The body has an encoding that this server does not know.
    UnknownTransferCoding,
    /// The version of HTTP is neither 1.0 nor 1.1.
    VersionNotSupported,
    /// The client began to send the head, but did not finish it in time.
    HeadTimeout,
    /// The client did not finish the body in time.
    BodyTimeout,
    /// The server has no thread for this connection.
    Overloaded,
    /// There is no memory for this request, because the bodies of other requests occupy it.
    NoRoom,
}

/// The facts about each refusal: its name in the statistics, its status, and the text for the client.
pub(crate) const FACTS: [(&str, Status, &str); 12] = [
    ("malformed", Status::BadRequest, "the request is malformed"),
    ("request_line_too_long", Status::UriTooLong, "the request line is longer than this server accepts"),
    ("head_too_large", Status::HeaderFieldsTooLarge, "the request head is larger than this server accepts"),
    ("body_too_large", Status::ContentTooLarge, "the request body is larger than this server accepts"),
    ("misdirected", Status::MisdirectedRequest, "this server answers for http alone, not for https"),
    (
        "expectation_failed",
        Status::ExpectationFailed,
        "the only expectation this server meets is 100-continue",
    ),
    ("unknown_transfer_coding", Status::NotImplemented, "this Transfer-Encoding is not supported"),
    ("version_not_supported", Status::VersionNotSupported, "this server speaks HTTP/1.1 and HTTP/1.0"),
    ("head_timeout", Status::RequestTimeout, "the request head did not arrive in time"),
    ("body_timeout", Status::RequestTimeout, "the request body did not arrive in time"),
    ("overloaded", Status::ServiceUnavailable, "the server is busy or stopping; try again later"),
    (
        "no_room",
        Status::ServiceUnavailable,
        "the server has no room for more of what clients send; try again later",
    ),
];

impl Refusal {
    /// Returns the index of the refusal in the [facts](FACTS).
    pub(crate) fn number(self) -> usize {
        match self {
            Refusal::Malformed(_) => 0,
            Refusal::RequestLineTooLong => 1,
            Refusal::HeadTooLarge => 2,
            Refusal::BodyTooLarge => 3,
            Refusal::Misdirected => 4,
            Refusal::ExpectationFailed => 5,
            Refusal::UnknownTransferCoding => 6,
            Refusal::VersionNotSupported => 7,
            Refusal::HeadTimeout => 8,
            Refusal::BodyTimeout => 9,
            Refusal::Overloaded => 10,
            Refusal::NoRoom => 11,
        }
    }

    /// Returns the status that the client gets.
    pub fn status(self) -> Status {
        FACTS[self.number()].1
    }

    /// Returns whether the server knows that the client is sending more bytes than have arrived.
    pub(crate) fn is_of_a_body(self) -> bool {
        matches!(self, Refusal::BodyTooLarge | Refusal::NoRoom)
    }

    /// Returns the answer to send before the connection is closed.
    pub fn response(self) -> Response {
        let response = Response::error(self.status(), &self.to_string());
        match self {
            Refusal::Overloaded | Refusal::NoRoom => response.header("Retry-After", "1"),
            _ => response,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if let Refusal::Malformed(why) = self { why } else { FACTS[self.number()].2 })
    }
}

impl std::error::Error for Refusal {}
