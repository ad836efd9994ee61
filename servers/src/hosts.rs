//! The names of the hosts for which a server answers requests.
//!
//! A server that listens on the loopback address seems to serve only this machine. But a browser on this
//! machine shows pages of strangers. A stranger can make the domain name of such a page point to 127.0.0.1
//! (DNS rebinding). The browser then assumes that this server's answers come from the page's own server, and
//! lets the page read them. The server recognises such a request by its host: the host is the stranger's
//! domain name and not `localhost`.
//!
//! | the server listens on | it answers for |
//! |---|---|
//! | a loopback address | `localhost` and names below it, 127.0.0.0/8 and `[::1]`, and the names given with `--host` |
//! | another address | any host: it serves other machines, under names that it cannot know |
//! | another address, with `--host` | the names given, and the loopback names |
//!
//! A request for another host is answered with 421. Ports are not compared, because a forwarded port has
//! another number. A request without a host is answered: HTTP/1.0 allows such requests, but no browser sends
//! them.

use crate::http::{Authority, Request};
use std::net::IpAddr;

/// The flag that names hosts.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct HostArgs {
    /// Answer requests for this host, too; `*` means any host, repeat the flag for several hosts [default:
    /// on a loopback address only `localhost` and the like, on other addresses any host]
    #[arg(long = "host", value_name = "NAME", value_parser = name)]
    names: Vec<String>,
}

impl HostArgs {
    /// Returns the hosts for which a server on the address `bound` answers requests.
    pub fn on(&self, bound: IpAddr) -> Hosts {
        let is_for_others = self.names.is_empty() && !bound.to_canonical().is_loopback();
        if is_for_others || self.names.iter().any(|name| name == "*") {
            Hosts::Any
        } else {
            Hosts::Loopback { and: self.names.clone() }
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    let is_name = |host: Authority<'_>| host.is_named(text) && !text.contains('*');
    if text == "*" || Authority::parse(text.as_bytes()).is_some_and(is_name) {
        Ok(text.to_owned())
    } else {
        Err("expected a name without a port, such as example.org, or *".to_owned())
    }
}

/// The hosts for which a server answers requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Every host.
    Any,
    /// The hosts that mean "this machine" on every machine.
    Loopback {
        /// Additional names.
        and: Vec<String>,
    },
}

impl Hosts {
    /// Returns whether the request is for one of the hosts.
    pub fn include(&self, request: &Request<'_>) -> bool {
        match (self, request.authority()) {
            (Hosts::Any, _) | (_, None) => true,
            (Hosts::Loopback { and }, Some(host)) => {
                host.is_loopback() || and.iter().any(|name| host.is_named(name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Conversation;

    fn includes(hosts: &Hosts, head: &str) -> bool {
        let conversation = Conversation::of(head.as_bytes());
        hosts.include(&conversation.request())
    }

    fn on(bound: &str, names: &[&str]) -> Hosts {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        HostArgs { names }.on(bound.parse().unwrap())
    }

    #[test]
    fn on_a_loopback_address_others_have_to_be_named() {
        for bound in ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"] {
            for host in ["localhost", "LocalHost:9", "127.0.0.1:8080", "[::1]"] {
                assert!(
                    includes(&on(bound, &[]), &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")),
                    "{host}"
                );
            }
            for host in ["example.org", "localhost.example.org", "10.0.0.1", "0.0.0.0", "127.0.0.1.nip.io"] {
                let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
                assert!(!includes(&on(bound, &[]), &head), "{host}");
                assert!(!includes(&on(bound, &["example.com", "h"]), &head), "{host}");
                assert!(includes(&on(bound, &["h", &host.to_uppercase()]), &head), "{host}");
                assert!(includes(&on(bound, &["*"]), &head), "{host}");
            }
            assert!(includes(&on(bound, &[]), "GET / HTTP/1.0\r\n\r\n"), "it names none");
        }
    }

    #[test]
    fn on_another_address_any_will_do_until_one_is_named() {
        for bound in ["0.0.0.0", "::", "10.0.0.1"] {
            assert_eq!(on(bound, &[]), Hosts::Any);
            let named = on(bound, &["example.org"]);
            for (host, expected) in [("example.org:80", true), ("localhost", true), ("example.com", false)] {
                assert_eq!(includes(&named, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")), expected);
            }
        }
    }

    #[test]
    fn the_target_s_host_counts_where_it_has_one() {
        let head = |target, host| format!("GET http://{target}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(!includes(&on("127.0.0.1", &[]), &head("example.org", "example.org")));
        assert!(includes(&on("127.0.0.1", &[]), &head("localhost", "localhost")));
    }

    #[test]
    fn a_name_has_no_port() {
        for good in ["*", "h", "example.org", "10.0.0.1", "[::1]"] {
            assert!(name(good).is_ok(), "{good}");
        }
        for wrong in ["", "h:80", "h:", "http://h", "h/", "::1", "a b", "**", "*.example.org"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
