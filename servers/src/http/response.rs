//! An answer: its status, fields and body, and the code that writes them as bytes.
//!
//! One system call writes both the head and the body of a small answer. With two small writes, the second
//! write would wait for an acknowledgement that the client delays (Nagle's algorithm and delayed
//! acknowledgement). A large file is never completely in memory, because it is copied through a buffer, chunk
//! by chunk.

use super::date;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// The size of a file's chunk in memory, in bytes. This is also the largest size of a body in memory that is
/// copied behind its head.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Most answers have at most this number of fields, and their list then needs no allocation.
const USUAL_FIELDS: usize = 2;

/// The statuses that this server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "RFC 9110 defines each of them")]
pub enum Status {
    Ok = 200,
    Accepted = 202,
    NoContent = 204,
    PartialContent = 206,
    MovedPermanently = 301,
    NotModified = 304,
    BadRequest = 400,
    Unauthorized = 401,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    RequestTimeout = 408,
    PreconditionFailed = 412,
    ContentTooLarge = 413,
    UriTooLong = 414,
    RangeNotSatisfiable = 416,
    ExpectationFailed = 417,
    MisdirectedRequest = 421,
    HeaderFieldsTooLarge = 431,
    InternalServerError = 500,
    NotImplemented = 501,
    ServiceUnavailable = 503,
    VersionNotSupported = 505,
}

impl Status {
    /// Returns the three digits of the status.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// Returns the words that follow the code in a status line.
    pub fn reason(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::Accepted => "Accepted",
            Status::NoContent => "No Content",
            Status::PartialContent => "Partial Content",
            Status::MovedPermanently => "Moved Permanently",
            Status::NotModified => "Not Modified",
            Status::BadRequest => "Bad Request",
            Status::Unauthorized => "Unauthorized",
            Status::Forbidden => "Forbidden",
            Status::NotFound => "Not Found",
            Status::MethodNotAllowed => "Method Not Allowed",
            Status::RequestTimeout => "Request Timeout",
            Status::PreconditionFailed => "Precondition Failed",
            Status::ContentTooLarge => "Content Too Large",
            Status::UriTooLong => "URI Too Long",
            Status::RangeNotSatisfiable => "Range Not Satisfiable",
            Status::ExpectationFailed => "Expectation Failed",
            Status::MisdirectedRequest => "Misdirected Request",
            Status::HeaderFieldsTooLarge => "Request Header Fields Too Large",
            Status::InternalServerError => "Internal Server Error",
            Status::NotImplemented => "Not Implemented",
            Status::ServiceUnavailable => "Service Unavailable",
            Status::VersionNotSupported => "HTTP Version Not Supported",
        }
    }
}

/// The body of a response.
#[derive(Debug)]
pub enum Body {
    /// The response has no body and no `Content-Length`, as for the statuses 204 and 304.
    None,
    /// The body is a sequence of bytes in memory.
    Bytes(Cow<'static, [u8]>),
    /// The body is a part of a file; the server reads this part while it sends the body.
    File {
        /// The source of the bytes.
        file: Arc<File>,
        /// The position in the file where the part begins, in bytes.
        start: u64,
        /// The length of the part in bytes.
        length: u64,
    },
}

impl Body {
    /// Returns the number of bytes in the body.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Body::None => 0,
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File { length, .. } => *length,
        }
    }

    /// Writes the head, which is in `out`, and then the body.
    ///
    /// # Errors
    ///
    /// Returns an error if the client does not take the bytes, or if the file is now shorter than the
    /// head says. In that case only the end of the connection tells the client that the rest is
    /// missing.
    pub(crate) fn send(self, out: &mut Vec<u8>, to: &mut impl Write) -> io::Result<()> {
        match self {
            Body::None => to.write_all(out),
            Body::Bytes(bytes) => {
                // A large body is not copied behind its head.
                let (first, rest) = bytes.split_at(bytes.len().min(CHUNK));
                out.extend_from_slice(first);
                to.write_all(out)?;
                to.write_all(rest)
            }
            Body::File { file, start, length } => send_file(&file, start, length, out, to),
        }
    }
}

