use super::{Authority, Framing, Presence, Refusal};
use crate::limits::Limits;
use httparse::Header;
use std::fmt;
use std::mem::MaybeUninit;
use std::net::SocketAddr;

/// The versions of HTTP that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0: a connection closes after one request unless the client asks otherwise.
    Http10,
    /// HTTP/1.1: a connection stays open unless the client asks otherwise.
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

/// A request whose head has been read and found unambiguous. It borrows the bytes it was read from.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'b> {
    /// The method as sent, such as `GET`; case counts.
    pub method: &'b str,
    /// The target as sent: path and query, perhaps after `http://host`; or `*`.
    pub target: &'b str,
    /// The target's path as sent: it starts with `/` and is still percent-encoded. Or it is the `*` of `OPTIONS *`.
    pub path: &'b str,
    /// What followed `?` in the target.
    pub query: Option<&'b str>,
    /// The version of the request line.
    pub version: Version,
    /// How the end of the body is known that follows the head.
    pub framing: Framing,
    /// Whether the client waits for "100 Continue" before it sends the body.
    pub expects_continue: bool,
    /// The body, once it has been read.
    pub body: Vec<u8>,
    /// The client's address, if the request came over a connection.
    pub peer: Option<SocketAddr>,
    /// The client that waits for the answer, if the request came over a connection.
    pub client: Option<&'b dyn Presence>,
    authority: Option<Authority<'b>>,
    headers: Vec<Header<'b>>,
}

impl<'b> Request<'b> {
    /// Looks for a request's head at the start of `bytes`.
    ///
    /// `Ok(Some((request, length)))`: the head is complete and took `length` bytes. `Ok(None)`: what is there may
    /// still become one, read more. Refuses as early as it can tell, so garbage is not waited for.
    ///
    /// The verdict does not depend on how the bytes arrived: of several things that are wrong, the one counts that
    /// shows first.
    pub fn parse(bytes: &'b [u8], limits: &Limits) -> Result<Option<(Request<'b>, usize)>, Refusal> {
        Request::parse_arrived(bytes, limits).map_err(|refusal| {
            // Whatever is refused stays so when more follows, so the shortest such beginning can be searched for.
            let (mut accepted, mut refused, mut earliest) = (0, bytes.len(), refusal);
            while refused - accepted > 1 {
                let middle = usize::midpoint(accepted, refused);
                match Request::parse_arrived(&bytes[..middle], limits) {
                    Ok(_) => accepted = middle,
                    Err(refusal) => (refused, earliest) = (middle, refusal),
                }
            }
            earliest
        })
    }

    fn parse_arrived(bytes: &'b [u8], limits: &Limits) -> Result<Option<(Request<'b>, usize)>, Refusal> {
        let mut fields = [const { MaybeUninit::uninit() }; Limits::MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut []);
        let status = match parsed.parse_with_uninit_headers(bytes, &mut fields[..limits.max_headers]) {
            Err(httparse::Error::Version) if may_become_a_version(bytes) => httparse::Status::Partial,
            result => result.map_err(|error| refusal(error, bytes))?,
        };
        let head = match status {
            httparse::Status::Complete(length) => &bytes[..length],
            httparse::Status::Partial => bytes,
        };
        // One reader ends a line at LF, another only at CR LF: between them, a smuggled header.
        if has_bare_line_feed(head) {
            return Err(Refusal::Malformed("a line ends in LF alone instead of CR LF"));
        }
        if request_line(head).0.len() > limits.max_request_line {
            return Err(Refusal::RequestLineTooLong);
        }
        if head.len() > limits.max_head || (status.is_partial() && head.len() == limits.max_head) {
            return Err(Refusal::HeadTooLarge);
        }
        let (Some(method), Some(target), Some(version), true) =
            (parsed.method, parsed.path, parsed.version, status.is_complete())
        else {
            return Ok(None);
        };
        let version = if version == 0 { Version::Http10 } else { Version::Http11 };
        let Target { path, query, authority } = parse_target(method, target)?;
        let authority = self::authority(parsed.headers, version, authority)?;
        let framing = framing(parsed.headers, version)?;
        if matches!(framing, Framing::Length(length) if length > limits.max_body) {
            return Err(Refusal::BodyTooLarge);
        }
        let request = Request {
            method,
            target,
            path,
            query,
            version,
            framing,
            expects_continue: expects_continue(parsed.headers, version)?,
            body: Vec::new(),
            peer: None,
            client: None,
            authority,
            headers: parsed.headers.to_vec(),
        };
        Ok(Some((request, head.len())))
    }

    /// The host that the request is for; `None` for a request of HTTP/1.0 that names no host.
    pub(crate) fn authority(&self) -> Option<Authority<'b>> {
        self.authority
    }

    /// The values of every field called `name`, in order. Values that are not UTF-8 are left out.
    pub fn headers<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'b str> + 'a {
        values(&self.headers, name).filter_map(|value| std::str::from_utf8(value).ok())
    }

    /// How many fields are called `name`, whether their values are text or not.
    pub fn header_count(&self, name: &str) -> usize {
        values(&self.headers, name).count()
    }

    /// The value of the first field called `name`.
    pub fn header(&self, name: &str) -> Option<&'b str> {
        self.headers(name).next()
    }

    /// The value of `name` in the query, as sent: `7` for `ms` in `/cpu?ms=7`.
    pub fn query_value(&self, name: &str) -> Option<&'b str> {
        self.query?.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether the client expects the connection to stay open after this request.
    pub fn wants_keep_alive(&self) -> bool {
        let says = |option: &str| {
            self.headers("Connection")
                .flat_map(|value| value.split(','))
                .any(|token| token.trim().eq_ignore_ascii_case(option))
        };
        !says("close") && (self.version == Version::Http11 || says("keep-alive"))
    }
}

