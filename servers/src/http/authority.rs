//! The host of a request, from the `Host` field or from an absolute target.
//!
//! The module [`hosts`](crate::hosts) decides for which hosts a server answers requests, and
//! [`control`](crate::control) decides for which hosts the server accepts a stop. This module decides whether
//! a text is a host, and which hosts mean this machine. A port after the host is ignored, because a forwarded
//! port has another number.

use std::net::{IpAddr, Ipv6Addr};

/// A host, without its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Authority<'b> {
    /// The host as the client sent it; an IPv6 address has its brackets. A host consists of ASCII characters.
    host: &'b [u8],
}

const LOCALHOST: &[u8] = b"localhost";

impl<'b> Authority<'b> {
    /// Parses a host. Returns `None` if the text is not just a host, for instance if it has a user name
    /// before the host or a path after it.
    pub(crate) fn parse(text: &'b [u8]) -> Option<Authority<'b>> {
        let (host, port) = if text.starts_with(b"[") {
            let end = text.iter().position(|&byte| byte == b']')?;
            str::from_utf8(&text[1..end]).ok()?.parse::<Ipv6Addr>().ok()?;
            text.split_at(end + 1)
        } else {
            text.split_at(text.iter().position(|&byte| byte == b':').unwrap_or(text.len()))
        };
        let is_name = host.starts_with(b"[")
            || (host.iter().all(|&byte| may_be_in_name(byte)) && has_valid_escapes(host));
        let is_port = match port {
            [] => true,
            // A port without a host is not allowed. An empty text is allowed: it names no particular host.
            [b':', digits @ ..] => !host.is_empty() && may_be_port(digits),
            _ => false,
        };
        (is_name && is_port).then_some(Authority { host })
    }

    /// Makes an authority from a host that has already been checked.
    pub(super) fn of_host(host: &'b [u8]) -> Authority<'b> {
        Authority { host }
    }

    pub(super) fn host(&self) -> &'b [u8] {
        self.host
    }

    pub(crate) fn has_host(&self) -> bool {
        !self.host.is_empty()
    }

    /// Returns whether the host is `name`, at any port.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.has_host() && self.host.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns whether the host is `localhost` or a name that ends in `.localhost`, with or without a dot at
    /// the end. Browsers resolve these names themselves, and a name service must not resolve them to another
    /// machine (RFC 6761, 6.3).
    fn is_localhost(&self) -> bool {
        let name = self.host.strip_suffix(b".").unwrap_or(self.host);
        // The comparison begins at the end of the name, because this is fast, and every request is compared.
        let parts = name.len().checked_sub(LOCALHOST.len()).and_then(|above| name.split_at_checked(above));
        parts.is_some_and(|(above, last)| {
            last.eq_ignore_ascii_case(LOCALHOST)
                && (above.is_empty() || above.len() > 1 && above.ends_with(b"."))
        })
    }

    /// Returns whether the name means "this machine" on every machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == b"127.0.0.1" // the host of most requests, by far
            || self.is_localhost()
            || self.address().is_some_and(|ip| ip.to_canonical().is_loopback())
    }

    fn address(&self) -> Option<IpAddr> {
        let host = str::from_utf8(self.host).ok()?;
        host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }
}

/// Returns whether the text after the colon is a port; it may be empty.
fn may_be_port(digits: &[u8]) -> bool {
    let digit = |byte: u8| char::from(byte).to_digit(10);
    let add = |port: u32, &byte: &u8| Some(10 * port + digit(byte)?).filter(|port| *port <= u16::MAX.into());
    digits.iter().try_fold(0, add).is_some()
}

/// Returns whether the grammar of hosts allows the byte. The comma is not accepted: it would come from a
/// proxy that has joined two `Host` fields to a list of two hosts.
fn may_be_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'..=b'+' | b';' | b'=' | b'%')
}

/// Returns whether two hexadecimal digits follow each `%`.
pub(crate) fn has_valid_escapes(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'%')
        .skip(1)
        .all(|after| after.len() >= 2 && after[..2].iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_shape() {
        for text in ["", "h", "h:80", "h:", "example.org", "127.0.0.1:8080", "[::1]", "[::1]:8080", "a%20b"] {
            assert!(Authority::parse(text.as_bytes()).is_some(), "{text}");
        }
        let without_space = r#"a/b u@h h:x h:+1 h:65536 h:1:2 [::1 ::1 [h] [::1]x ä a,b : :80 a%zz a%2 a?b a#b a\b "a" [fe80::1%25eth0]"#;
        for text in without_space.split(' ').chain(["a b", "h\0"]) {
            assert_eq!(Authority::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn some_names_are_this_machine() {
        let loopback = "localhost LOCALHOST:80 127.0.0.1 127.1.2.3:8 [::1]:80 [::ffff:127.0.0.1] localhost. localhost.:80 \
                        app.localhost a.b.LocalHost.:80";
        for text in loopback.split(' ') {
            assert!(Authority::parse(text.as_bytes()).unwrap().is_loopback(), "{text}");
        }
        let others = "localhost.example.org example.org 10.0.0.1 [::2] 0.0.0.0 127.0.0.1.nip.io notlocalhost localhost.. \
                      .localhost localhost.localdomain .";
        for text in others.split(' ').chain([""]) {
            assert!(!Authority::parse(text.as_bytes()).unwrap().is_loopback(), "{text}");
        }
    }
}
