//! Normalises URLs, and decides which URLs a crawl may fetch.
//!
//! Two URLs name the same page if [`normalise`] makes them equal, by the rules of RFC 3986, section 6.2.
//! [`Scope`] decides which URLs are fetched: only `http` and `https`, only hosts that the user has named, and
//! no private addresses. A name can still resolve to a private address, so before connecting, the program
//! must call [`is_private_address`] again for the address.

use globset::{Glob, GlobSet, GlobSetBuilder};
use hypertext_http::is_private_address;
use std::borrow::Cow;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use url::{Host, Position, Url};

/// The largest number of bytes of a URL. RFC 9110, section 4.1, recommends that servers support at least
/// 8000 bytes.
pub const LONGEST: usize = 8000;

/// Returns the normal form of a URL. URLs that name the same page have the same normal form.
///
/// When the crate `url` parses the text, it already normalises the case of scheme and host, dot segments, the
/// default port, and an empty path. This function removes the fragment, the user name, the password, and a
/// `?` with nothing after it. The function decodes characters that need no percent-encoding, and writes the
/// digits of other percent-encodings in upper case (RFC 3986, sections 6.2.2.1 and 6.2.2.2). The dot at the
/// end of `example.org.` is removed, because it only marks the name as complete and the server is the same.
/// The order of the parts of a query and repeated slashes are kept, because they may make a difference to a
/// server.
pub fn normalise(mut url: Url) -> Url {
    url.set_fragment(None);
    // Both calls fail only for a URL without a host, and such a URL has neither user name nor password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let named = url.host_str().and_then(|host| host.strip_suffix('.')).filter(|name| !name.ends_with('.'));
    if let Some(host) = named.map(str::to_owned) {
        let _ = url.set_host(Some(&host)); // a host that is only a dot does not change
    }
    if !url.cannot_be_a_base()
        && let Cow::Owned(path) = decoded(url.path())
    {
        url.set_path(&path);
    }
    match url.query().map(decoded) {
        Some(Cow::Borrowed("")) => url.set_query(None),
        Some(Cow::Owned(query)) => url.set_query(Some(&query)),
        _ => (),
    }
    url
}

/// Returns the text without needless percent-encoding. The text is borrowed if no character in it is
/// encoded.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut written = Vec::with_capacity(text.len());
    for octet in octets(text.as_bytes()) {
        match octet {
            Octet::Plain(byte) => written.push(byte),
            // A byte after a lone `%` is not decoded, because `%` and the decoded byte could look like an
            // encoding.
            Octet::Encoded(byte)
                if is_unreserved(byte) && !written.iter().rev().take(2).any(|byte| *byte == b'%') =>
            {
                written.push(byte);
            }
            Octet::Encoded(byte) => encode(byte, &mut written),
        }
    }
    Cow::Owned(String::from_utf8(written).expect("only ASCII was replaced by ASCII"))
}

/// A byte of a URL, with the way in which it is written.
#[derive(Clone, Copy)]
pub(in crate::web) enum Octet {
    /// The byte is written as itself.
    Plain(u8),
    /// The byte is written as `%` and two hexadecimal digits.
    Encoded(u8),
}

/// Returns the bytes of a URL, or of a part of a URL. A `%` without two hexadecimal digits after it stands
/// for itself.
pub(in crate::web) fn octets(text: &[u8]) -> impl Iterator<Item = Octet> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (first, after) = rest.split_first()?;
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        if *first == b'%'
            && let (Some(high), Some(low)) = (digit(0), digit(1))
        {
            rest = &after[2..];
            return Some(Octet::Encoded(u8::try_from(high << 4 | low).expect("two digits are a byte")));
        }
        rest = after;
        Some(Octet::Plain(*first))
    })
}

/// Writes a byte as `%` and two hexadecimal digits.
pub(super) fn encode(byte: u8, written: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    written.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]]);
}

/// Returns true if the encoded form of a character has the same meaning as the character itself (RFC 3986,
/// section 2.3).
pub(super) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns true if the scheme of a URL is `http` or `https`.
pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns the site of a URL: its scheme, its host, and its port, unless the port is the default port of the
/// scheme. Examples are `https://example.org` and `http://[2001:db8::1]:8080`. Pages of the same site share a
/// `robots.txt` (RFC 9309, section 2.3) and the pauses between requests.
///
/// The site is `null` if the scheme is neither `http` nor `https` nor another scheme with hosts.
pub fn host_key(url: &Url) -> String {
    if is_web(url) {
        return [&url[..Position::BeforeUsername], &url[Position::BeforeHost..Position::AfterPort]].concat();
    }
    url.origin().ascii_serialization()
}

/// The reason why a URL is not fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The URL has more than [`LONGEST`] bytes.
    TooLong,
    /// The URL is neither `http` nor `https`. The field contains the scheme of the URL.
    Scheme(String),
    /// The host is neither the host of a start page nor an allowed host.
    Host,
    /// The host is a private address, or `localhost`.
    Private,
    /// `--only` or `--not` excludes the URL.
    Pattern,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::TooLong => write!(f, "the URL is longer than {LONGEST} bytes"),
            Refused::Scheme(scheme) => write!(f, "the scheme is {scheme}, neither http nor https"),
            Refused::Host => f.write_str("the host is neither that of a start page nor allowed"),
            Refused::Private => f.write_str("the address is private"),
            Refused::Pattern => f.write_str("--only or --not excludes it"),
        }
    }
}

impl Error for Refused {}

/// An entry of the `--allow` list that is not a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadHost(
    /// The entry.
    pub String,
);

