//! Requests that every stage refuses for their length, or because they end too early. (What could be read in
//! two ways, and what is not supported, is among the cases of `acceptance`.)

use crate::support::{Stage, every_stage};
use std::net::Shutdown;

const SMALL: [&str; 8] =
    ["--max-head", "1000", "--max-request-line", "500", "--max-headers", "5", "--max-body", "10"];

/// The stage answers `request` with this status alone, and closes so that the client can read it.
fn assert_refused(stage: &Stage, request: &str, status: u16) {
    let mut client = stage.connect();
    // What comes after must not be taken for a request.
    let reply = client.send(format!("{request}GET /hello HTTP/1.1\r\nHost: h\r\n\r\n")).reply();
    let shown: String = request.chars().take(200).collect();
    assert_eq!(reply.status, status, "{shown:?}: {}", reply.text());
    assert_eq!(reply.header("Connection"), Some("close"), "{shown:?}");
    assert!(reply.text().starts_with(&status.to_string()), "{}", reply.text());
    client.assert_closed();
}

#[test]
fn what_is_too_long_is_refused() {
    every_stage(&SMALL, |stage| {
        let letters = |count| "a".repeat(count);
        assert_refused(stage, &format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", letters(600)), 414);
        assert_refused(stage, &format!("GET /{}", letters(100_000)), 414);
        assert_refused(stage, &format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", letters(1000)), 431);
        assert_refused(stage, &format!("GET / HTTP/1.1\r\nA: {}", letters(100_000)), 431);
        assert_refused(stage, &format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(5)), 431);
        let post = |length, body| {
            format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n{body}")
        };
        assert_refused(stage, &post("11", "abcdefghijk"), 413);
        assert_refused(stage, &post("18446744073709551616", ""), 413);
        assert_refused(stage, &post("300000", &letters(300_000)), 413);
        stage.assert_alive();
    });
}

#[test]
fn what_just_fits_is_served() {
    every_stage(&SMALL, |stage| {
        let padding = "a".repeat(500 - "GET /hello? HTTP/1.1".len());
        assert_eq!(stage.get(&format!("/hello?{padding}")).status, 200);
        assert_eq!(stage.get(&format!("/hello?{padding}a")).status, 414);
        let head =
            |padding: usize| format!("GET /hello HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "a".repeat(padding));
        let room = 1000 - head(0).len();
        assert_eq!(stage.connect().send(head(room)).reply().status, 200);
        assert_eq!(stage.connect().send(head(room + 1)).reply().status, 431);
        let body = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789";
        assert_eq!(stage.connect().send(body).reply().text(), "0123456789");
        let fields = format!("GET /hello HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(4));
        assert_eq!(stage.connect().send(fields).reply().status, 200);
    });
}

#[test]
fn a_request_that_ends_in_the_middle_is_told_so() {
    every_stage(&[], |stage| {
        for request in ["GET / HT", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"] {
            let mut client = stage.connect();
            client.send(request).stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(client.reply().status, 400);
            client.assert_closed();
        }
    });
}
