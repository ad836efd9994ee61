//! What is refused: with which status, in which words, and by which name it is counted.

use super::{Response, Status};
use std::fmt;

/// Why a request gets an error and its connection an end.
///
/// After any of these it is unknown where the next request would begin, so the connection cannot go on.
/// An error about a request that was understood (no such page, wrong method) is an ordinary [`Response`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The bytes are no HTTP request, or one that can be understood in two ways.
    Malformed(&'static str),
    /// The request line is longer than the limit.
    RequestLineTooLong,
    /// The request's head is longer, or has more fields, than the limit.
    HeadTooLarge,
    /// The request's body is longer than the limit.
    BodyTooLarge,
    /// The request is for another server: one that speaks TLS.
    Misdirected,
    /// The request is to be carried out only if the server does something that it does not know.
    ExpectationFailed,
    /// The body is encoded in a way this server does not know.
    UnknownTransferCoding,
    /// A version of HTTP other than 1.0 and 1.1.
    VersionNotSupported,
    /// The head was begun and not finished in time.
    HeadTimeout,
    /// The body was not finished in time.
    BodyTimeout,
    /// The server has no thread for this connection.
    Overloaded,
    /// The server holds so much of what clients have sent that there is no room for this request.
    NoRoom,
}

impl Refusal {
    /// What statistics call each of them, in the order of their numbers.
    pub const REASONS: [&'static str; 12] = [
        "malformed",
        "request_line_too_long",
        "head_too_large",
        "body_too_large",
        "misdirected",
        "expectation_failed",
        "unknown_transfer_coding",
        "version_not_supported",
        "head_timeout",
        "body_timeout",
        "overloaded",
        "no_room",
    ];

    /// Where its reason is among the [reasons](Refusal::REASONS).
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

    /// The status that tells the client.
    pub fn status(self) -> Status {
        match self {
            Refusal::Malformed(_) => Status::BadRequest,
            Refusal::RequestLineTooLong => Status::UriTooLong,
            Refusal::HeadTooLarge => Status::HeaderFieldsTooLarge,
            Refusal::BodyTooLarge => Status::ContentTooLarge,
            Refusal::Misdirected => Status::MisdirectedRequest,
            Refusal::ExpectationFailed => Status::ExpectationFailed,
            Refusal::UnknownTransferCoding => Status::NotImplemented,
            Refusal::VersionNotSupported => Status::VersionNotSupported,
            Refusal::HeadTimeout | Refusal::BodyTimeout => Status::RequestTimeout,
            Refusal::Overloaded | Refusal::NoRoom => Status::ServiceUnavailable,
        }
    }

    /// Whether the client is known to be sending more than has arrived.
    pub(crate) fn is_of_a_body(self) -> bool {
        matches!(self, Refusal::BodyTooLarge | Refusal::NoRoom)
    }

    /// The answer to send before closing.
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
        f.write_str(match self {
            Refusal::Malformed(why) => why,
            Refusal::RequestLineTooLong => "the request line is longer than this server accepts",
            Refusal::HeadTooLarge => "the request head is larger than this server accepts",
            Refusal::BodyTooLarge => "the request body is larger than this server accepts",
            Refusal::Misdirected => "this server answers for http alone, not for https",
            Refusal::ExpectationFailed => "the only expectation this server meets is 100-continue",
            Refusal::UnknownTransferCoding => "this Transfer-Encoding is not supported",
            Refusal::VersionNotSupported => "this server speaks HTTP/1.1 and HTTP/1.0",
            Refusal::HeadTimeout => "the request head did not arrive in time",
            Refusal::BodyTimeout => "the request body did not arrive in time",
            Refusal::Overloaded => "the server is busy or stopping; try again later",
            Refusal::NoRoom => "the server has no room for more of what clients send; try again later",
        })
    }
}

impl std::error::Error for Refusal {}
