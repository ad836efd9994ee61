//! Addresses: one form for each page, and which of them belong to a crawl.

use super::fetch::is_private_address;
use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// Bytes that an address may have. Longer ones are data, or a trap.
pub const LONGEST: usize = 4 << 10;

/// Why an address is not crawled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It has more bytes than [`LONGEST`].
    TooLong,
    /// It is not of HTTP: `file:`, say.
    Scheme(String),
    /// Its host is not one of those that are crawled.
    Elsewhere,
    /// It names an address that is not on the public internet.
    Private(IpAddr),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::TooLong => write!(f, "it is longer than {LONGEST} bytes"),
            Refused::Scheme(scheme) => write!(f, "{scheme}: is not crawled, only http and https are"),
            Refused::Elsewhere => f.write_str("it is on another host"),
            Refused::Private(address) => write!(f, "{address} is a private address"),
        }
    }
}

impl std::error::Error for Refused {}

/// The one form of an address: without a fragment, without a user, and with what RFC 3986, section 6.2.2, calls equal written the same.
/// Default ports and dots in the path are gone already: `Url` sees to that. The order of a query is kept, since it may mean something.
pub fn normalise(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    let _ = url.set_username(""); // fails for addresses that have none
    let _ = url.set_password(None);
    let path = unreserved_as_they_are(url.path());
    url.set_path(&path);
    match url.query() {
        Some("") => url.set_query(None),
        Some(query) => {
            let query = unreserved_as_they_are(query);
            url.set_query(Some(&query));
        }
        None => (),
    }
    url
}

/// `%7e` is `~`, and `%2f` is `%2F`.
fn unreserved_as_they_are(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        written.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if code.is_ascii_alphanumeric() || b"-._~".contains(&code) => {
                written.push(char::from(code));
                rest = &rest[at + 3..];
            }
            Some(_) => {
                written.push_str(&rest[at..at + 3].to_ascii_uppercase());
                rest = &rest[at + 3..];
            }
            None => {
                written.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    written + rest
}

/// What is polite to, and has rules of, its own: scheme, host and port.
pub fn site_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Which addresses a crawl takes.
#[derive(Debug, Clone)]
pub struct Scope {
    hosts: Vec<String>,
    below: Vec<String>,
    allow_private: bool,
}

impl Scope {
    /// The hosts of `starts`, and those of `allow`: `example.org` is that host, `.example.org` also all below it.
    pub fn new(starts: &[Url], allow: &[String], allow_private: bool) -> Scope {
        let mut hosts: Vec<_> = starts.iter().filter_map(Url::host_str).map(str::to_owned).collect();
        let mut below = Vec::new();
        for allowed in allow {
            match allowed.strip_prefix('.') {
                Some(host) => {
                    hosts.push(host.to_ascii_lowercase());
                    below.push(allowed.to_ascii_lowercase());
                }
                None => hosts.push(allowed.to_ascii_lowercase()),
            }
        }
        Scope { hosts, below, allow_private }
    }

    /// Whether an address belongs to the crawl.
    ///
    /// # Errors
    /// Why it does not. A *name* that leads to a private address is not seen here, but when it is connected to.
    pub fn admits(&self, url: &Url) -> Result<(), Refused> {
        if url.as_str().len() > LONGEST {
            return Err(Refused::TooLong);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme(url.scheme().to_owned()));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::from(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::from(address)),
            _ => None,
        };
        if let Some(address) = address.filter(|address| !self.allow_private && is_private_address(*address)) {
            return Err(Refused::Private(address));
        }
        let host = url.host_str().unwrap_or_default();
        let is_below = || self.below.iter().any(|domain| host.ends_with(domain.as_str()));
        if self.hosts.iter().any(|own| own == host) || is_below() { Ok(()) } else { Err(Refused::Elsewhere) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn equal_addresses_are_written_the_same() {
        for (given, one) in [
            ("HTTP://Example.ORG:80/a/../b/./c#x", "http://example.org/b/c"),
            ("https://example.org:443", "https://example.org/"),
            ("http://example.org/%7euser/%2fa%zz", "http://example.org/~user/%2Fa%zz"),
            ("http://u:p@example.org/?", "http://example.org/"),
            ("http://example.org/?b=%61&a=%c3%bc", "http://example.org/?b=a&a=%C3%BC"),
            ("http://example.org/a%2e%2e/b", "http://example.org/a../b"),
        ] {
            let normal = normalise(&url(given));
            assert_eq!(normal.as_str(), one, "{given}");
            assert_eq!(normalise(&normal), normal, "{given} twice");
        }
    }

    #[test]
    fn a_scope_is_hosts() {
        let scope = Scope::new(&[url("http://a.org/x")], &["b.org".into(), ".c.org".into()], false);
        for (address, expected) in [
            ("http://a.org/", Ok(())),
            ("https://a.org:8443/", Ok(())),
            ("http://www.a.org/", Err(Refused::Elsewhere)),
            ("http://b.org/", Ok(())),
            ("http://x.b.org/", Err(Refused::Elsewhere)),
            ("http://c.org/", Ok(())),
            ("http://x.y.c.org/", Ok(())),
            ("http://notc.org/", Err(Refused::Elsewhere)),
            ("file:///etc/passwd", Err(Refused::Scheme("file".into()))),
        ] {
            assert_eq!(scope.admits(&url(address)), expected, "{address}");
        }
        let long = format!("http://a.org/{}", "x".repeat(1 << 20));
        assert_eq!(scope.admits(&url(&long)), Err(Refused::TooLong));
    }

    /// `Url` makes addresses of numbers in any form.
    #[test]
    fn private_addresses_in_every_form_are_refused() {
        let written = [
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "017700000001",
            "[::1]",
            "[::ffff:10.0.0.1]",
            "169.254.169.254",
        ];
        for host in written {
            let start = url(&format!("http://{host}/"));
            let scope = Scope::new(std::slice::from_ref(&start), &[], false);
            assert!(matches!(scope.admits(&start), Err(Refused::Private(_))), "{host}");
            assert_eq!(Scope::new(std::slice::from_ref(&start), &[], true).admits(&start), Ok(()), "{host}");
        }
    }

    #[test]
    fn what_is_private() {
        let private = [
            "0.0.0.0",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "169.254.0.1",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.0",
            "198.19.255.255",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "::ffff:192.168.1.1",
            "64:ff9b::a00:1",
            "2002:a00:1::1",
            "2002:7f00:1::",
        ];
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.169.0.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:200::1",
        ];
        for address in private {
            assert!(is_private_address(address.parse().unwrap()), "{address}");
        }
        for address in public {
            assert!(!is_private_address(address.parse().unwrap()), "{address}");
        }
    }
}
