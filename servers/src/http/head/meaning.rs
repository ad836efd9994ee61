//! Determines the meaning of a well-formed head: its host, the end of its body, and the expectations of its
//! client. For a head whose lines are malformed, the module finds the kind of mistake.

use super::super::{Authority, Framing, Refusal, Version};
use httparse::Header;

pub(super) fn refusal(error: httparse::Error, bytes: &[u8]) -> Refusal {
    use httparse::Error;
    match error {
        Error::TooManyHeaders => Refusal::HeadTooLarge,
        Error::Version if names_some_http_version(bytes) => Refusal::VersionNotSupported,
        Error::Version | Error::Token | Error::Status => Refusal::Malformed("the request line is malformed"),
        Error::NewLine => Refusal::Malformed("a line does not end in CR LF"),
        Error::HeaderName => Refusal::Malformed("the name of a header field is malformed"),
        Error::HeaderValue => Refusal::Malformed("the value of a header field is malformed"),
    }
}

/// Returns whether the request line is well formed up to a version such as `HTTP/2.0`; this version shows
/// that the bytes are a request and not garbage.
fn names_some_http_version(bytes: &[u8]) -> bool {
    let (line, _) = request_line(bytes);
    let mut words = line.split(|&byte| byte == b' ').skip(2);
    matches!((words.next(), words.next()), (Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor]), None)
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// Returns whether the request line is incomplete and can still end in a version; the kind of mistake is
/// known only when the line is complete.
pub(super) fn may_become_a_version(bytes: &[u8]) -> bool {
    let (line, is_complete) = request_line(bytes);
    let so_far = line.splitn(3, |&byte| byte == b' ').nth(2).unwrap_or_default();
    let fits = |(&byte, &pattern)| byte == pattern || (pattern == b'0' && u8::is_ascii_digit(&byte));
    !is_complete && so_far.len() <= 8 && so_far.iter().zip(b"HTTP/0.0").all(fits)
}

/// Returns the first line that is not empty, without its line end, and whether the line end has arrived.
pub(super) fn request_line(bytes: &[u8]) -> (&[u8], bool) {
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    let line = &bytes[start..];
    match memchr::memchr2(b'\r', b'\n', line) {
        Some(end) => (&line[..end], true),
        None => (line, false),
    }
}

/// The parts of the request line's target.
pub(super) struct Target<'b> {
    /// `None` if the path is empty: the target ends with its host.
    pub(super) path: Option<&'b str>,
    pub(super) query: Option<&'b str>,
    pub(super) authority: Option<Authority<'b>>,
}

/// Parses the three forms of a target that a server must know: `/path?query`, `http://host/path?query`, and
/// the `*` of `OPTIONS *`.
pub(super) fn target<'b>(method: &str, target: &'b str) -> Result<Target<'b>, Refusal> {
    if method == "CONNECT" {
        return Err(Refusal::Malformed("this server is no proxy and opens no tunnels"));
    }
    if target.bytes().any(|byte| byte == b'#' || !byte.is_ascii()) {
        return Err(Refusal::Malformed("the request target has a character that must be percent-encoded"));
    }
    if target == "*" && method == "OPTIONS" {
        return Ok(Target { path: Some(target), query: None, authority: None });
    }
    let (authority, rest) = match split_scheme(target) {
        Some(after_scheme) => {
            let end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
            let authority = Authority::parse(&after_scheme.as_bytes()[..end]).filter(Authority::has_host);
            let authority = authority.ok_or(Refusal::Malformed("the request target names no host"))?;
            (Some(authority), &after_scheme[end..])
        }
        None if target.starts_with('/') => (None, target),
        None if has_scheme(target, "https://") => return Err(Refusal::Misdirected),
        None => return Err(Refusal::Malformed("the request target does not start with a slash")),
    };
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    Ok(Target { path: Some(path).filter(|path| !path.is_empty()), query, authority })
}

/// Returns the text after `http://`; the server answers for no other scheme.
fn split_scheme(target: &str) -> Option<&str> {
    has_scheme(target, "http://").then(|| &target["http://".len()..])
}

