//! Rewrites the heads of answers so that `ureq` can read them.
//!
//! `ureq` reads at most 128 header fields of a head. `ureq` cannot read a header field that continues on the
//! next line, although a client must be able to read such a field (RFC 9112, section 5.2). `ureq` cannot read
//! a field with a space before the colon either, although browsers can. No setting of `ureq` changes its
//! limits for heads. So a transport on top of the connection and of TLS passes on only the relevant fields,
//! each in its own line.

use super::call::Call;
use super::{FetchError, LARGEST_HEAD};
use memchr::memchr;
use std::mem;
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

/// The header fields that this package or `ureq` reads. Header fields that are not in this list are
/// dropped.
const READ: [&str; 12] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "refresh",
    "retry-after",
    "transfer-encoding",
    "x-robots-tag",
];

/// The number of `Link` fields that are passed on. A page may have a `Link` field for each image.
const MOST_LINKS: usize = 64;

/// Wraps each connection of the previous connector in [`Heads`].
#[derive(Debug)]
pub(super) struct HeadConnector;

impl<In: Transport> Connector<In> for HeadConnector {
    type Out = Heads<In>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        below: Option<In>,
    ) -> Result<Option<Heads<In>>, Error> {
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(below.map(|below| Heads { below, buffers, head: Head::default() }))
    }
}

/// A connection whose heads are rewritten before `ureq` reads them.
#[derive(Debug)]
pub(super) struct Heads<T> {
    below: T,
    buffers: LazyBuffers,
    head: Head,
}

impl<T: Transport> Transport for Heads<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.head = Head::default(); // the head of the answer to this request
        let output = &self.buffers.output()[..amount];
        self.below.buffers().output()[..amount].copy_from_slice(output);
        self.below.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let mut count = 0;
        while count == 0 {
            let room = self.buffers.input_append_buf();
            let is_ready = !self.below.buffers().input().is_empty();
            if room.is_empty() || !is_ready && !self.below.await_input(timeout)? {
                return Ok(false);
            }
            let input = self.below.buffers().input();
            let used;
            if self.head.place == Place::Body {
                (used, count) = (input.len().min(room.len()), input.len().min(room.len()));
                room[..count].copy_from_slice(&input[..count]);
            } else {
                let read = self.head.take(input).filter(|_| self.head.ready.len() <= room.len());
                used = read.ok_or_else(too_large)?;
                count = self.head.ready.len();
                room[..count].copy_from_slice(&self.head.ready);
                self.head.ready.clear();
            }
            self.below.buffers().input_consume(used);
            self.buffers.input_appended(count);
        }
        Ok(true)
    }

    /// A connection with unread bytes after an answer is not used again, because the next answer would
    /// begin with these bytes.
    fn is_open(&mut self) -> bool {
        self.below.is_open() && self.below.buffers().input().is_empty()
    }

    fn is_tls(&self) -> bool {
        self.below.is_tls()
    }
}

fn too_large() -> Error {
    let why = FetchError::Broken(format!("its head is larger than {LARGEST_HEAD} bytes"));
    Call::current().map_or_else(|error| error, |call| call.fail(why))
}

/// The next part of an answer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Status,
    Fields,
    Body,
}

/// The part of an answer's head that has been received.
#[derive(Debug, Default)]
struct Head {
    place: Place,
    /// The number of bytes of heads that have been received so far, including earlier heads, because the head
    /// of an answer may come after hints.
    length: usize,
    /// The number of `Link` fields of this head so far.
    links: usize,
    line: Vec<u8>,
    /// A header field that the next line may continue.
    field: Vec<u8>,
    /// Rewritten bytes that `ureq` has not read yet.
    ready: Vec<u8>,
    /// True if the head is a hint, after which another head follows.
    is_hint: bool,
}

impl Head {
    /// Takes input up to the end of the head. Returns the number of bytes that belong to the head, or
    /// `None` if the head is too large.
    fn take(&mut self, input: &[u8]) -> Option<usize> {
        let mut taken = 0;
        while self.place != Place::Body && taken < input.len() {
            let rest = &input[taken..];
            let line_end = memchr(b'\n', rest);
            let piece = &rest[..line_end.map_or(rest.len(), |at| at + 1)];
            self.length += piece.len();
            if self.length > LARGEST_HEAD {
                return None;
            }
            taken += piece.len();
            self.line.extend(piece);
            if self.place == Place::Status {
                self.ready.extend(piece); // `ureq` refuses the line at once if it is not HTTP
            }
            if line_end.is_some() {
                self.end_line();
            }
        }
        Some(taken)
    }

    fn end_line(&mut self) {
        let mut line = mem::take(&mut self.line);
        match (self.place, &*line) {
            (Place::Status, _) => {
                self.is_hint = line.get(9) == Some(&b'1') && line.get(9..12) != Some(b"101");
                self.place = Place::Fields;
            }
            (_, b"\r\n" | b"\n") => {
                self.end_field();
                self.ready.extend(b"\r\n");
                self.links = 0;
                self.place = if self.is_hint { Place::Status } else { Place::Body };
            }
            (_, [b' ' | b'\t', ..]) if !self.field.is_empty() => {
                self.field.push(b' ');
                self.field.extend(line.trim_ascii());
            }
            _ => {
                self.end_field();
                self.field.extend(line.trim_ascii_end());
            }
        }
        line.clear();
        self.line = line; // the next line uses its memory
    }

    fn end_field(&mut self) {
        let mut field = mem::take(&mut self.field);
        if !field.is_empty() {
            self.pass_on(&field);
        }
        field.clear();
        self.field = field;
    }

    /// Passes a header field on if it is relevant. A line that is not a header field is also passed on,
    /// and `ureq` refuses the line.
    fn pass_on(&mut self, field: &[u8]) {
        let Some(colon) = memchr(b':', field) else {
            self.ready.extend(field);
            return self.ready.extend(b"\r\n");
        };
        let (name, value) = (field[..colon].trim_ascii_end(), field[colon + 1..].trim_ascii());
        let is = |known: &&&str| name.eq_ignore_ascii_case(known.as_bytes());
        let Some(known) = READ.iter().find(is) else { return };
        self.links += usize::from(*known == "link");
        if *known != "link" || self.links <= MOST_LINKS {
            for part in [name, b": ", value, b"\r\n"] {
                self.ready.extend(part);
            }
        }
    }
}
