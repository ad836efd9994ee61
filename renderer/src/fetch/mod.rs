//! Bytes from an address, on a thread that waits for them, until a token calls the fetch off.
//!
//! The HTTP is `ureq`'s. What is ours is how it is called off: its sockets are made by a [connector](connection) that hands
//! each of them to a [`CancellableStream`](executor::CancellableStream), which shuts the connection down when the token is
//! cancelled. The thread that is blocked in a read then comes back at once, and its error says that it was called off; a
//! body that ends early because of that cannot be taken for a whole one.
//!
//! Each fetch has a connection of its own, which is closed at its end: a connection that is kept for the next one would have
//! to change its token.

mod connection; // sockets that a token can close
mod file; // files of this machine

use crate::gap::Gap;
use executor::{CancelToken, Cancelled};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};
use ureq::Agent;
use ureq::http::{Response, header};
use ureq::{Body, Error};
use url::Url;

/// Redirects that are followed, one after the other.
const MOST_REDIRECTS: usize = 5;

/// Bytes that the head of an answer may have.
const LARGEST_HEAD: usize = 64 << 10;

/// Bytes that are read before the token is looked at again, where no connection does that.
const PIECE: usize = 64 << 10;

/// What came from an address.
#[derive(Debug)]
pub struct Fetched {
    /// The bytes, decoded if they were compressed on their way.
    pub bytes: Vec<u8>,
    /// What the server said they are.
    pub content_type: Option<String>,
    /// Where they came from in the end, after redirects.
    pub url: Url,
}

/// What a step of a fetch may come to: the gap is the normal way to fail, so that it is no error for `?`.
type Step<T> = Result<Result<T, Gap>, Cancelled>;

/// Fetches the bytes behind an `http`, `https` (with the feature `tls`) or `file` address, `limit` at most.
///
/// Blocks. A cancellation point: when `token` is cancelled, the connection is closed and the call returns at once. While the system
/// resolves a name, it cannot be called back. Connecting is given up after half a minute; apart from that there is no time limit but the
/// token's: give it one [`with_timeout`](CancelToken::with_timeout).
///
/// # Errors
/// `Ok(Err(gap))` if the bytes cannot be had; `Err(Cancelled)`, with the token's reason, if it was cancelled meanwhile.
pub fn fetch(url: &Url, limit: u64, token: &CancelToken) -> Result<Result<Fetched, Gap>, Cancelled> {
    token.check()?;
    match url.scheme() {
        "file" => file::read(url, limit, token),
        "http" | "https" => over_http(url, limit, token),
        other => Ok(Err(Gap::Unusable(format!("{other} addresses are not fetched")))),
    }
}

fn over_http(url: &Url, limit: u64, token: &CancelToken) -> Step<Fetched> {
    let agent = agent(token);
    let mut url = url.clone();
    for _ in 0..=MOST_REDIRECTS {
        if url.scheme() == "https" && cfg!(not(feature = "tls")) {
            return Ok(Err(Gap::Unusable("https addresses need the feature tls".to_owned())));
        }
        let answer = match agent.get(url.as_str()).call() {
            Ok(answer) => answer,
            Err(error) => return why(error, token),
        };
        match answer.status().as_u16() {
            200..=299 => return body(answer, url, limit, token),
            301 | 302 | 303 | 307 | 308 => match target(&answer, &url) {
                Ok(next) => url = next,
                Err(gap) => return Ok(Err(gap)),
            },
            status => return Ok(Err(Gap::Status(status))),
        }
    }
    Ok(Err(Gap::Redirects))
}

/// A client whose sockets are closed when the token is cancelled.
fn agent(token: &CancelToken) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0) // ours: only to http and https
        .proxy(None)
        .max_idle_connections(0)
        .max_response_header_size(LARGEST_HEAD)
        .accept_encoding("gzip")
        .user_agent(concat!("renderer/", env!("CARGO_PKG_VERSION")))
        .build();
    connection::agent(config, token)
}

/// Where a redirect leads.
fn target(answer: &Response<Body>, from: &Url) -> Result<Url, Gap> {
    let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
    let next = location.and_then(|location| from.join(location).ok());
    match next {
        Some(next) if matches!(next.scheme(), "http" | "https") => Ok(next),
        Some(next) => Err(Gap::Unusable(format!("it redirects to a {} address", next.scheme()))),
        None => Err(Gap::Unusable("it redirects to nowhere".to_owned())),
    }
}

fn body(answer: Response<Body>, url: Url, limit: u64, token: &CancelToken) -> Step<Fetched> {
    let (head, body) = answer.into_parts();
    let content_type =
        head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let encoding = head.headers.get(header::CONTENT_ENCODING).map_or(&b""[..], |value| value.as_bytes());
    let plain = body.into_with_config().limit(u64::MAX).reader(); // ours counts bytes as they are after decompression
    let reader: Box<dyn Read> =
        if [&b"gzip"[..], b"x-gzip"].iter().any(|gzip| encoding.eq_ignore_ascii_case(gzip)) {
            Box::new(MultiGzDecoder::new(plain))
        } else {
            Box::new(plain)
        };
    match read_at_most(reader, limit, token)? {
        Ok(Ok(bytes)) => Ok(Ok(Fetched { bytes, content_type, url })),
        Ok(Err(gap)) => Ok(Err(gap)),
        Err(error) => why(error.into(), token),
    }
}

/// All bytes of a reader, or a gap if there are more than `limit`.
fn read_at_most(
    reader: impl Read,
    limit: u64,
    token: &CancelToken,
) -> Result<io::Result<Result<Vec<u8>, Gap>>, Cancelled> {
    let (mut bytes, mut reader) = (Vec::new(), reader.take(limit.saturating_add(1)));
    loop {
        token.check()?;
        match (&mut reader).take(PIECE as u64).read_to_end(&mut bytes) {
            Ok(0) => break,
            Ok(_) if bytes.len() as u64 > limit => return Ok(Ok(Err(Gap::TooManyBytes { limit }))),
            Ok(_) => (),
            Err(error) => return Ok(Err(error)),
        }
    }
    token.check()?; // an end that the shutdown of the connection has made is no end
    Ok(Ok(Ok(bytes)))
}

/// What an error of the client means.
fn why<T>(error: Error, token: &CancelToken) -> Step<T> {
    token.check()?;
    Ok(Err(match error {
        Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => Gap::Unreachable("the server refuses connections".to_owned()),
            io::ErrorKind::TimedOut
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable => Gap::Unreachable("the server does not answer".to_owned()),
            io::ErrorKind::UnexpectedEof => Gap::Broken("the answer is incomplete".to_owned()),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Gap::Broken("the server reset it".to_owned())
            }
            _ => Gap::Broken(innermost(&error)),
        },
        Error::HostNotFound => Gap::Unreachable("there is no such host".to_owned()),
        Error::LargeResponseHeader(..) => {
            Gap::Broken(format!("the head of the answer is larger than {LARGEST_HEAD} bytes"))
        }
        Error::Protocol(error) => Gap::Broken(format!("the answer is no HTTP ({error})")),
        other => Gap::Unreachable(other.to_string()),
    }))
}

/// The words of the error that is the cause of all.
fn innermost(error: &io::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