/// What the head of an answer says about its connection. Converts from a `bool`: `true` means that the
/// connection stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence<'s> {
    /// The connection is closed after the answer.
    Ends,
    /// The connection stays open.
    Stays,
    /// The connection stays open, and the client has not sent its next request yet. The field
    /// contains the lines of [`idle_for`](Persistence::idle_for); they tell the client how long the
    /// connection may be idle.
    Idles(&'s str),
}

impl Persistence<'_> {
    /// Returns the lines that tell a client how long its connection may be idle, in whole seconds; returns
    /// `None` if that time is less than a second.
    ///
    /// A client that knows this time avoids sending a request just when the server closes the
    /// connection. Clients subtract a margin for the delay of the network: undici subtracts two
    /// seconds, and Node's agent one second.
    pub fn idle_for(timeout: Duration) -> Option<String> {
        let seconds = timeout.as_secs();
        // The `Keep-Alive` field is about this connection alone, so the `Connection` field must list the name
        // of that field (RFC 9110, 7.6.1). The two names match, because names are case-insensitive.
        (seconds > 0).then(|| format!("Connection: keep-alive\r\nKeep-Alive: timeout={seconds}\r\n"))
    }
}

impl From<bool> for Persistence<'_> {
    fn from(stays: bool) -> Self {
        if stays { Persistence::Stays } else { Persistence::Ends }
    }
}

/// The line that announces the end of a connection.
pub(crate) const CLOSE: &str = "Connection: close\r\n";

/// An answer that is ready to be sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// The status.
    pub status: Status,
    /// The body.
    pub body: Body,
    headers: SmallVec<[(&'static str, Cow<'static, str>); USUAL_FIELDS]>,
}

impl Response {
    /// Makes a response with a body of the given type.
    pub fn new(status: Status, content_type: impl Into<Cow<'static, str>>, body: Body) -> Response {
        Response { status, body, headers: smallvec![("Content-Type", content_type.into())] }
    }

    /// Makes a response of plain text.
    pub fn text(status: Status, text: impl Into<Cow<'static, str>>) -> Response {
        let bytes = match text.into() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        Response::new(status, "text/plain; charset=utf-8", Body::Bytes(bytes))
    }

    /// Makes a response of an HTML page.
    pub fn html(status: Status, page: String) -> Response {
        Response::new(status, "text/html; charset=utf-8", Body::Bytes(Cow::Owned(page.into_bytes())))
    }

    /// Makes a response of a JSON value.
    pub fn json(value: &serde_json::Value) -> Response {
        let text = format!("{value:#}\n").into_bytes();
        Response::new(Status::Ok, "application/json", Body::Bytes(Cow::Owned(text)))
    }

    /// Makes an error answer from its status and a sentence that says what went wrong.
    pub fn error(status: Status, what: &str) -> Response {
        Response::text(status, format!("{} {}: {what}\n", status.code(), status.reason()))
    }

    /// Makes an answer that redirects the client to another path of this server.
    pub fn redirect(location: String) -> Response {
        Response::error(Status::MovedPermanently, "see the Location field").header("Location", location)
    }

    /// Makes an answer without a body; the answer says that the server has carried out the request.
    pub fn no_content() -> Response {
        Response { status: Status::NoContent, body: Body::None, headers: SmallVec::new() }
    }

    /// Makes an answer which says that the client's copy is still current.
    pub fn not_modified() -> Response {
        Response { status: Status::NotModified, body: Body::None, headers: SmallVec::new() }
    }

