//! Tests slow clients: each wait for a client ends, and then the client gets an answer.

use crate::support::{Client, DEADLINE, KEEPING_STAGES, each_of, every_stage};
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn a_half_request_is_timed_out() {
    every_stage(&["--header-timeout", "500ms"], |stage| {
        let mut client = stage.connect();
        let reply = client.send("GET /hello HTTP/1.1\r\nHost: h\r\n").reply();
        assert_eq!((reply.status, reply.header("Connection")), (408, Some("close")));
        client.assert_closed();
    });
}

#[test]
fn a_second_half_request_is_timed_out() {
    every_stage(&["--header-timeout", "500ms"], |stage| {
        let mut client = stage.connect();
        client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /");
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        // If another client needs the thread, the stage does not wait for the second half of the
        // request.
        let closes = !KEEPING_STAGES.contains(&stage.binary);
        assert_eq!(reply.header("Connection"), closes.then_some("close"));
        if !closes {
            assert_eq!(client.reply().status, 408);
        }
        client.assert_closed();
    });
}

/// The time for a request begins when its client can send it, that is, after the answer to the previous
/// request. The time for a body begins when the client is told to send the body.
#[test]
fn a_slow_answer_takes_nothing_of_the_time_for_the_next_request() {
    let flags = ["--quiet", "--header-timeout", "1s", "--body-timeout", "1s"];
    each_of(&KEEPING_STAGES, &flags, |stage| {
        let slow = "GET /block?ms=1200 HTTP/1.1\r\nHost: h\r\n\r\n";
        let waits = "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        let clients =
            [("GET /hello HTTP/1.1\r\n", "Host: h\r\n\r\n", &[200][..]), (waits, "abc", &[100, 200])];
        let begin = |(begin, _, _): &(&str, _, _)| {
            let mut client = stage.connect();
            client.send([slow, begin].concat());
            client
        };
        for (mut client, (_, rest, statuses)) in clients.map(|client| (begin(&client), client)) {
            assert_eq!(client.reply().status, 200);
            for &status in statuses {
                if status == 200 {
                    client.send(rest);
                }
                assert_eq!(client.reply().status, status);
            }
        }
    });
}

/// Sends a byte every few milliseconds until the server ends this; then drops the client's end of the
/// channel.
fn drip(client: &Client) -> mpsc::Receiver<()> {
    let (done, is_done) = mpsc::channel();
    let mut stream = client.stream.try_clone().unwrap();
    thread::spawn(move || {
        while stream.write_all(b"a").is_ok() {
            // The test needs only the end: the time limit for the whole request expires at some point,
            // however long the client sends.
            thread::sleep(Duration::from_millis(5));
        }
        drop(done);
    });
    is_done
}

#[test]
fn bytes_that_keep_dripping_do_not_renew_the_time() {
    every_stage(&["--header-timeout", "500ms", "--body-timeout", "200ms"], |stage| {
        for begin in ["GET /", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"] {
            let mut client = stage.connect();
            client.send(begin);
            let dripping = drip(&client);
            assert_eq!(client.reply().status, 408, "{begin}");
            let end = dripping.recv_timeout(DEADLINE);
            assert_eq!(end, Err(mpsc::RecvTimeoutError::Disconnected), "it may drip on: {begin}");
        }
    });
}

#[test]
fn half_a_body_is_timed_out() {
    every_stage(&["--body-timeout", "200ms"], |stage| {
        let mut client = stage.connect();
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
        assert_eq!(client.reply().status, 408);
        client.assert_closed();
    });
}

#[test]
fn a_silent_connection_is_closed_without_a_word() {
    every_stage(&["--header-timeout", "200ms"], |stage| stage.connect().assert_closed());
}

#[test]
fn an_idle_connection_is_closed_without_a_word() {
    every_stage(&["--idle-timeout", "200ms"], |stage| {
        let mut client = stage.connect();
        assert_eq!(client.get("/hello").status, 200);
        client.assert_closed();
    });
}
