//! A request after its head has been read, as a handler sees it.
//!
//! The request borrows the bytes from which it was read. So the request costs no allocation, but it cannot
//! outlive its bytes: it must be dropped before the connection parses the next request. A request that must
//! wait or move to another thread becomes an [`OwnedRequest`](super::OwnedRequest).

use super::Authority;
use std::fmt;
use std::net::SocketAddr;

/// The versions of HTTP that the server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Version {
    /// HTTP/1.0: by default a connection closes after one request.
    Http10,
    /// HTTP/1.1: by default a connection stays open.
    #[default]
    Http11,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
        })
    }
}

/// A request whose head has been read and is unambiguous. The request borrows the bytes from which it was
/// read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'b> {
    /// The method as the client sent it, such as `GET`; it is case-sensitive.
    pub method: &'b str,
    /// The target as the client sent it: path and query, with or without `http://host` before them; or `*`.
    pub target: &'b str,
    /// The target's path as the client sent it: it starts with `/` and is still percent-encoded. The path
    /// can also be the `*` of `OPTIONS *`.
    pub path: &'b str,
    /// The part of the target after `?`.
    pub query: Option<&'b str>,
    /// The version of the request line.
    pub version: Version,
    /// The body, if it has been read.
    pub body: &'b [u8],
    /// The client's address, if the request came over a connection.
    pub peer: Option<SocketAddr>,
    /// The client that waits for the answer, if the request came over a connection.
    pub client: Option<&'b dyn Presence>,
    pub(super) keep_alive: bool,
    pub(super) authority: Option<Authority<'b>>,
    pub(super) head: &'b [u8],
    pub(super) fields: &'b [Field],
}

impl<'b> Request<'b> {
    /// Returns the host that the request is for; `None` if a request of HTTP/1.0 names no host.
    pub(crate) fn authority(&self) -> Option<Authority<'b>> {
        self.authority
    }

    /// Returns the values of all fields called `name`, in order. Values that are not UTF-8 are skipped.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'b str> + 'a {
        self.values(name).filter_map(|value| std::str::from_utf8(value).ok())
    }

    /// Returns how many fields are called `name`, including fields whose values are not text.
    pub fn header_count(&self, name: &str) -> usize {
        self.values(name).count()
    }

    /// Returns the value of the first field called `name`.
    pub fn header(&self, name: &str) -> Option<&'b str> {
        self.headers(name).next()
    }

    /// Returns the value of `name` in the query as the client sent it, for instance `7` for `ms` in
    /// `/cpu?ms=7`.
    pub fn query_value(&self, name: &str) -> Option<&'b str> {
        self.query?.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns whether the client expects the connection to stay open after this request.
    pub fn wants_keep_alive(&self) -> bool {
        self.keep_alive
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'b [u8]> + 'a {
        let head = self.head;
        self.fields
            .iter()
            .filter(move |field| field.is_called(name, head))
            .map(move |field| field.value(head))
    }
}

/// What a handler can learn about the client that waits for its answer.
pub trait Presence: fmt::Debug {
    /// Returns whether the client has ended its side of the connection, or is gone; the server cannot
    /// distinguish these two cases.
    ///
    /// A client that has sent more bytes after the request counts as present. A call costs some system calls,
    /// so do not call this function often.
    fn has_left(&self) -> bool;
}

/// A position in the bytes of a head.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    /// Returns the position of `part` in `whole`.
    pub(super) fn of(part: &[u8], whole: &[u8]) -> Span {
        let start = part.as_ptr().addr() - whole.as_ptr().addr();
        Span { start, end: start + part.len() }
    }

    pub(super) fn bytes(self, whole: &[u8]) -> &[u8] {
        &whole[self.start..self.end]
    }

    pub(super) fn text(self, whole: &[u8]) -> &str {
        std::str::from_utf8(self.bytes(whole)).expect("it was text when it was parsed")
    }
}

/// One header field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: Span,
    pub(super) value: Span,
}

impl Field {
    fn is_called(self, name: &str, head: &[u8]) -> bool {
        self.name.bytes(head).eq_ignore_ascii_case(name.as_bytes())
    }

    fn value(self, head: &[u8]) -> &[u8] {
        self.value.bytes(head)
    }
}
