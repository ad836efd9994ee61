//! Tests requests that every stage refuses because they are too long or end too early. (The cases of
//! `acceptance` include requests that are ambiguous or not supported.)

use crate::support::every_stage;
use std::net::Shutdown;

const SMALL: [&str; 8] =
    ["--max-head", "1000", "--max-request-line", "500", "--max-headers", "5", "--max-body", "10"];

#[test]
fn what_just_fits_is_served_and_one_more_is_refused() {
    every_stage(&SMALL, |stage| {
        let padding = "a".repeat(500 - "GET /hello? HTTP/1.1".len());
        assert_eq!(stage.get(&format!("/hello?{padding}")).status, 200);
        assert_eq!(stage.get(&format!("/hello?{padding}a")).status, 414);
        let head =
            |padding: usize| format!("GET /hello HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "a".repeat(padding));
        let room = 1000 - head(0).len();
        assert_eq!(stage.connect().send(head(room)).reply().status, 200);
        assert_eq!(stage.connect().send(head(room + 1)).reply().status, 431);
        for (length, status) in [("10", 200), ("11", 413), ("18446744073709551616", 413)] {
            let body =
                format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n0123456789");
            assert_eq!(stage.connect().send(body).reply().status, status, "{length}");
        }
        for (others, status) in [(4, 200), (5, 431)] {
            let fields = format!("GET /hello HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(others));
            assert_eq!(stage.connect().send(fields).reply().status, status, "{others}");
        }
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
