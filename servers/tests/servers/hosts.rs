//! Tests for which host names a server answers requests. Through the owner's browser, a stranger's page
//! can reach the server, with the stranger's domain name as host.

use crate::support::{Client, Reply, STAGES, Stage};
use std::thread;

const LOOPBACK: [&str; 3] = ["--quiet", "--addr", "127.0.0.1:0"];

/// Runs a test against each stage, with only these flags.
fn every_stage(flags: &[&str], test: impl Fn(&Stage) + Sync) {
    let test = &test;
    thread::scope(|scope| {
        for binary in STAGES {
            scope.spawn(move || test(&Stage::start_with_only(binary, flags)));
        }
    });
}

fn ask(client: &mut Client, method: &str, target: &str, host: &str) -> Reply {
    client.send(format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).reply()
}

fn status(stage: &Stage, host: &str) -> u16 {
    ask(&mut stage.connect(), "GET", "/hello", host).status
}

/// Sends the request that a browser would send for a page whose domain name now points to this machine
/// (DNS rebinding).
#[test]
fn on_a_loopback_address_a_page_of_another_name_learns_nothing() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("private.html"), "secret").unwrap();
    let root = root.path().to_str().unwrap();
    every_stage(&[&LOOPBACK[..], &["--root", root]].concat(), |stage| {
        let port = stage.addr.port();
        for host in [format!("rebound.example:{port}"), "rebound.example".into(), "0.0.0.0".into()] {
            for target in ["/hello", "/stats", "/private.html", "/no-such-page", "/"] {
                let reply = ask(&mut stage.connect(), "GET", target, &host);
                assert_eq!(reply.status, 421, "{target} of {host}");
                assert!(
                    reply.text().contains("--host") && !reply.text().contains("secret"),
                    "{}",
                    reply.text()
                );
            }
            for (method, target) in
                [("POST", "/echo"), ("POST", "/shutdown"), ("OPTIONS", "*"), ("BREW", "/")]
            {
                assert_eq!(ask(&mut stage.connect(), method, target, &host).status, 421, "{method} {target}");
            }
            let absolute = format!("http://{host}/hello");
            assert_eq!(ask(&mut stage.connect(), "GET", &absolute, &host).status, 421);
        }
        let localhost = format!("localhost:{port}");
        for host in
            [&*stage.addr.to_string(), &*localhost, "LOCALHOST", "[::1]", "localhost.", "app.localhost"]
        {
            assert_eq!(status(stage, host), 200, "{host}");
        }
        let old = stage.connect().send("GET /hello HTTP/1.0\r\n\r\n").reply();
        assert_eq!(old.status, 200, "it names no host, as no browser would");
    });
}

#[test]
fn other_names_are_given_by_flags() {
    every_stage(&[&LOOPBACK[..], &["--host", "example.org", "--host", "10.0.0.1"]].concat(), |stage| {
        for (host, expected) in
            [("example.org:80", 200), ("10.0.0.1", 200), ("localhost", 200), ("www.example.org", 421)]
        {
            assert_eq!(status(stage, host), expected, "{host}");
        }
    });
    every_stage(&[&LOOPBACK[..], &["--host", "*"]].concat(), |stage| {
        assert_eq!(status(stage, "anything.example"), 200);
    });
}

#[test]
fn on_other_addresses_any_name_will_do_until_one_is_given() {
    every_stage(&["--quiet", "--addr", "0.0.0.0:0"], |stage| {
        assert_eq!(status(stage, "anything.example"), 200);
    });
    every_stage(&["--quiet", "--addr", "0.0.0.0:0", "--host", "example.org"], |stage| {
        for (host, expected) in [("example.org", 200), ("localhost", 200), ("anything.example", 421)] {
            assert_eq!(status(stage, host), expected, "{host}");
        }
    });
}

#[test]
fn a_request_for_another_host_is_refused_before_its_body_is_sent() {
    every_stage(&LOOPBACK, |stage| {
        let head = "POST /echo HTTP/1.1\r\nHost: rebound.example\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
        assert_eq!(stage.connect().send(head).reply().status, 421);
    });
}

/// A wrong host name does not break the connection, so the connection stays open.
#[test]
fn a_request_for_another_host_ends_no_connection() {
    let stage = Stage::start_with_only(crate::support::POOLED, &LOOPBACK);
    let mut client = stage.connect();
    for (host, expected) in [("rebound.example", 421), ("localhost", 200)] {
        assert_eq!(ask(&mut client, "GET", "/hello", host).status, expected);
    }
}
