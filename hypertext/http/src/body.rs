//! Reads bodies up to their end or up to a limit, and decodes them (RFC 9110, section 8.4).

use super::FetchError;
use super::answer::{innermost, why};
use super::call::Call;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::time::Duration;
use ureq::http::{HeaderMap, header};
use ureq::{Body, BodyReader};

/// The codings that the crawler accepts.
pub(super) const CODINGS: &str = "gzip, deflate";

/// The limit for the number of codings of a body. Each coding is applied to the result of the previous
/// coding.
const MOST_CODINGS: usize = 4;

/// Codings that are registered with IANA, but are not allowed by the request. A server that names any other
/// coding, such as `none`, `utf-8` or `aws-chunked`, has not encoded the body; browsers also use the body
/// as it is.
const UNREADABLE: [&str; 9] =
    ["aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress", "zstd"];

/// The limits, in bytes and in time, for reading an unwanted body so that its connection can be used again.
/// If an unwanted body exceeds one of these limits, the connection is closed.
const UNWANTED: u64 = 64 << 10;
const UNWANTED_TIME: Duration = Duration::from_millis(500);

/// The number of bytes that are decoded before the token and the time are checked again.
const PIECE: u64 = 64 << 10;

/// The amount of memory that is allocated for a body before its length is known.
const USUAL: usize = 8 << 10;

/// The error message if a body without a known length breaks off.
const MIDDLE: &str = "the connection ended in the middle of the body";

/// The result of reading a body.
#[derive(Default)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) is_truncated: bool,
    /// The reason why the body cannot be decoded, if there is one. If the body cannot be decoded, no bytes
    /// of it are returned.
    pub(super) unread: Option<String>,
}

/// Reads and decodes a body, up to `most` bytes.
///
/// # Errors
/// Fails if the connection breaks, or if the call's time is over or its token is cancelled.
pub(super) fn read(body: Body, headers: &HeaderMap, most: u64, call: &Call) -> Result<Content, FetchError> {
    let codings = match codings(headers) {
        Ok(codings) => codings,
        Err(why) => return pass(body, call).map(|()| Content { unread: Some(why), ..Content::default() }),
    };
    let mut wire = Wire::of(body);
    let mut bytes = Vec::with_capacity(USUAL);
    let read =
        decoded(&mut wire, &codings, most, call).and_then(|reader| fill(&mut bytes, reader, most, call));
    let is_truncated = match read {
        Ok(_) if wire.has_failed => return Err(FetchError::Broken(MIDDLE.to_owned())),
        Ok(is_truncated) => is_truncated,
        Err(_) if call.is_over.get() => true,
        Err(error) if wire.has_failed => {
            let promised = if codings.is_empty() { length(headers) } else { None };
            return Err(cut(error, &bytes, promised, call));
        }
        Err(error) => {
            call.check()?;
            if error.kind() == ErrorKind::UnexpectedEof {
                return Err(FetchError::Broken("its compressed body is not whole".to_owned()));
            }
            let why = format!("its body cannot be decompressed ({})", innermost(&error));
            return wire.pass(call).map(|()| Content { unread: Some(why), ..Content::default() });
        }
    };
    if !is_truncated {
        wire.pass(call)?; // the bytes after the compressed data
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(Content { bytes, is_truncated, unread: None })
}

/// Reads and discards a body that the caller does not want. Errors in the discarded body are ignored.
///
/// # Errors
/// Fails if the token was cancelled.
pub(super) fn pass(body: Body, call: &Call) -> Result<(), FetchError> {
    Wire::of(body).pass(call)
}

/// A body in the form in which it is received.
struct Wire {
    reader: BodyReader<'static>,
    /// True if the connection, or the framing of the body, has broken.
    has_failed: bool,
}

impl Wire {
    fn of(body: Body) -> Wire {
        let reader = body.into_with_config().limit(u64::MAX).reader(); // our limit cuts off; ureq's would fail
        Wire { reader, has_failed: false }
    }

    fn pass(&mut self, call: &Call) -> Result<(), FetchError> {
        call.hurry(UNWANTED_TIME);
        let _ = io::copy(&mut self.take(UNWANTED), &mut io::sink());
        Ok(call.token().check()?)
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into);
        self.has_failed |= read.is_err();
        read
    }
}

/// A way in which a body is encoded.
#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
}

