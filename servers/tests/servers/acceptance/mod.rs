//! The checks that all stages share: how a server must treat the bytes that clients send.
//!
//! The cases are written as data. Each case is sent in one piece, and also byte by byte; `fuzz.rs` cuts each
//! case in two at every position. A case that is sent in one piece is followed by another request. If the
//! server understands the case, the server must also answer the next request: this shows that it has found
//! the end of the case. If the server refuses the case, the server must not answer the next request. Each
//! case that is refused is also sent after a slow request: the refusal must come after the answer to that
//! request, and must not change. The tests of slow clients are in `timeouts.rs` and `floods.rs`.

pub(crate) mod cases;

use crate::support::{Client, EVENT_LOOPS, KEEPING_STAGES, Reply, Stage, each_of, every_stage};
use cases::{Case, Kind};
use servers::Limits;
use servers::http::{Conversation, Step};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;
use std::time::Instant;

const FOLLOWER: &[u8] = b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";

/// Reads exactly the answers to a case. Returns the last answer.
fn assert_answered(case: &Case, client: &mut Client, how: &str) -> Reply {
    let mut last = None;
    for &expected in &case.answers {
        let reply =
            if case.bytes.starts_with(b"HEAD ") { client.reply_without_body() } else { client.reply() };
        assert_eq!(reply.status, expected, "{} {how}: {}", case.name, String::from_utf8_lossy(&reply.body));
        if case.kind == Kind::Refused {
            assert_eq!(reply.header("Connection"), Some("close"), "{} {how}", case.name);
        }
        last = Some(reply);
    }
    if case.kind == Kind::Refused {
        client.assert_closed();
    }
    last.expect("each case has an answer")
}

/// Returns whether the client of the first of these requests expects its connection to stay open.
fn wants_keep_alive(bytes: &[u8]) -> bool {
    let now = Instant::now();
    let mut conversation = Conversation::new(&Limits::default(), now);
    conversation.arrived(bytes, now);
    assert_ne!(conversation.step(), Ok(Step::Read));
    conversation.request().wants_keep_alive()
}

#[test]
fn there_are_enough_cases_and_each_has_its_name() {
    let cases = cases::all();
    let mut names: Vec<_> = cases.iter().map(|case| &case.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() > 400, "{}", cases.len());
}

#[test]
fn every_case_is_answered_when_it_arrives_whole() {
    every_stage(&["--quiet"], |stage| {
        for case in cases::all() {
            let mut client = stage.connect();
            client.send(match case.kind {
                Kind::Refused | Kind::Valid => [&case.bytes, FOLLOWER].concat(),
                Kind::Pipelined => case.bytes.clone(),
            });
            // The server refuses a case because of its contents, and not because it ends too early.
            if case.kind != Kind::Refused {
                client.stream.shutdown(Shutdown::Write).unwrap();
            }
            let last = assert_answered(&case, &mut client, "whole");
            if case.kind == Kind::Valid {
                let stays = wants_keep_alive(&case.bytes) && last.status != 500;
                assert_eq!(last.header("Connection") != Some("close"), stays, "{} whole", case.name);
                if stays {
                    assert_eq!(client.reply().text(), "Hello, world!", "{} whole", case.name);
                }
            }
            client.assert_closed();
        }
        stage.assert_alive();
    });
}

/// Returns the cases that can be split: stages that keep no connection open may close the connection between
/// two requests.
fn single_requests() -> impl Iterator<Item = Case> {
    // The server may refuse an overlong request and close the connection while the client still sends the
    // rest.
    cases::all().into_iter().filter(|case| case.kind != Kind::Pipelined && case.bytes.len() < 1_000)
}

#[test]
fn every_request_is_answered_when_it_arrives_byte_by_byte() {
    every_stage(&["--quiet"], |stage| {
        for case in single_requests() {
            let mut client = stage.connect();
            for byte in &case.bytes {
                client.send([*byte]);
            }
            assert_answered(&case, &mut client, "byte by byte");
        }
        stage.assert_alive();
    });
}

