//! Tests that the last answer reaches a client that is still sending, and that closing a connection
//! delays no other client.

use crate::support::{Client, STAGES, Stage, every_stage, once_of_five};
use executor::CancelToken;
use servers::Listener;
use std::io::Write;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const MIB: usize = 1024 * 1024;

/// The moments at which a client that sends a large body checks for an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reads {
    /// The client checks only after it has sent everything.
    Afterwards,
    /// The client checks between two writes, so it sees an answer at once.
    InBetween,
}

/// Uploads a body as Node's `http` does: if a write fails, the client gives up, even if the answer has
/// already arrived.
pub(crate) fn upload(addr: SocketAddr, head: &str, size: usize, reads: Reads) -> u16 {
    let piece = vec![b'a'; 64 * 1024];
    let mut client = Client::connect(addr);
    client.send(head);
    for _ in 0..size / piece.len() {
        client.send(&piece);
        if reads == Reads::InBetween && has_answer(&client) {
            break;
        }
    }
    client.reply().status
}

/// Returns whether a client has got an answer, or the server has closed its connection.
pub(crate) fn has_answer(client: &Client) -> bool {
    client.stream.set_nonblocking(true).unwrap();
    let is_here = client.stream.peek(&mut [0]).is_ok();
    client.stream.set_nonblocking(false).unwrap();
    is_here
}

/// Uploads several times, and must see the answer each time.
fn assert_told(addr: SocketAddr, head: &str, size: usize, status: u16) {
    for reads in [Reads::Afterwards, Reads::InBetween] {
        for attempt in 0..12 {
            assert_eq!(upload(addr, head, size, reads), status, "{head:?} {reads:?}, attempt {attempt}");
        }
    }
}

#[test]
fn a_client_that_is_still_sending_sees_why_it_was_refused() {
    every_stage(&["--quiet"], |stage| {
        for size in [2 * MIB, 5 * MIB] {
            let too_large = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n\r\n");
            assert_told(stage.addr, &too_large, size, 413);
        }
        let chunk =
            format!("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n", 5 * MIB);
        assert_told(stage.addr, &chunk, 5 * MIB, 413);
        assert_told(stage.addr, "POST /echo HTTP/1.1\r\n\r\n", 5 * MIB, 400);
        let not_here =
            format!("POST /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {MIB}\r\n\r\n");
        assert_told(stage.addr, &not_here, MIB, 405);
    });
}

/// Runs an accept loop that turns away every client. Cancelling the token ends the loop.
fn turn_everyone_away() -> (SocketAddr, CancelToken) {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (addr, stop) = (listener.local_addr(), CancelToken::new());
    let token = stop.clone();
    thread::spawn(move || {
        listener.incoming_until(&token).for_each(drop);
        listener.close().see_off(Instant::now() + Duration::from_secs(1));
    });
    (addr, stop)
}

#[test]
fn a_client_that_is_still_sending_sees_that_it_was_turned_away() {
    let (addr, stop) = turn_everyone_away();
    let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 5 * MIB);
    assert_told(addr, &head, 5 * MIB, 503);
    stop.cancel();
}

/// These clients keep their sockets open, like clients that expect more answers. If the server waited a
/// moment for each client to close its connection, this test would take twice the time that it allows.
#[test]
fn a_client_that_keeps_its_socket_after_the_answer_holds_up_no_other() {
    for binary in STAGES {
        let stage = Stage::start_with_room(binary, &["--quiet", "--threads", "1"]);
        once_of_five(Duration::from_secs(3), || {
            let mut clients: Vec<_> = (0..120).map(|_| stage.connect()).collect();
            for client in &mut clients {
                // Here it is the server that closes the connection, so before the close it must check whether
                // bytes are on the way.
                client.send("POST /echo HTTP/1.0\r\nContent-Length: 1\r\n\r\na");
            }
            let began = Instant::now();
            for client in &mut clients {
                assert_eq!(client.reply().status, 200);
            }
            began.elapsed()
        });
    }
}

#[test]
fn hundreds_that_are_turned_away_are_told_at_once() {
    let (addr, stop) = turn_everyone_away();
    let mut clients = Vec::new();
    // If the server waited a hundredth of a second for each client, this test would take three
    // seconds.
    once_of_five(Duration::from_millis(1500), || {
        let began = Instant::now();
        clients = (0..300).map(|_| Client::connect(addr)).collect();
        for client in &mut clients {
            assert_eq!(client.reply().status, 503);
        }
        began.elapsed()
    });
    // The clients are still connected, and a client that sends something now gets no reset.
    for client in &mut clients[200..] {
        client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n").assert_closed();
    }
    stop.cancel();
}

#[test]
fn a_client_that_was_turned_away_and_stays_is_hung_up_on() {
    let (addr, stop) = turn_everyone_away();
    let mut client = Client::connect(addr);
    assert_eq!(client.reply().status, 503);
    client.assert_closed();
    // For a while the server discards the bytes that the client sends; then it sends a reset.
    while client.stream.write_all(b"a").is_ok() {
        thread::sleep(Duration::from_millis(10)); // the pace of the client
    }
    stop.cancel();
}
