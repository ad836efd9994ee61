//! Creates the result of a fetch from the head of an answer, or from an error of `ureq`.

use super::body::{self, Content};
use super::call::Call;
use super::{FetchError, Fetched};
#[cfg(feature = "tls")]
use crate::trust;
use percent_encoding::percent_encode_byte;
use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, Response};
use ureq::{Body, Error};
use url::Url;

/// The longest pause that a server can ask for. If a crawl does not wait for so long, it leaves the server's
/// pages to another run.
const LONGEST_PAUSE: Duration = Duration::from_hours(24);

/// The largest number of bytes of an `ETag`, or of a date, that are kept.
const LONGEST_VALIDATOR: usize = 1024;

/// Reads the body of an answer whose head has been read.
pub(super) fn read(
    response: Response<Body>,
    url: &Url,
    most: u64,
    call: &Call,
) -> Result<Fetched, FetchError> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    let content = match status {
        200..=299 => body::read(body, &head.headers, most, call)?,
        // The head of an answer without a page has all data that the caller needs, so the head is used even
        // if the body is broken.
        _ => body::pass(body, call).map(|()| Content::default())?,
    };
    let location = match status {
        300..=399 => location(&head.headers, url),
        _ => None,
    };
    Ok(Fetched {
        status,
        content_type: text(&head.headers, "content-type").map(str::to_owned),
        location,
        retry_after: text(&head.headers, "retry-after").and_then(retry_after),
        link: head
            .headers
            .get_all("link")
            .iter()
            .map(|field| String::from_utf8_lossy(field.as_bytes()).into_owned()) // in any language
            .collect(),
        refresh: text(&head.headers, "refresh").map(str::to_owned),
        etag: validator(&head.headers, "etag"),
        modified: validator(&head.headers, "last-modified"),
        is_nofollow: is_nofollow(&head.headers),
        body: content.bytes,
        is_truncated: content.is_truncated,
        unread: content.unread,
    })
}

/// Returns a header field, if its value is text.
fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok()).map(str::trim)
}

/// Returns a header field that a later request can send back to ask whether the page has changed. Returns
/// `None` if the field is too long to be kept.
fn validator(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = headers.get(name)?.to_str().ok().map(str::trim);
    text.filter(|text| !text.is_empty() && text.len() <= LONGEST_VALIDATOR).map(str::to_owned)
}

/// Returns the address to which a redirect leads. Bytes that are not ASCII are sent back to the server
/// percent-encoded but not converted, whatever their charset is.
fn location(headers: &HeaderMap, url: &Url) -> Option<Url> {
    let mut text = Vec::new();
    for &byte in headers.get("location")?.as_bytes().trim_ascii() {
        text.extend_from_slice(if byte.is_ascii() {
            std::slice::from_ref(&byte)
        } else {
            percent_encode_byte(byte).as_bytes()
        });
    }
    url.join(str::from_utf8(&text).ok().filter(|text| !text.is_empty())?).ok()
}

/// Returns true if a header field `X-Robots-Tag` contains `nofollow` or `none`. A field may begin with the
/// name of a crawler and a colon; this crawler obeys the field for any name.
fn is_nofollow(headers: &HeaderMap) -> bool {
    let fields = headers.get_all("x-robots-tag").into_iter();
    let words = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split([',', ':']));
    words.map(str::trim).any(|word| ["nofollow", "none"].iter().any(|no| no.eq_ignore_ascii_case(word)))
}

/// Parses a pause in seconds, or the time until a date. Returns `None` for 0 seconds and for a date in the
/// past.
fn retry_after(value: &str) -> Option<Duration> {
    let pause = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        value.parse().map_or(LONGEST_PAUSE, Duration::from_secs) // more seconds than fit into a number
    } else {
        httpdate::parse_http_date(value).ok()?.duration_since(SystemTime::now()).ok()?
    };
    Some(pause.min(LONGEST_PAUSE)).filter(|pause| !pause.is_zero())
}

/// Returns why a call failed: the reason that this package has recorded, or else the error of `ureq`.
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
        Error::Protocol(error) => FetchError::Broken(format!("it is no HTTP ({error})")),
        Error::BadUri(what) => FetchError::Unusable(format!("{what} cannot be asked for")),
        Error::Http(error) => FetchError::Unusable(error.to_string()),
        Error::BodyStalled => FetchError::Broken("its body does not go on".to_owned()),
        Error::ConnectProxyFailed(error) => FetchError::Connect(format!("the proxy says {error}")),
        other => FetchError::Connect(other.to_string()), // TLS, mostly
    }
}

/// Returns the problem with the server's certificate, if the error is a certificate error. TLS performs its
/// handshake during the first read or write.
#[cfg(feature = "tls")]
fn distrust(error: &Error) -> Option<String> {
    match error {
        Error::Rustls(error) => trust::distrust(error),
        Error::Io(error) => trust::distrust(error.get_ref()?.downcast_ref()?),
        _ => None,
    }
}

/// Returns the message of the last error in the chain of causes.
pub(super) fn innermost(error: &io::Error) -> String {
    let mut cause = error.source();
    let mut words = error.to_string();
    while let Some(next) = cause {
        words = next.to_string();
        cause = next.source();
    }
    words
}