/// Few cases run at a time. So there are enough threads, even if some threads have not noticed yet that their
/// clients have left.
const AT_ONCE: usize = 60;

/// A stage that hands jobs over finds the refusal while the first answer is computed; the rest of the case
/// arrives later. The other stages continue to read only after the first answer, which takes time, so each of
/// these stages gets only some of the cases in two halves.
#[test]
fn a_refusal_is_the_same_behind_a_request_that_takes_its_time() {
    const SLOW: &[u8] = b"GET /block?ms=20 HTTP/1.1\r\nHost: h\r\n\r\n";
    let cases: Vec<_> = cases::all().into_iter().filter(|case| case.kind == Kind::Refused).collect();
    each_of(&KEEPING_STAGES, &["--quiet", "--threads", "300"], |stage| {
        let place = KEEPING_STAGES.iter().position(|&binary| binary == stage.binary).unwrap();
        for cases in cases.chunks(AT_ONCE) {
            for is_halved in [false, true] {
                let is_mine = |number: &usize| {
                    !is_halved
                        || EVENT_LOOPS.contains(&stage.binary)
                        || number % KEEPING_STAGES.len() == place
                };
                let cases =
                    cases.iter().enumerate().filter(|(number, _)| is_mine(number)).map(|(_, case)| case);
                let begin = |case: &Case| {
                    let mut client = stage.connect();
                    let first = if is_halved { case.bytes.len() / 2 } else { case.bytes.len() };
                    client.send([SLOW, &case.bytes[..first]].concat());
                    (client, first)
                };
                let mut clients: Vec<_> = cases.clone().map(begin).collect();
                for ((client, sent), case) in clients.iter_mut().zip(cases) {
                    client.send(&case.bytes[*sent..]);
                    assert_eq!(client.reply().status, 200, "{} halved: {is_halved}", case.name);
                    assert_answered(case, client, if is_halved { "slow and halved" } else { "slow" });
                }
            }
        }
    });
}

