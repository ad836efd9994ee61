//! What the head and the body of an answer say.

use super::call::Call;
use super::{FetchError, Fetched, LARGEST_HEAD};
#[cfg(feature = "tls")]
use crate::trust;
use std::error::Error as _;
use std::io::{self, ErrorKind, Read};
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, Response, header};
use ureq::{Body, Error};
use url::Url;

/// The longest pause that a server can ask for.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// Bytes that are decompressed before the token and the time are looked at again.
const PIECE: u64 = 64 << 10;

/// Memory for a body before it is known how long it is.
const USUAL: usize = 8 << 10;

/// Reads the rest of an answer.
pub(super) fn read(
    response: Response<Body>,
    url: &Url,
    most: u64,
    call: &Call,
) -> Result<Fetched, FetchError> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    if let Some(encoding) = text(&head.headers, header::CONTENT_ENCODING.as_str())
        && !encoding.eq_ignore_ascii_case("identity")
    {
        // gzip is decoded by ureq, which takes the field away
        return Err(FetchError::Broken(format!("it is encoded as {encoding:?}, which nobody asked for")));
    }
    let promised = length(&head.headers);
    let (body, is_truncated) = read_body(body, promised, most, call)?;
    let location = match status {
        300..=399 => text(&head.headers, "location").and_then(|location| url.join(location).ok()),
        _ => None,
    };
    Ok(Fetched {
        status,
        content_type: text(&head.headers, "content-type").map(str::to_owned),
        location,
        retry_after: text(&head.headers, "retry-after").and_then(retry_after),
        is_nofollow: is_nofollow(&head.headers),
        body,
        is_truncated,
    })
}

/// A field of the head, if it is text.
fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::trim)
}

/// Whether one of the fields `X-Robots-Tag` has the word. Each may begin with the name of a crawler and a colon; what is asked of one
/// crawler is asked of this one, too.
fn is_nofollow(headers: &HeaderMap) -> bool {
    let fields = headers.get_all("x-robots-tag").into_iter();
    let words = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split([',', ':']));
    words.map(str::trim).any(|word| ["nofollow", "none"].iter().any(|no| no.eq_ignore_ascii_case(word)))
}

/// The promised length of a body that is not compressed; of a compressed one, ureq keeps it to itself.
fn length(headers: &HeaderMap) -> Option<u64> {
    text(headers, "content-length").and_then(|length| length.parse().ok())
}

/// A pause in seconds, or the time until a date.
fn retry_after(value: &str) -> Option<Duration> {
    let pause = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        value.parse().map_or(LONGEST_PAUSE, Duration::from_secs) // more seconds than fit into a number
    } else {
        let until = httpdate::parse_http_date(value).ok()?;
        until.duration_since(SystemTime::now()).unwrap_or_default()
    };
    Some(pause.min(LONGEST_PAUSE))
}

/// The body, and whether it was longer than this.
fn read_body(
    body: Body,
    promised: Option<u64>,
    most: u64,
    call: &Call,
) -> Result<(Vec<u8>, bool), FetchError> {
    let mut reader = body.into_with_config().limit(u64::MAX).reader(); // ours cuts off, ureq's fails
    let mut bytes = Vec::with_capacity(USUAL);
    loop {
        call.check()?;
        let piece = most.saturating_add(1).saturating_sub(bytes.len() as u64).min(PIECE);
        match (&mut reader).take(piece).read_to_end(&mut bytes) {
            Ok(0) => return Ok((bytes, false)),
            Ok(_) if bytes.len() as u64 > most => break,
            Ok(_) => (),
            Err(_) if call.is_over.get() => break,
            Err(error) => return Err(cut(error, &bytes, promised, call)),
        }
    }
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((bytes, true))
}

/// Why a body has no end.
fn cut(error: io::Error, bytes: &[u8], promised: Option<u64>, call: &Call) -> FetchError {
    let is_early = error.kind() == ErrorKind::UnexpectedEof;
    match (why(error.into(), call), promised) {
        (FetchError::Broken(_), Some(promised)) if is_early => {
            let got = bytes.len();
            FetchError::Broken(format!(
                "the connection ended after {got} of {promised} bytes, which Content-Length promised"
            ))
        }
        (FetchError::Broken(_), None) if is_early => {
            FetchError::Broken("the connection ended in the middle of the body".to_owned())
        }
        (why, _) => why,
    }
}

/// What an error of `ureq` means: what a step of ours has noted, or else what `ureq` found wrong.
pub(super) fn why(error: Error, call: &Call) -> FetchError {
    if let Err(over) = call.check() {
        return over;
    }
    if let Some(noted) = call.take_failure() {
        return noted;
    }
    #[cfg(feature = "tls")]
    if let Some(why) = distrust(&error) {
        return FetchError::Untrusted(why);
    }
    match error {
        Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            FetchError::Broken("the server closed the connection instead of answering".to_owned())
        }
        Error::Io(error) => FetchError::Broken(innermost(&error)),
        Error::LargeResponseHeader(..) => {
            FetchError::Broken(format!("its head is larger than {LARGEST_HEAD} bytes"))
        }
        Error::Protocol(error) => FetchError::Broken(format!("it is no HTTP ({error})")),
        Error::Decompress(_, error) => {
            FetchError::Broken(format!("it cannot be decompressed ({})", innermost(&error)))
        }
        Error::BadUri(what) => FetchError::Unusable(format!("{what} cannot be asked for")),
        Error::Http(error) => FetchError::Unusable(error.to_string()),
        Error::BodyStalled => FetchError::Broken("its body does not go on".to_owned()),
        Error::ConnectProxyFailed(error) => FetchError::Connect(format!("the proxy says {error}")),
        other => FetchError::Connect(other.to_string()), // TLS, mostly
    }
}

/// What is wrong with the certificate of the server. The handshake is made while something is read or written.
#[cfg(feature = "tls")]
fn distrust(error: &Error) -> Option<String> {
    match error {
        Error::Rustls(error) => trust::distrust(error),
        Error::Io(error) => trust::distrust(error.get_ref()?.downcast_ref()?),
        _ => None,
    }
}

/// The words of the error that is the cause of all.
fn innermost(error: &io::Error) -> String {
    let mut cause = error.source();
    let mut words = error.to_string();
    while let Some(next) = cause {
        words = next.to_string();
        cause = next.source();
    }
    words
}