fn has_scheme(target: &str, scheme: &str) -> bool {
    target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Returns the host of a request: the host in the target if there is one, and otherwise the host in the
/// `Host` field. In both cases the request must have exactly one `Host` field, even if its value is
/// ignored.
pub(super) fn host<'b>(
    headers: &[Header<'b>],
    version: Version,
    from_target: Option<Authority<'b>>,
) -> Result<Option<Authority<'b>>, Refusal> {
    let mut hosts = values(headers, "Host");
    let host = match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::Http10 => return Ok(from_target),
        (None, _) => return Err(Refusal::Malformed("the Host field is missing")),
        (Some(_), Some(_)) => return Err(Refusal::Malformed("there is more than one Host field")),
        (Some(host), None) => host,
    };
    let host = Authority::parse(host);
    let host = from_target.or(host.ok_or(Refusal::Malformed("the Host field is malformed"))?.into());
    match host {
        Some(host) if !host.has_host() => Err(Refusal::Malformed("the Host field is empty")),
        host => Ok(host),
    }
}

/// Returns the rule by which the body ends, from the fields `Content-Length` and `Transfer-Encoding`. Request
/// smuggling makes use of these two fields.
pub(super) fn framing(headers: &[Header<'_>], version: Version) -> Result<Framing, Refusal> {
    let mut lengths = values(headers, "Content-Length");
    match (lengths.next(), values(headers, "Transfer-Encoding").next()) {
        (None, None) => Ok(Framing::Length(0)),
        (Some(_), Some(_)) => {
            Err(Refusal::Malformed("there are both a Content-Length and a Transfer-Encoding field"))
        }
        (None, Some(_)) if version == Version::Http10 => {
            Err(Refusal::Malformed("HTTP/1.0 has no Transfer-Encoding"))
        }
        (None, Some(_)) => transfer_coding(headers),
        (Some(_), None) if lengths.next().is_some() => {
            Err(Refusal::Malformed("there is more than one Content-Length field"))
        }
        (Some(length), None) => decimal(length).map(Framing::Length),
    }
}

/// Accepts only the value `chunked`. If `chunked` is the last of several codings, a reader could find the end
/// of the body, but this server cannot decode the body. With any other value, no reader can find the end.
fn transfer_coding(headers: &[Header<'_>]) -> Result<Framing, Refusal> {
    let fields: Vec<_> = values(headers, "Transfer-Encoding").collect();
    let codings: Vec<_> = fields.iter().flat_map(|field| field.split(|&byte| byte == b',')).collect();
    let is_chunked = |coding: &[u8]| coding.trim_ascii().eq_ignore_ascii_case(b"chunked");
    match codings.as_slice() {
        [coding] if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
        [others @ .., last]
            if is_chunked(last)
                && !others.is_empty()
                && !others.iter().any(|coding| is_chunked(coding) || coding.trim_ascii().is_empty()) =>
        {
            Err(Refusal::UnknownTransferCoding)
        }
        _ => Err(Refusal::Malformed("the Transfer-Encoding field does not say where the body ends")),
    }
}

/// Returns whether the client waits for "100 Continue"; HTTP/1.0 has no such answer.
pub(super) fn expects_continue(headers: &[Header<'_>], version: Version) -> Result<bool, Refusal> {
    let mut expectations = values(headers, "Expect").filter(|_| version == Version::Http11).peekable();
    let is_expected = expectations.peek().is_some();
    if expectations.all(|expectation| expectation.eq_ignore_ascii_case(b"100-continue")) {
        Ok(is_expected)
    } else {
        Err(Refusal::ExpectationFailed)
    }
}

/// Returns whether the client expects the connection to stay open. By default a client of HTTP/1.1
/// expects an open connection, and a client of HTTP/1.0 does not.
pub(super) fn wants_keep_alive(headers: &[Header<'_>], version: Version) -> bool {
    let says = |option: &str| {
        values(headers, "Connection")
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case(option))
    };
    !says("close") && (version == Version::Http11 || says("keep-alive"))
}

fn decimal(digits: &[u8]) -> Result<usize, Refusal> {
    match std::str::from_utf8(digits) {
        // The text must consist of digits: `parse` alone would also accept `+5`.
        Ok(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map_err(|_| Refusal::BodyTooLarge)
        }
        _ => Err(Refusal::Malformed("the Content-Length field is not a number")),
    }
}

fn values<'h, 'b>(headers: &'h [Header<'b>], name: &'h str) -> impl Iterator<Item = &'b [u8]> + 'h {
    headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}
