//! Who may change what a server does, rather than only read from it.
//!
//! A server on this machine can be reached by more than its owner: by other machines, if it listens on more than the
//! loopback address, and by every web page that the owner has open, since a browser sends requests wherever a page
//! tells it to. So a request that changes something has to pass three checks, each against another way in:
//!
//! | check | keeps out |
//! |---|---|
//! | the peer has a loopback address | other machines |
//! | `Host` is a loopback name | pages whose own domain name was made to lead to this machine (DNS rebinding) |
//! | `Origin`, which browsers add, is this very server | pages from anywhere else |

use crate::http::{Authority, Request, Response, Status};

/// Whether the request comes from this machine and from nobody's web page but our own.
///
/// # Errors
///
/// The answer to give instead: 403, and the reason.
pub fn check(request: &Request<'_>) -> Result<(), Response> {
    let refuse = |why| Err(Response::error(Status::Forbidden, why));
    // An IPv4 client of an IPv6 socket has its address wrapped into one of those.
    if !request.peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback()) {
        return refuse("only this machine may do that");
    }
    let host = request.header("Host").unwrap_or_default();
    if !Authority::parse(host).is_some_and(|host| host.is_loopback()) {
        return refuse("only requests to localhost, 127.0.0.1 or [::1] may do that");
    }
    let is_own =
        |origin: &&str| origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host));
    // Counted, because a value that is no text would not be among the headers.
    if request.headers("Origin").filter(is_own).count() != request.header_count("Origin") {
        return refuse("pages of other sites may not do that");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn may(peer: Option<&str>, fields: &str) -> bool {
        let head = format!("POST /shutdown HTTP/1.1\r\n{fields}\r\n");
        let (mut request, _) = Request::parse(head.as_bytes(), &Limits::default()).unwrap().unwrap();
        request.peer = peer.map(|peer| peer.parse().unwrap());
        check(&request).is_ok()
    }

    #[test]
    fn this_machine_may() {
        for peer in ["127.0.0.1:9", "[::1]:9", "[::ffff:127.0.0.1]:9"] {
            assert!(may(Some(peer), "Host: localhost:8080\r\n"), "{peer}");
        }
        let own_page = "Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\n";
        assert!(may(Some("127.0.0.1:9"), own_page));
    }

    #[test]
    fn others_may_not() {
        for peer in ["10.0.0.1:9", "[::2]:9", "[::ffff:10.0.0.1]:9"] {
            assert!(!may(Some(peer), "Host: localhost\r\n"), "{peer}");
        }
        assert!(!may(None, "Host: localhost\r\n"));
        for fields in [
            "Host: example.org\r\n",
            "Host: \r\n",
            "Host: localhost.example.org\r\n",
            "Host: localhost\r\nOrigin: http://example.org\r\n",
            "Host: localhost\r\nOrigin: http://localhost:9000\r\n",
            "Host: localhost\r\nOrigin: https://localhost\r\n",
            "Host: localhost\r\nOrigin: null\r\n",
            "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://example.org\r\n",
        ] {
            assert!(!may(Some("127.0.0.1:9"), fields), "{fields}");
        }
    }

    #[test]
    fn an_origin_that_is_no_text_is_foreign() {
        let head = b"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: \xff\r\n\r\n";
        let (mut request, _) = Request::parse(head, &Limits::default()).unwrap().unwrap();
        request.peer = Some("127.0.0.1:9".parse().unwrap());
        assert!(check(&request).is_err());
    }
}