fn refusal(error: httparse::Error, bytes: &[u8]) -> Refusal {
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

/// Whether the request line is well formed up to a version such as `HTTP/2.0`, and not just garbage.
fn names_some_http_version(bytes: &[u8]) -> bool {
    let (line, _) = request_line(bytes);
    let mut words = line.split(|&byte| byte == b' ').skip(2);
    matches!((words.next(), words.next()), (Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor]), None)
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// Whether the request line has not come to its end, and can end in a version: one can only tell what kind of
/// mistake it is when it is complete.
fn may_become_a_version(bytes: &[u8]) -> bool {
    let (line, is_complete) = request_line(bytes);
    let so_far = line.splitn(3, |&byte| byte == b' ').nth(2).unwrap_or_default();
    let fits = |(&byte, &pattern)| byte == pattern || (pattern == b'0' && u8::is_ascii_digit(&byte));
    !is_complete && so_far.len() <= 8 && so_far.iter().zip(b"HTTP/0.0").all(fits)
}

/// The first line that is not empty, without its end; and whether its end has come.
fn request_line(bytes: &[u8]) -> (&[u8], bool) {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let start = bytes.iter().position(|byte| !is_end(byte)).unwrap_or(bytes.len());
    let line = &bytes[start..];
    match line.iter().position(is_end) {
        Some(end) => (&line[..end], true),
        None => (line, false),
    }
}

fn has_bare_line_feed(head: &[u8]) -> bool {
    let mut previous = 0;
    head.iter().any(|&byte| std::mem::replace(&mut previous, byte) != b'\r' && byte == b'\n')
}

/// What the request line's target says.
struct Target<'b> {
    path: &'b str,
    query: Option<&'b str>,
    authority: Option<Authority<'b>>,
}

/// Tells the three forms of a target apart that a server has to know: `/path?query`, the same with `http://host` before
/// it, and the `*` of `OPTIONS *`.
fn parse_target<'b>(method: &str, target: &'b str) -> Result<Target<'b>, Refusal> {
    if method == "CONNECT" {
        return Err(Refusal::Malformed("this server is no proxy and opens no tunnels"));
    }
    if target.contains('#') || !target.is_ascii() {
        return Err(Refusal::Malformed("the request target has a character that must be percent-encoded"));
    }
    if target == "*" && method == "OPTIONS" {
        return Ok(Target { path: target, query: None, authority: None });
    }
    let (authority, rest) = match split_scheme(target) {
        Some(after_scheme) => {
            let end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
            let authority = Authority::parse(&after_scheme[..end]).filter(Authority::has_host);
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
    Ok(Target { path: if path.is_empty() { "/" } else { path }, query, authority })
}

/// What follows `http://`, the only scheme that this server answers for.
fn split_scheme(target: &str) -> Option<&str> {
    has_scheme(target, "http://").then(|| &target["http://".len()..])
}

fn has_scheme(target: &str, scheme: &str) -> bool {
    target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// The host that a request is for: the target's, or else that of the one `Host` field. The field has to be there and to be
/// one in any case, though beside a target with a host what it says is ignored.
fn authority<'b>(
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
    let host = std::str::from_utf8(host).ok().and_then(Authority::parse);
    let host = from_target.or(host.ok_or(Refusal::Malformed("the Host field is malformed"))?.into());
    match host {
        Some(host) if !host.has_host() => Err(Refusal::Malformed("the Host field is empty")),
        host => Ok(host),
    }
}

/// How the body ends, from the only two fields that may say it. This is where requests get smuggled.
fn framing(headers: &[Header<'_>], version: Version) -> Result<Framing, Refusal> {
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

/// Chunks alone are understood. What ends in chunks has an end, but not one that could be decoded; of anything else
/// nobody knows where it ends.
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

/// Whether the client expects to be told that it may go on. HTTP/1.0 knows no such thing.
fn expects_continue(headers: &[Header<'_>], version: Version) -> Result<bool, Refusal> {
    let mut expectations = values(headers, "Expect").filter(|_| version == Version::Http11).peekable();
    let is_expected = expectations.peek().is_some();
    if expectations.all(|expectation| expectation.eq_ignore_ascii_case(b"100-continue")) {
        Ok(is_expected)
    } else {
        Err(Refusal::ExpectationFailed)
    }
}

fn decimal(digits: &[u8]) -> Result<usize, Refusal> {
    match std::str::from_utf8(digits) {
        // Only digits: `parse` alone would also take `+5`.
        Ok(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map_err(|_| Refusal::BodyTooLarge)
        }
        _ => Err(Refusal::Malformed("the Content-Length field is not a number")),
    }
}

fn values<'h, 'b>(headers: &'h [Header<'b>], name: &'h str) -> impl Iterator<Item = &'b [u8]> + 'h {
    headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

#[cfg(test)]
mod tests;
