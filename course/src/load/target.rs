//! The target of the load: an address, and the request to send there.

use anyhow::{Context, bail, ensure};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// If a client sent many longer requests ahead of their answers, the requests would fill the socket's
/// buffers; servers refuse such requests anyway.
const LONGEST: usize = 2_000;

/// Before any load is sent, a server must accept one connection within this time.
const LOOK: Duration = Duration::from_secs(5);

/// A server, and the path to request from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) addr: SocketAddr,
    /// The host and port as the user typed them; they become the value of `Host`.
    authority: String,
    path: String,
}

impl Target {
    /// Parses `http://HOST[:PORT][/PATH]`, and resolves the host.
    ///
    /// Load on another machine needs `allow_remote`, so that a typing error cannot overload a
    /// stranger's server.
    pub(crate) fn parse(url: &str, allow_remote: bool) -> anyhow::Result<Target> {
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some((scheme, _)) => {
                bail!("{scheme}:// is not spoken here, only http://; such as http://127.0.0.1:8080/hello")
            }
            None => url,
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        ensure!(
            !authority.is_empty() && !authority.contains('@'),
            "{url} names no host; expected http://HOST:PORT/PATH"
        );
        ensure!(
            url.len() <= LONGEST && url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'),
            "a URL has at most {LONGEST} characters, all printable ASCII and none of them #; escape others, such as %20 for a space"
        );
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let named = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let found = named.to_socket_addrs().with_context(|| format!("cannot find the host of {url}"))?;
        let addr = found.min_by_key(SocketAddr::is_ipv6).with_context(|| format!("{url} has no address"))?;
        ensure!(
            allow_remote || addr.ip().is_loopback(),
            "{addr} is not this machine. Load on a server of others is an attack unless they agreed to it; \
             if they did, say --allow-remote."
        );
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target { addr, authority: authority.to_owned(), path: format!("{slash}{path}") })
    }

    /// Makes the target for a stage that `load` has started.
    pub(crate) fn at(addr: SocketAddr, path: &str) -> anyhow::Result<Target> {
        ensure!(
            path.starts_with('/'),
            "--path is what comes after the host, such as /hello; it begins with a slash"
        );
        Target::parse(&format!("http://{addr}{path}"), false)
    }

    /// Checks that a process listens at the address.
    pub(crate) fn look(&self) -> anyhow::Result<()> {
        let connected = TcpStream::connect_timeout(&self.addr, LOOK);
        connected
            .map(drop)
            .with_context(|| format!("nothing answers at {}; is the server running?", self.url()))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.authority, self.path)
    }

    /// Returns the bytes of the request.
    pub(crate) fn request(&self, keep_alive: bool) -> Vec<u8> {
        let connection = if keep_alive { "" } else { "Connection: close\r\n" };
        format!("GET {} HTTP/1.1\r\nHost: {}\r\n{connection}\r\n", self.path, self.authority).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_becomes_an_address_and_a_request() {
        let target = Target::parse("http://127.0.0.1:8080/block?ms=5", false).unwrap();
        assert_eq!(target.addr, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(target.request(true), b"GET /block?ms=5 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
        assert_eq!(target.url(), "http://127.0.0.1:8080/block?ms=5");
        assert_eq!(Target::parse("127.0.0.1:81", false).unwrap().url(), "http://127.0.0.1:81/");
        assert_eq!(Target::parse("http://[::1]?a", false).unwrap().url(), "http://[::1]/?a");
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused_with_the_reason() {
        for (url, reason) in [
            ("https://127.0.0.1/", "only http://"),
            ("http:///hello", "no host"),
            ("http://user@127.0.0.1/", "no host"),
            ("http://127.0.0.1/a b", "printable"),
            ("http://127.0.0.1/a\r\nX: y", "printable"),
            ("http://127.0.0.1/#part", "printable"),
            ("http://127.0.0.1:99999/", "cannot find the host"),
            ("http://192.0.2.1/", "--allow-remote"),
        ] {
            let error = format!("{:#}", Target::parse(url, false).unwrap_err());
            assert!(error.contains(reason), "{url}: {error}");
        }
        assert!(Target::parse("http://192.0.2.1/", true).is_ok());
    }
}
