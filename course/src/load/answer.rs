//! Reads answers from a connection, one after the other, and classifies failures.

use serde::Serialize;
use std::io::{ErrorKind, Read};
use std::time::Instant;

/// The longest head of an answer, and the longest line between two chunks.
const LONGEST_HEAD: usize = 64 * 1024;
const MOST_FIELDS: usize = 100;

/// The reason why a request got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    /// No process listens at the address.
    ConnectRefused,
    /// The connection was not made in time, because the server's queue of new connections is full.
    ConnectTimedOut,
    /// The connection could not be made for another reason, such as too many open files in this
    /// process.
    ConnectFailed,
    /// The answer, or a part of it, came too late.
    TimedOut,
    /// The server reset the connection.
    Reset,
    /// The connection was closed before the answer was complete.
    Closed,
    /// The arrived bytes were not HTTP.
    Malformed,
    /// The run was stopped while the client waited for the answer.
    Stopped,
}

impl Failure {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Failure::ConnectRefused => "connection refused",
            Failure::ConnectTimedOut => "no connection in time",
            Failure::ConnectFailed => "no connection",
            Failure::TimedOut => "no answer in time",
            Failure::Reset => "connection reset",
            Failure::Closed => "closed without a whole answer",
            Failure::Malformed => "not HTTP",
            Failure::Stopped => "stopped while waiting",
        }
    }

    pub(crate) fn of_transfer(kind: ErrorKind) -> Failure {
        match kind {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Failure::TimedOut,
            ErrorKind::UnexpectedEof => Failure::Closed,
            _ => Failure::Reset,
        }
    }
}

/// An answer that has arrived completely.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The number of bytes in the head and the body together.
    pub(crate) bytes: u64,
    /// True if the connection can be used for another request.
    pub(crate) stays: bool,
}

/// The way in which the end of an answer's body is found.
enum Body {
    Sized(u64),
    Chunked,
    /// The body ends when the connection ends.
    Rest,
}

struct Head {
    status: u16,
    body: Body,
    stays: bool,
    length: usize,
}

/// The answers that arrive on one connection. The stream `read` may also have its own time-out.
pub(crate) struct Answers<R> {
    read: R,
    buffer: Vec<u8>,
    used: usize,
    deadline: Instant,
}

impl<R: Read> Answers<R> {
    pub(crate) fn new(read: R) -> Self {
        Self { read, buffer: Vec::with_capacity(16 * 1024), used: 0, deadline: Instant::now() }
    }

    /// Returns the stream, so that the caller can write to it.
    pub(crate) fn stream(&self) -> &R {
        &self.read
    }