#[test]
fn bodies_arrive_as_they_were_sent() {
    every_stage(&["--quiet"], |stage| {
        let large: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        for size in [1, 7, 16_384, 100_000, 300_000] {
            let chunk = |data: &[u8]| [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
            let data = if size == 1 { &large[..1_000] } else { &large };
            let mut chunks: Vec<u8> = data.chunks(size).flat_map(chunk).collect();
            chunks.extend_from_slice(b"0\r\n\r\n");
            let mut client = stage.connect();
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
            assert!(client.send(chunks).reply().body == data, "chunks of {size}");
        }
    });
}

#[test]
fn who_waits_for_100_continue_is_told_to_go_on() {
    every_stage(&["--quiet"], |stage| {
        for (framing, body) in
            [("Content-Length: 3", "abc"), ("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n")]
        {
            let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n{framing}\r\n\r\n");
            let mut client = stage.connect();
            assert_eq!(client.send(&head).reply().status, 100);
            // Bytes that the server reads together with the rest of a body may be the next request.
            client.send([body.as_bytes(), FOLLOWER].concat());
            assert_eq!(client.reply().text(), "abc");
            assert_eq!(client.reply().text(), "Hello, world!");
            // If a client does not wait for permission, the server need not give permission.
            assert_eq!(stage.connect().send(head + body).reply().status, 200);
        }
        let too_large =
            "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n";
        assert_eq!(stage.connect().send(too_large).reply().status, 413, "before the body is sent");
    });
}

/// Otherwise the server would ask the client for a body and then refuse it.
#[test]
fn who_waits_for_100_continue_is_refused_at_once() {
    every_stage(&["--quiet"], |stage| {
        for (target, framing, status) in [
            ("/hello", "Content-Length: 3", 405),
            ("/hello", "Transfer-Encoding: chunked", 405),
            ("/no-such-page", "Content-Length: 1000000", 405),
        ] {
            let head =
                format!("POST {target} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n{framing}\r\n\r\n");
            let mut client = stage.connect();
            let reply = client.send(&head).reply();
            assert_eq!(
                (reply.status, reply.header("Connection")),
                (status, Some("close")),
                "{target} {framing}"
            );
            client.assert_closed();
        }
        // If the body has already arrived, the server does not ask the client to send it.
        let whole = "POST /hello HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc";
        let mut client = stage.connect();
        client.send([whole.as_bytes(), FOLLOWER].concat());
        assert_eq!(client.reply().status, 405);
        assert_eq!(client.reply().text(), "Hello, world!");
    });
}

/// The client may still send its body (RFC 9110, 10.1.1), and read the answer only afterwards.
#[test]
fn who_expects_100_continue_and_does_not_wait_reads_the_refusal() {
    every_stage(&["--quiet"], |stage| {
        let mut client = stage.connect();
        client.send("POST /hello HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n");
        for _ in 0..100 {
            // The client takes a second to send its body. The client is slow, but it does not wait for the
            // server.
            thread::sleep(Duration::from_millis(10));
            client.send("a");
        }
        assert_eq!(client.reply().status, 405);
        client.assert_closed();
    });
}

#[test]
fn options_are_named() {
    every_stage(&["--quiet"], |stage| {
        for (target, allow) in
            [("/hello", "GET, HEAD, OPTIONS"), ("/echo", "POST, OPTIONS"), ("*", "GET, HEAD, POST, OPTIONS")]
        {
            let reply = stage.connect().send(format!("OPTIONS {target} HTTP/1.1\r\nHost: h\r\n\r\n")).reply();
            assert_eq!((reply.status, reply.header("Allow")), (204, Some(allow)), "{target}");
            assert_eq!(reply.header("Content-Length"), None);
        }
    });
}

#[test]
fn parts_of_files_are_served() {
    let root = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    std::fs::write(root.path().join("file.bin"), &bytes).unwrap();
    every_stage(&["--quiet", "--root", root.path().to_str().unwrap()], |stage| {
        let get = |fields: &str| ask(stage, fields);
        let whole = get("");
        assert_eq!((whole.status, whole.header("Accept-Ranges")), (200, Some("bytes")));
        let tag = whole.header("ETag").unwrap();
        for (range, start, end) in [
            ("0-9", 0, 10),
            ("0-0", 0, 1),
            ("199990-200010", 199_990, 200_000),
            ("-5", 199_995, 200_000),
            ("-200000", 0, 200_000),
            ("-99999999999999999999", 0, 200_000),
            ("100000-", 100_000, 200_000),
        ] {
            for condition in [String::new(), format!("If-Range: {tag}\r\n")] {
                let reply = get(&format!("Range: bytes={range}\r\n{condition}"));
                let content_range = format!("bytes {start}-{}/200000", end - 1);
                assert_eq!((reply.status, reply.header("Content-Range")), (206, Some(&*content_range)));
                assert!(reply.body == bytes[start..end], "{range}");
            }
        }
        for missing in ["200000-", "200000-200001", "-0"] {
            let reply = get(&format!("Range: bytes={missing}\r\n"));
            let found = (reply.status, reply.header("Content-Range"));
            assert_eq!(found, (416, Some("bytes */200000")), "{missing}");
        }
        for ignored in [
            "Range: bytes=0-1,3-4\r\n",
            "Range: bytes=5-4\r\n",
            "Range: bytes=-\r\n",
            "Range: lines=0-1\r\n",
            "Range: bytes=0-1\r\nRange: bytes=3-4\r\n",
            "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n",
        ] {
            assert_eq!((get(ignored).status, get(ignored).body.len()), (200, 200_000), "{ignored}");
        }
        assert_eq!(get(&format!("Range: bytes=0-1\r\nIf-None-Match: {tag}\r\n")).status, 304);
    });
}

fn ask(stage: &Stage, fields: &str) -> Reply {
    stage.connect().send(format!("GET /file.bin HTTP/1.1\r\nHost: h\r\n{fields}\r\n")).reply()
}
