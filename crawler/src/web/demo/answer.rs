//! The answers of the demo site, before they are turned into bytes.

use std::fmt::Write as _;

/// An answer of the demo site.
pub(super) enum Answer {
    /// A correct answer that states its length.
    Whole(Reply),
    /// A correct answer in chunks.
    Chunked(Reply),
    /// The answer consists only of the given bytes; after these bytes, the connection is closed or reset.
    Broken { bytes: Vec<u8>, resets: bool },
    /// The answer is the bytes of `first` once, and then the bytes of `again` repeatedly without end.
    Endless { first: Vec<u8>, again: Vec<u8> },
}

/// A status, header fields and a body.
pub(super) struct Reply {
    status: u16,
    fields: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Reply {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        Reply { status, fields: vec![("Content-Type", content_type.to_owned())], body: body.into() }
    }

    pub(super) fn html(body: impl Into<Vec<u8>>) -> Reply {
        Reply::new(200, "text/html; charset=utf-8", body)
    }

    pub(super) fn error(status: u16) -> Reply {
        let words = reason(status);
        Reply { status, ..Reply::html(format!("<!doctype html><title>{words}</title><p>{status} {words}\n")) }
    }

    pub(super) fn redirect(status: u16, location: impl Into<String>) -> Reply {
        Reply::error(status).field("Location", location.into())
    }

    pub(super) fn field(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.fields.push((name, value.into()));
        self
    }

    /// Returns the head of the answer, which promises `length` bytes, or chunks.
    pub(super) fn head(&self, length: Option<usize>, stays: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.fields {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = match length {
            Some(length) => write!(head, "Content-Length: {length}\r\n"),
            None => write!(head, "Transfer-Encoding: chunked\r\n"),
        };
        head.push_str(if stays { "\r\n" } else { "Connection: close\r\n\r\n" });
        head.into_bytes()
    }

    /// Returns head and body in one buffer, so that a small answer is sent in one packet.
    pub(super) fn bytes(&self, stays: bool, wants_body: bool) -> Vec<u8> {
        let mut bytes = self.head(Some(self.body.len()), stays);
        if wants_body {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }

    /// Returns the beginning of an answer that promises a wrong length.
    pub(super) fn promising(&self, length: usize) -> Answer {
        let mut bytes = self.head(Some(length), true);
        bytes.extend_from_slice(&self.body);
        Answer::Broken { bytes, resets: false }
    }

    /// Returns the answer in chunks. If `broken` is true, the answer has a bad chunk in place of the last
    /// chunk.
    pub(super) fn chunked(&self, stays: bool, broken: bool) -> Vec<u8> {
        let mut bytes = self.head(None, stays);
        for chunk in self.body.chunks(100) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(if broken { b"zz\r\nno number" } else { b"0\r\n\r\n" });
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        404 => "Not Found",
        405 => "Method Not Allowed",
        503 => "Service Unavailable",
        _ => "Something Else",
    }
}
