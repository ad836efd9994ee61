//! Decides who may send a request that stops the server.
//!
//! The owner is not the only person who can reach a server on this machine. Other machines can reach the
//! server if it listens on more than the loopback address. Every web page that the owner has opened can reach
//! the server too, because a browser sends requests wherever a page tells it to. So `POST /shutdown` must
//! pass three checks, and each check prevents a different attack:
//!
//! | check | keeps out requests from |
//! |---|---|
//! | the peer has a loopback address | other machines |
//! | `Host` is a loopback name | pages whose domain name leads to this machine (DNS rebinding) |
//! | `Origin` and `Sec-Fetch-Site`, which browsers add, name this server | pages of other sites |
//!
//! # Behind a reverse proxy the checks prove nothing
//!
//! A proxy on this machine connects from a loopback address, and most proxies replace `Host` by the name of
//! the target server. So a stranger's request passes all three checks. **Start a server behind a proxy with
//! `--no-shutdown` or with `--shutdown-token`**, and configure the proxy not to pass on `/shutdown`.
//!
//! If the server has a token, the token replaces the checks: only a request whose `Authorization` header is
//! `Bearer TOKEN` stops the server, but such a request may come from anywhere. The token also protects the
//! server from other users of this machine. The token is sent in clear text, so send it through a proxy
//! with TLS if the network is not yours. Every user of this machine can read (with `ps`) a token that was
//! given on the command line, but not a generated token.

use crate::http::{Authority, Request, Response, Status};
use crate::site::Site;
use anyhow::Context;
use executor::CancelToken;

/// The flags about `POST /shutdown`.
#[derive(clap::Args)]
pub struct ShutdownArgs {
    /// `POST /shutdown` then needs this secret as its bearer token, and may come from anywhere; without
    /// TOKEN, the server generates one and prints it as the second line of output [default: no token, and
    /// only this machine may send `POST /shutdown`]
    #[arg(long, value_name = "TOKEN", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(value_parser = token)]
    shutdown_token: Option<String>,

    /// Never stop at `POST /shutdown`, only at a signal. Behind a reverse proxy, use this flag or a token
    #[arg(long, conflicts_with = "shutdown_token")]
    no_shutdown: bool,
}

/// Decides which requests may stop a server.
#[derive(Clone)]
pub enum Control {
    /// No request may stop the server.
    Nobody,
    /// A request may stop the server if it comes from this machine and was not sent by a page of another
    /// site.
    ThisMachine,
    /// A request with this bearer token may stop the server.
    Token(String),
}

impl ShutdownArgs {
    /// Returns which requests may stop the server, as the flags say. Generates a token if the flag has no
    /// value.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot supply random bytes.
    pub fn control(&self) -> anyhow::Result<Control> {
        Ok(match &self.shutdown_token {
            None if self.no_shutdown => Control::Nobody,
            None => Control::ThisMachine,
            Some(token) if token.is_empty() => Control::Token(new_token()?),
            Some(token) => Control::Token(token.clone()),
        })
    }
}

impl Control {
    /// Adds `POST /shutdown` to the site; such a request cancels `stop` if it may stop the server.
    pub fn route(&self, site: Site, stop: CancelToken) -> Site {
        let about = match self {
            Control::Nobody => return site,
            Control::ThisMachine => "stops the server; only this machine may",
            Control::Token(_) => "stops the server; needs its token",
        };
        let control = self.clone();
        site.route("/shutdown", &["POST"], about, move |request| match control.check(request) {
            Ok(()) => {
                stop.cancel();
                Response::text(Status::Accepted, "stopping\n")
            }
            Err(refusal) => refusal,
        })
    }

    /// Returns whether the request may stop the server.
    ///
    /// # Errors
    ///
    /// Returns the answer to give if the request is refused: the status 401 or 403, and the reason.
    #[expect(clippy::result_large_err, reason = "an answer, and asked for once in the life of a server")]
    pub fn check(&self, request: &Request<'_>) -> Result<(), Response> {
        match self {
            Control::Nobody => Err(forbidden("no request may do that")),
            Control::ThisMachine => check_origin(request),
            Control::Token(token) if bears(request, token) => Ok(()),
            Control::Token(_) => {
                let what = "only a request with the token that the server was started with may do that";
                Err(Response::error(Status::Unauthorized, what).header("WWW-Authenticate", "Bearer"))
            }
        }
    }
}

fn forbidden(why: &str) -> Response {
    Response::error(Status::Forbidden, why)
}

#[expect(clippy::result_large_err, reason = "an answer, and asked for once in the life of a server")]
fn check_origin(request: &Request<'_>) -> Result<(), Response> {
    // An IPv6 socket reports the address of an IPv4 client as an IPv6 address that contains the IPv4 address.
    if !request.peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback()) {
        return Err(forbidden("only this machine may do that"));
    }
    // The `Host` field is checked even if the target also contains a host: both must mean this
    // machine.
    let host = request.header("Host").unwrap_or_default();
    let is_loopback = |host: Option<Authority<'_>>| host.is_some_and(|host| host.is_loopback());
    if !is_loopback(Authority::parse(host.as_bytes())) || !is_loopback(request.authority()) {
        return Err(forbidden("only requests to localhost, 127.0.0.1 or [::1] may do that"));
    }
    let is_own =
        |origin: &&str| origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host));
    // The loop counts the fields, because the parsed headers leave out values that are not text.
    if request.headers("Origin").filter(is_own).count() != request.header_count("Origin") {
        return Err(forbidden("pages of other sites may not do that"));
    }
    let is_foreign = |site: &str| !["same-origin", "none"].contains(&site);
    if request.headers("Sec-Fetch-Site").any(is_foreign) {
        return Err(forbidden("pages of other sites may not do that"));
    }
    Ok(())
}