    /// Returns whether all bytes that have arrived belong to answers that were already read.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == self.buffer.len()
    }

    /// Reads the next answer. Even if a server sends only one byte at a time, this call returns at
    /// `deadline`.
    pub(crate) fn next(&mut self, deadline: Instant) -> Result<Answer, Failure> {
        self.deadline = deadline;
        let mut bytes = 0;
        loop {
            let head = self.head()?;
            bytes += head.length as u64;
            self.used += head.length;
            if head.status < 200 {
                continue; // 1xx comes before the answer
            }
            bytes += match head.body {
                Body::Sized(length) => self.skip(length).map(|()| length)?,
                Body::Chunked => self.skip_chunks()?,
                Body::Rest => self.skip_rest()?,
            };
            return Ok(Answer { status: head.status, bytes, stays: head.stays });
        }
    }

    fn head(&mut self) -> Result<Head, Failure> {
        loop {
            if let Some(head) = parse_head(&self.buffer[self.used..])? {
                return Ok(head);
            }
            self.fill_line()?;
        }
    }

    fn skip(&mut self, mut length: u64) -> Result<(), Failure> {
        loop {
            let here = usize::try_from(length).unwrap_or(usize::MAX).min(self.buffer.len() - self.used);
            self.used += here;
            length -= here as u64;
            if length == 0 {
                return Ok(());
            }
            if self.fill()? == 0 {
                return Err(Failure::Closed);
            }
        }
    }

    fn skip_chunks(&mut self) -> Result<u64, Failure> {
        let mut bytes = 0;
        loop {
            let (line, size) = self.chunk_line()?;
            self.used += line;
            if size == 0 {
                return self.skip_trailer().map(|trailer| bytes + line as u64 + trailer);
            }
            let with_line_end = size.checked_add(2).ok_or(Failure::Malformed)?;
            self.skip(with_line_end)?;
            bytes += line as u64 + with_line_end;
        }
    }

    fn chunk_line(&mut self) -> Result<(usize, u64), Failure> {
        loop {
            match httparse::parse_chunk_size(&self.buffer[self.used..]) {
                Ok(httparse::Status::Complete(line)) => return Ok(line),
                Ok(httparse::Status::Partial) => self.fill_line()?,
                Err(_) => return Err(Failure::Malformed),
            }
        }
    }

    fn skip_trailer(&mut self) -> Result<u64, Failure> {
        loop {
            let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
            match httparse::parse_headers(&self.buffer[self.used..], &mut fields) {
                Ok(httparse::Status::Complete((length, _))) => {
                    self.used += length;
                    return Ok(length as u64);
                }
                Ok(httparse::Status::Partial) => self.fill_line()?,
                Err(_) => return Err(Failure::Malformed),
            }
        }
    }

    fn skip_rest(&mut self) -> Result<u64, Failure> {
        let mut bytes = (self.buffer.len() - self.used) as u64;
        self.used = self.buffer.len();
        loop {
            match self.fill()? {
                0 => return Ok(bytes),
                more => bytes += more as u64,
            }
            self.used = self.buffer.len();
        }
    }

    /// Reads more bytes of a line or a head; the whole line or head must fit into the buffer.
    fn fill_line(&mut self) -> Result<(), Failure> {
        if self.buffer.len() - self.used > LONGEST_HEAD {
            return Err(Failure::Malformed);
        }
        if self.fill()? == 0 { Err(Failure::Closed) } else { Ok(()) }
    }

    /// Reads once, and returns the number of bytes read; zero means that the server has closed the
    /// connection.
    fn fill(&mut self) -> Result<usize, Failure> {
        if Instant::now() >= self.deadline {
            return Err(Failure::TimedOut);
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        let before = self.buffer.len();
        self.buffer.resize(before + 16 * 1024, 0);
        let result = loop {
            match self.read.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.buffer.truncate(before + result.as_ref().map_or(0, |read| *read));
        result.map_err(|error| Failure::of_transfer(error.kind()))
    }
}

fn parse_head(bytes: &[u8]) -> Result<Option<Head>, Failure> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = response.parse(bytes).map_err(|_| Failure::Malformed)? else {
        return Ok(None);
    };
    let status = response.code.unwrap_or_default();
    let mut stays = response.version == Some(1);
    let mut body = if matches!(status, 204 | 304) { Body::Sized(0) } else { Body::Rest };
    for field in response.headers.iter() {
        let value = str::from_utf8(field.value).unwrap_or_default();
        let lists = |word: &str| value.split(',').any(|item| item.trim().eq_ignore_ascii_case(word));
        if field.name.eq_ignore_ascii_case("connection") {
            stays = !lists("close") && (stays || lists("keep-alive"));
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") && lists("chunked") {
            body = Body::Chunked;
        } else if field.name.eq_ignore_ascii_case("content-length") && matches!(body, Body::Rest) {
            body = Body::Sized(value.parse().map_err(|_| Failure::Malformed)?);
        }
    }
    stays &= !matches!(body, Body::Rest);
    Ok(Some(Head { status, body, stays, length }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A reader that returns one byte at a time, so that an answer arrives cut at every possible
    /// position.
    struct Bytewise<'b>(&'b [u8]);

    impl Read for Bytewise<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(1);
            (&mut self.0).take(length as u64).read(buffer)
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_mins(1)
    }

    fn whole(bytes: &[u8], status: u16, stays: bool) {
        let expected = Ok(Answer { status, bytes: bytes.len() as u64, stays });
        assert_eq!(Answers::new(bytes).next(soon()), expected);
        assert_eq!(Answers::new(Bytewise(bytes)).next(soon()), expected);
    }

    fn fails(bytes: &[u8]) -> Failure {
        Answers::new(bytes).next(soon()).unwrap_err()
    }

    #[test]
    fn an_answer_ends_where_its_framing_says() {
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true);
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", 200, false);
        whole(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", 200, true);
        whole(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n",
            200,
            true,
        );
        whole(b"HTTP/1.1 503 Service Unavailable\r\n\r\nto the end", 503, false);
        whole(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", 304, true);
        whole(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 204, true);
    }

    #[test]
    fn several_on_one_connection_are_told_apart() {
        let one = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        let three = one.repeat(3);
        let mut answers = Answers::new(&three[..]);
        for _ in 0..3 {
            assert_eq!(answers.next(soon()).map(|answer| answer.status), Ok(200));
        }
        assert_eq!(answers.next(soon()), Err(Failure::Closed));
    }

    #[test]
    fn what_is_no_answer_is_a_failure() {
        assert_eq!(fails(b""), Failure::Closed);
        assert_eq!(fails(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), Failure::Closed);
        assert_eq!(fails(b"SSH-2.0-server\r\n\r\n"), Failure::Malformed);
        assert_eq!(fails(b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n"), Failure::Malformed);
        assert_eq!(
            fails(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            Failure::Malformed
        );
        let endless = [&b"HTTP/1.1 200 OK\r\nA: "[..], &vec![b'a'; 100_000]].concat();
        assert_eq!(fails(&endless), Failure::Malformed);
        let past = Answers::new(&b"HTTP/1.1 200 OK\r\n\r\n"[..]).next(Instant::now());
        assert_eq!(past, Err(Failure::TimedOut));
    }
}
