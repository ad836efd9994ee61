//! Tests that drive a conversation: they pass in bytes and set the time.

use super::*;
use crate::http::Status;
use std::time::Duration;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";

fn second(number: u64) -> Instant {
    use std::sync::LazyLock;
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    *BEGIN + Duration::from_secs(number)
}

fn new() -> Conversation {
    Conversation::new(&Limits::default(), second(0))
}

fn answer(conversation: &mut Conversation, stays: bool) -> String {
    let mut out = Vec::new();
    let Body::Bytes(body) = conversation.answer(Response::text(Status::Ok, "hello"), stays, &mut out) else {
        panic!("a text has bytes")
    };
    out.extend_from_slice(&body);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_request_stays_until_it_is_answered() {
    let mut conversation = new();
    conversation.arrived(&[GET, b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"].concat(), second(1));
    for _ in 0..2 {
        assert_eq!((conversation.step(), conversation.request().method), (Ok(Step::Request), "GET"));
    }
    conversation.arrived(GET, second(2));
    assert_eq!((conversation.step(), conversation.request().method), (Ok(Step::Request), "GET"));
    conversation.answered(second(3));
    assert_eq!((conversation.step(), conversation.request().method), (Ok(Step::Request), "HEAD"));
}

#[test]
fn a_conversation_may_go_to_another_thread() {
    fn check<T: Send + Sync>(_: &T) {}
    check(&new());
}

#[test]
fn each_phase_has_its_time() {
    let limits = Limits {
        header_timeout: Duration::from_secs(1),
        body_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(100),
        ..Limits::default()
    };
    let mut conversation = Conversation::new(&limits, second(0));
    let waits = |conversation: &Conversation| {
        (conversation.phase(), conversation.deadline(), conversation.too_late())
    };
    assert_eq!(waits(&conversation), (Phase::New, Some(second(1)), None));
    let request = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
    for (at, byte) in request.iter().enumerate() {
        assert_ne!(conversation.step(), Ok(Step::Request));
        conversation.arrived(&[*byte], second(1000 + at as u64));
        let _ = conversation.step();
        let expected = match request.len() - at {
            1 => (Phase::Request, None, None),
            // The head was complete when its last byte arrived.
            2..=4 => {
                (Phase::Body, Some(second(1000 + request.len() as u64 - 4 + 10)), Some(Refusal::BodyTimeout))
            }
            // The head began when its first byte arrived.
            _ => (Phase::Head, Some(second(1001)), Some(Refusal::HeadTimeout)),
        };
        assert_eq!(waits(&conversation), expected, "{at}");
    }
    conversation.answered(second(2000));
    assert_eq!(waits(&conversation), (Phase::Idle, Some(second(2100)), None));
    conversation.arrived(b"G", second(2050));
    assert_eq!(waits(&conversation), (Phase::Head, Some(second(2051)), Some(Refusal::HeadTimeout)));
}

/// If half a head has arrived together with a request, the time for that head begins only when the
/// request is answered.
#[test]
fn time_in_which_the_client_has_to_wait_is_not_its_own() {
    let mut conversation = new();
    conversation
        .arrived(&[GET, b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"].concat(), second(1));
    assert_eq!(conversation.step(), Ok(Step::Request));
    conversation.answered(second(500));
    assert_eq!(conversation.step(), Ok(Step::Read));
    assert_eq!(conversation.deadline(), Some(second(500) + Limits::default().body_timeout));
}

#[test]
fn a_client_that_waits_is_told_once() {
    let mut conversation = new();
    let head = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    conversation.arrived(head, second(0));
    assert_eq!((conversation.step(), conversation.step()), (Ok(Step::Expectation), Ok(Step::Expectation)));
    assert_eq!(conversation.request().path, "/echo");
    assert!(conversation.go_ahead().starts_with(b"HTTP/1.1 100 "));
    assert_eq!(conversation.step(), Ok(Step::Read));
    conversation.arrived(b"abc", second(0));
    assert_eq!(conversation.step(), Ok(Step::Request));
    assert_eq!(conversation.request().body, b"abc");
    // A client that has sent its body without waiting needs no permission.
    conversation.answered(second(0));
    conversation.arrived(&[head.as_slice(), b"abc"].concat(), second(0));
    assert_eq!(conversation.step(), Ok(Step::Request));
}

/// A malformed chunk line is refused at its end, even if its first part looks valid when the server
/// parses it again.
#[test]
fn a_refusal_is_said_once_and_for_ever() {
    let head = b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    for bytes in [&b"G@T"[..], &[head, &b"3;a=\"\r\nabc\r\n0\r\n\r\n"[..]].concat()] {
        let mut conversation = new();
        conversation.arrived(bytes, second(0));
        let Err(refusal) = conversation.step() else { panic!("{}", bytes.escape_ascii()) };
        assert_eq!(conversation.step(), Err(refusal));
        conversation.arrived(GET, second(1));
        assert_eq!(conversation.step(), Err(refusal));
        conversation.ended();
        assert_eq!(conversation.step(), Err(refusal));
        assert_eq!((conversation.phase(), conversation.deadline()), (Phase::Request, None));
        assert!(conversation.has_unread());
    }
}

/// The memory for all clients has room for one of these bodies but not for two, because each body counts
/// twice.
#[test]
fn what_finds_no_memory_is_refused_and_what_was_taken_is_given_back() {
    let limits = Limits { body_memory: 4_000, ..Limits::default() };
    let room = Room::of_at_most(3_600);
    let another = || Conversation::sharing(&room, &limits, second(0));
    let head = |framing: &str| format!("POST /echo HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n").into_bytes();
    let (sized, chunked) = (head("Content-Length: 1000"), head("Transfer-Encoding: chunked"));
    let (mut one, mut other, mut third) = (another(), another(), another());
    one.arrived(&sized, second(0));
    assert_eq!((one.step(), room.held()), (Ok(Step::Read), 2_000));
    other.arrived(&chunked, second(0));
    other.arrived(b"190\r\n", second(0));
    assert_eq!((other.step(), room.held()), (Ok(Step::Read), 2_000), "nothing of it has come");
    other.arrived(&[b'a'; 400], second(0));
    assert_eq!((other.step(), room.held()), (Ok(Step::Read), 2_800));
    third.arrived(&sized, second(0));
    assert_eq!((third.step(), room.held()), (Err(Refusal::NoRoom), 2_800));
    other.arrived(&[b"\r\n1f4\r\n", &[b'a'; 500][..]].concat(), second(0));
    assert_eq!(
        (other.step(), room.held()),
        (Err(Refusal::NoRoom), 2_000),
        "a refused one gives back its part"
    );
    // Only bytes that the server has taken count, and they count until they are dropped.
    one.arrived(&[b'a'; 1_000], second(0));
    assert_eq!((one.step(), room.held()), (Ok(Step::Request), 2_000));
    let mut owned = OwnedRequest::default();
    one.take(&mut owned, second(0));
    assert_eq!(room.held(), 2_000);
    owned.drop_body();
    assert_eq!(room.held(), 0);
    one.arrived(&sized[..10], second(0));
    one.arrived(&vec![b'\n'; 20_000], second(0));
    assert_eq!((one.step(), room.held()), (Err(Refusal::NoRoom), 0), "what is not looked at counts, too");
}

#[test]
fn the_end_is_in_order_between_two_requests_only() {
    let end = |bytes: &[u8]| {
        let mut conversation = new();
        conversation.arrived(bytes, second(0));
        conversation.ended();
        if conversation.step() == Ok(Step::Request) {
            conversation.answered(second(0));
        }
        conversation.step()
    };
    assert_eq!((end(b""), end(GET)), (Ok(Step::Over), Ok(Step::Over)));
    let cut =
        [&GET[..5], b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na", &[GET, b"\r\nG"].concat()];
    for bytes in cut {
        assert_eq!(end(bytes), Err(CUT_SHORT), "{}", bytes.escape_ascii());
    }
    // A malformed request is refused as malformed, whatever else is wrong with it.
    let Err(refusal) = end(b"GET\0") else { panic!("that is no request") };
    assert_ne!(refusal, CUT_SHORT);
}

#[test]
fn the_head_of_the_answer_fits_the_request() {
    let to = |request: &[u8], stays| {
        let mut conversation = Conversation::of(request);
        answer(&mut conversation, stays)
    };
    let (http11, http10) = (GET, b"GET / HTTP/1.0\r\n\r\n".as_slice());
    assert!(!to(http11, true).contains("Connection:"));
    assert!(to(http11, false).contains("\r\nConnection: close\r\n"));
    assert!(to(http10, true).contains("\r\nConnection: keep-alive\r\n"));
    assert!(to(http10, false).ends_with("Connection: close\r\n\r\nhello"));
    let head = Conversation::of(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    let mut out = Vec::new();
    assert!(matches!(head.answer(Response::text(Status::Ok, "hello"), true, &mut out), Body::None));
    assert!(String::from_utf8(out).unwrap().contains("Content-Length: 5\r\n"));
}

#[test]
fn what_is_behind_a_request_is_looked_at() {
    for (next, is_here) in [
        (GET, true),
        (b"", false),
        (&GET[..7], false),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab", true),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na", false),
        (b"nonsense\0", true),
    ] {
        let conversation = Conversation::of(&[GET, next].concat());
        assert_eq!(conversation.next_is_here(), is_here, "{}", next.escape_ascii());
        assert_eq!(conversation.has_unread(), !next.is_empty());
    }
}