impl fmt::Display for BadHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is neither a host such as example.org nor the hosts below it such as .example.org",
            self.0
        )
    }
}

impl Error for BadHost {}

/// The hosts that a crawl may visit.
///
/// Ports are ignored: a start page `http://example.org:8080/` lets the crawl visit `https://example.org/`
/// as well.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The hosts in the form of a URL: in lower case, with IPv6 addresses in brackets.
    hosts: HashSet<String>,
    /// Names, each with a dot before it; all hosts below a name are allowed.
    below: HashSet<String>,
    is_private_allowed: bool,
    starts: HashSet<Url>,
    only: GlobSet,
    not: GlobSet,
}

impl Scope {
    /// Creates a scope of the hosts of the start pages, with and without `www.` before them, and of the
    /// hosts in `allowed`. `example.org` allows only that host; `.example.org` allows all hosts below
    /// `example.org`, but not `example.org` itself. Private addresses are refused unless
    /// `is_private_allowed` is true; this also applies to start pages.
    ///
    /// # Errors
    /// Returns [`BadHost`] if an entry of `allowed` is not a host: an empty entry, a host with a port, or a
    /// URL.
    pub fn new<A: AsRef<str>>(
        starts: &[Url],
        allowed: &[A],
        is_private_allowed: bool,
    ) -> Result<Scope, BadHost> {
        let hosts = starts.iter().flat_map(hosts_of).collect();
        let (below, only, not) = (HashSet::new(), GlobSet::empty(), GlobSet::empty());
        let starts = starts.iter().cloned().collect();
        let mut scope = Scope { hosts, below, is_private_allowed, starts, only, not };
        for entry in allowed.iter().map(AsRef::as_ref) {
            let (name, list) = match entry.strip_prefix('.') {
                Some(name) => (name, &mut scope.below),
                None => (entry, &mut scope.hosts),
            };
            let host = Host::parse(name).map(|host| (matches!(host, Host::Domain(_)), host.to_string()));
            match host.as_ref().map(|(is_name, host)| (*is_name, without_dot(host))) {
                Ok((true, host)) if entry.starts_with('.') && !host.is_empty() && !host.contains('*') => {
                    list.insert(format!(".{host}"))
                }
                Ok((_, host)) if !entry.starts_with('.') && !host.contains('*') => {
                    list.insert(host.to_owned())
                }
                _ => return Err(BadHost(entry.to_owned())),
            };
        }
        Ok(scope)
    }

    /// Limits the crawl to the start pages and to URLs that match no pattern of `not`. If `only` is not
    /// empty, each of these URLs must also match a pattern of `only`. Patterns are matched against the
    /// whole URL. A `*` in a pattern stands for any characters, including slashes.
    ///
    /// # Errors
    /// Fails if a pattern is not valid.
    pub fn with_patterns(self, only: &[String], not: &[String]) -> Result<Scope, globset::Error> {
        let set = |patterns: &[String]| {
            let mut set = GlobSetBuilder::new();
            for pattern in patterns {
                set.add(Glob::new(pattern)?);
            }
            set.build()
        };
        Ok(Scope { only: set(only)?, not: set(not)?, ..self })
    }

    /// Returns the start pages.
    pub fn starts(&self) -> impl Iterator<Item = &Url> {
        self.starts.iter()
    }

    /// Returns `Ok` if the crawl may fetch the URL, as far as the URL alone shows this.
    ///
    /// # Errors
    /// The error is the first reason against the URL, in this order: its length, its scheme, a private
    /// address, the host, the patterns.
    pub fn admits(&self, url: &Url) -> Result<(), Refused> {
        if url.as_str().len() > LONGEST {
            return Err(Refused::TooLong);
        }
        if !is_web(url) {
            return Err(Refused::Scheme(url.scheme().to_owned()));
        }
        if !self.is_private_allowed && has_private_host(url) {
            return Err(Refused::Private);
        }
        if !url.host_str().is_some_and(|host| self.has(without_dot(host))) {
            return Err(Refused::Host);
        }
        let is_meant = (self.only.is_empty() || self.only.is_match(url.as_str())) && !self.excludes(url);
        (is_meant || self.starts.contains(url)).then_some(()).ok_or(Refused::Pattern)
    }

    /// Returns true if a pattern of `not` matches the URL.
    pub fn excludes(&self, url: &Url) -> bool {
        self.not.is_match(url.as_str())
    }

    fn has(&self, host: &str) -> bool {
        let mut above = host.match_indices('.').filter(|(at, _)| *at > 0).map(|(at, _)| &host[at..]);
        self.hosts.contains(host) || above.any(|name| self.below.contains(name))
    }
}

/// Returns the host of a start page with and without `www.`, because most sites with such names redirect
/// from one name to the other.
fn hosts_of(start: &Url) -> Vec<String> {
    let Some(host) = start.host_str().map(without_dot) else { return Vec::new() };
    let other = match (start.host(), host.strip_prefix("www.")) {
        (Some(Host::Domain(_)), Some(name)) => Some(name.to_owned()),
        (Some(Host::Domain(_)), None) if host.contains('.') => Some(format!("www.{host}")),
        _ => None,
    };
    other.into_iter().chain([host.to_owned()]).collect()
}

/// Turns `example.org.` into `example.org`: the dot only marks the name as complete.
fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// Returns true if the URL itself names a private address, by the address or by the name `localhost` (RFC
/// 6761, section 6.3).
fn has_private_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_private_address(address.into()),
        Some(Host::Ipv6(address)) => is_private_address(address.into()),
        Some(Host::Domain(name)) => {
            let name = without_dot(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

#[cfg(test)]
mod tests;