/// Returns the codings of a body in the order in which they were applied, or the reason why the body cannot
/// be decoded.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, String> {
    let mut codings = Vec::new();
    for field in headers.get_all(header::CONTENT_ENCODING) {
        for name in field.as_bytes().split(|byte| *byte == b',') {
            let name = String::from_utf8_lossy(name).trim().to_ascii_lowercase();
            match &*name {
                "gzip" | "x-gzip" => codings.push(Coding::Gzip),
                "deflate" => codings.push(Coding::Deflate),
                _ if UNREADABLE.contains(&&*name) => {
                    return Err(format!("its body is encoded as {name:?}, which was not asked for"));
                }
                _ => (),
            }
        }
    }
    if codings.len() > MOST_CODINGS {
        return Err(format!("its body is encoded {} times over", codings.len()));
    }
    Ok(codings)
}

impl Coding {
    /// Returns a reader that decodes bytes with the given coding. An empty body stays empty, because some
    /// servers add the field `Content-Encoding` to answers without a body.
    fn decoder<'r>(self, mut below: impl BufRead + 'r) -> io::Result<Box<dyn Read + 'r>> {
        let Some(first) = below.fill_buf()?.first().copied() else { return Ok(Box::new(io::empty())) };
        Ok(match self {
            Coding::Gzip => Box::new(Gzip(Some(GzDecoder::new(below)))),
            // The data may have a zlib wrapper, as the RFC requires, or have no wrapper, as many servers send
            // the data. In raw deflate data, the first byte has these bits only if a padding bit is 1, and no
            // encoder writes such a bit.
            Coding::Deflate if first & 0xf == 8 => Box::new(ZlibDecoder::new(below)),
            Coding::Deflate => Box::new(DeflateDecoder::new(below)),
        })
    }
}

/// Removes the codings of a body: the coding that was applied last is removed first.
fn decoded<'r>(
    wire: &'r mut Wire,
    codings: &[Coding],
    most: u64,
    call: &'r Call,
) -> io::Result<Box<dyn Read + 'r>> {
    let mut reader: Box<dyn Read + 'r> = Box::new(wire);
    for coding in codings.iter().rev() {
        let bounded = Bounded { reader, left: super::on_the_wire(most), call };
        reader = coding.decoder(BufReader::new(bounded))?;
    }
    Ok(reader)
}

/// Limits the input of a decoder, because endless input can decode to nothing, and then no limit on the
/// output stops the decoder.
struct Bounded<'r> {
    reader: Box<dyn Read + 'r>,
    left: u64,
    call: &'r Call,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.call.check().map_err(io::Error::other)?;
        if self.left == 0 {
            self.call.is_over.set(true);
            return Err(io::Error::other("there is no end to it"));
        }
        let count = (&mut self.reader).take(self.left).read(into)?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Decodes the members of a gzip file, one after the other. Like `gzip` and browsers, this reader ignores
/// other bytes after the last member.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            match member.read(into)? {
                0 if !into.is_empty() => self.0 = self.0.take().map(next).transpose()?.flatten(),
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}

/// Returns the gzip member after `member`, which has been read completely.
fn next<R: BufRead>(member: GzDecoder<R>) -> io::Result<Option<GzDecoder<R>>> {
    let mut rest = member.into_inner();
    if rest.fill_buf()?.first() != Some(&0x1f) {
        return Ok(None);
    }
    let mut next = GzDecoder::new(rest);
    if next.header().is_some() {
        return Ok(Some(next));
    }
    match next.read(&mut [0]) {
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::UnexpectedEof) => {
            Err(error)
        }
        _ => Ok(None), // not a gzip header
    }
}

/// Reads to the end of the input, but at most one byte more than `most`. Returns true if the input has more
/// than `most` bytes.
fn fill(bytes: &mut Vec<u8>, mut reader: impl Read, most: u64, call: &Call) -> io::Result<bool> {
    loop {
        call.check().map_err(io::Error::other)?;
        let piece = most.saturating_add(1).saturating_sub(bytes.len() as u64).min(PIECE);
        match (&mut reader).take(piece).read_to_end(bytes)? {
            0 => return Ok(false),
            _ if bytes.len() as u64 > most => return Ok(true),
            _ => (),
        }
    }
}

/// Returns the length that the head promises for the body.
fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// Returns the error for a body that breaks off.
fn cut(error: io::Error, bytes: &[u8], promised: Option<u64>, call: &Call) -> FetchError {
    let is_early = error.kind() == ErrorKind::UnexpectedEof;
    match (why(error.into(), call), promised) {
        (FetchError::Broken(_), Some(promised)) if is_early => {
            let got = bytes.len();
            FetchError::Broken(format!(
                "the connection ended after {got} of {promised} bytes, which Content-Length promised"
            ))
        }
        (FetchError::Broken(_), None) if is_early => FetchError::Broken(MIDDLE.to_owned()),
        (why, _) => why,
    }
}