fn bears(request: &Request<'_>, token: &str) -> bool {
    let Some((scheme, sent)) = request.header("Authorization").and_then(|value| value.split_once(' ')) else {
        return false;
    };
    // Every byte is compared, so the time that the comparison takes does not reveal how many bytes
    // are right.
    let differences = sent.bytes().zip(token.bytes()).fold(0, |differences, (a, b)| differences | (a ^ b));
    let is_right = differences == 0 && sent.len() == token.len();
    is_right && scheme.eq_ignore_ascii_case("Bearer") && request.header_count("Authorization") == 1
}

/// Makes up a token that nobody can guess.
///
/// # Errors
///
/// Returns an error if the system cannot supply random bytes.
pub fn new_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("no token can be made up: the system has no random bytes")?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Accepts a text if it may occur in an `Authorization` field and is too long to be guessed. If the text is
/// empty, the server generates a token.
fn token(text: &str) -> Result<String, String> {
    let may_be_in_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    let is_good = text.is_empty() || (text.len() >= 16 && text.bytes().all(may_be_in_token));
    if is_good {
        Ok(text.to_owned())
    } else {
        Err("expected 16 or more of A-Z a-z 0-9 - . _ ~ + / =".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Conversation;

    fn may(peer: Option<&str>, fields: &str) -> bool {
        let head = format!("POST /shutdown HTTP/1.1\r\n{fields}\r\n");
        let conversation = Conversation::of(head.as_bytes());
        let mut request = conversation.request();
        request.peer = peer.map(|peer| peer.parse().unwrap());
        Control::ThisMachine.check(&request).is_ok()
    }

    #[test]
    fn this_machine_may() {
        for peer in ["127.0.0.1:9", "[::1]:9", "[::ffff:127.0.0.1]:9"] {
            assert!(may(Some(peer), "Host: localhost:8080\r\n"), "{peer}");
        }
        let own_page =
            "Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080\r\nSec-Fetch-Site: same-origin\r\n";
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
            "Host: localhost.example.org\r\n",
            "Host: localhost\r\nOrigin: http://example.org\r\n",
            "Host: localhost\r\nOrigin: http://localhost:9000\r\n",
            "Host: localhost\r\nOrigin: https://localhost\r\n",
            "Host: localhost\r\nOrigin: null\r\n",
            "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://example.org\r\n",
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
            "Host: localhost\r\nSec-Fetch-Site: same-site\r\n",
        ] {
            assert!(!may(Some("127.0.0.1:9"), fields), "{fields}");
        }
    }

    #[test]
    fn a_target_with_a_host_has_to_name_this_machine_as_the_field_does() {
        for (target, host, expected) in [
            ("http://localhost/shutdown", "localhost", true),
            ("http://example.org/shutdown", "localhost", false),
            ("http://localhost/shutdown", "example.org", false),
        ] {
            let head = format!("POST {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let conversation = Conversation::of(head.as_bytes());
            let mut request = conversation.request();
            request.peer = Some("127.0.0.1:9".parse().unwrap());
            assert_eq!(Control::ThisMachine.check(&request).is_ok(), expected, "{head}");
        }
    }

    #[test]
    fn an_origin_that_is_no_text_is_foreign() {
        let head = b"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: \xff\r\n\r\n";
        let conversation = Conversation::of(head);
        let mut request = conversation.request();
        request.peer = Some("127.0.0.1:9".parse().unwrap());
        assert!(Control::ThisMachine.check(&request).is_err());
    }

    #[test]
    fn who_has_the_token_may_from_wherever() {
        let check = |fields: &str| {
            let head = format!("POST /shutdown HTTP/1.1\r\nHost: example.org\r\n{fields}\r\n");
            let conversation = Conversation::of(head.as_bytes());
            let request = conversation.request();
            Control::Token("a-secret-of-length".to_owned()).check(&request).is_ok()
        };
        assert!(check("Authorization: Bearer a-secret-of-length\r\n"));
        assert!(check("authorization: bearer a-secret-of-length\r\nOrigin: http://example.org\r\n"));
        for wrong in [
            "",
            "Authorization: Bearer a-secret-of-lengtH\r\n",
            "Authorization: Bearer a-secret-of-lengt\r\n",
            "Authorization: Bearer a-secret-of-length2\r\n",
            "Authorization: Bearer \r\n",
            "Authorization: Basic a-secret-of-length\r\n",
            "Authorization: a-secret-of-length\r\n",
            "Authorization: Bearer a-secret-of-length\r\nAuthorization: Bearer b\r\n",
        ] {
            assert!(!check(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_made_up_anew_each_time() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert!(one != other && one.len() == 32 && token(&one).is_ok(), "{one} {other}");
    }

    #[test]
    fn a_token_is_long_and_made_of_few_characters() {
        assert!(token("0123456789abcdef").is_ok());
        for wrong in ["a", "0123456789abcde", "0123456789 abcdef", "0123456789abcdef\u{e4}"] {
            assert!(token(wrong).is_err(), "{wrong}");
        }
    }
}