    /// Adds a field to the answer. The value must not contain line breaks.
    pub fn header(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Response {
        let value = value.into();
        debug_assert!(!value.contains(['\r', '\n']), "a header field is one line");
        self.headers.push((name, value));
        self
    }

    /// Appends the status line, the fields and the empty line after the fields.
    ///
    /// `connection` contains the lines about the connection, each with its line end; it may be empty.
    pub(crate) fn append_head(&self, connection: &str, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        append_all(&["HTTP/1.1 ", digits.format(self.status.code()), " ", self.status.reason()], out);
        date::with_now(|now| append_all(&["\r\nDate: ", now, "\r\nServer: task-execution-course\r\n"], out));
        for (name, value) in &self.headers {
            append_all(&[name, ": ", value, "\r\n"], out);
        }
        if !matches!(self.body, Body::None) {
            append_all(&["Content-Length: ", digits.format(self.body.length()), "\r\n"], out);
        }
        append_all(&[connection, "\r\n"], out);
    }
}

/// Reads each chunk in one system call, and sends the first chunk together with the head.
fn send_file(file: &File, start: u64, length: u64, out: &mut Vec<u8>, to: &mut impl Write) -> io::Result<()> {
    let (mut at, end) = (start, start + length);
    loop {
        append_chunk(file, at, end, out)?;
        to.write_all(out)?;
        at += (end - at).min(CHUNK as u64);
        if at == end {
            return Ok(());
        }
        out.clear();
    }
}

/// Appends to `out` the bytes `at..end` of a file, but at most one chunk.
pub(crate) fn append_chunk(file: &File, at: u64, end: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let before = out.len();
    let chunk = usize::try_from(end - at).map_or(CHUNK, |left| left.min(CHUNK));
    out.resize(before + chunk, 0);
    read_exact_at(file, &mut out[before..], at)
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => (bytes, at) = (&mut bytes[count..], at + count as u64),
        }
    }
    Ok(())
}

fn append_all(parts: &[&str], out: &mut Vec<u8>) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that counts the calls of `write`.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn file_of(bytes: &[u8]) -> Arc<File> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Arc::new(file)
    }

    fn send(response: Response) -> (io::Result<()>, Writes) {
        let (mut out, mut writes) = (Vec::new(), Writes::default());
        response.append_head("", &mut out);
        (response.body.send(&mut out, &mut writes), writes)
    }

    fn file_response(file: Arc<File>, length: u64) -> Response {
        Response::new(Status::Ok, "text/plain", Body::File { file, start: 0, length })
    }

    #[test]
    fn head_and_body_of_a_small_response_are_one_write() {
        for response in [Response::text(Status::Ok, "small"), file_response(file_of(b"small"), 5)] {
            let (sent, writes) = send(response);
            sent.unwrap();
            assert_eq!(writes.0.len(), 1);
            assert!(
                writes.0[0].starts_with(b"HTTP/1.1 200 OK\r\n") && writes.0[0].ends_with(b"\r\n\r\nsmall")
            );
        }
    }

    #[test]
    fn a_large_file_goes_out_in_chunks() {
        let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
        let (sent, writes) = send(file_response(file_of(&bytes), 200_000));
        sent.unwrap();
        assert!(writes.0.iter().all(|chunk| chunk.len() < 70_000), "a chunk holds more than its share");
        assert!(writes.0.concat().ends_with(&bytes));
    }

    #[test]
    fn a_part_of_a_file_is_that_part() {
        let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
        let body = Body::File { file: file_of(&bytes), start: 70_000, length: 100_000 };
        let (sent, writes) = send(Response::new(Status::PartialContent, "text/plain", body));
        sent.unwrap();
        assert!(writes.0.concat().ends_with(&bytes[70_000..170_000]));
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let (sent, _) = send(file_response(file_of(b"short"), 6));
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_empty_file_is_a_head() {
        let (sent, writes) = send(file_response(file_of(b""), 0));
        sent.unwrap();
        assert!(writes.0.concat().ends_with(b"Content-Length: 0\r\n\r\n"));
    }
}
