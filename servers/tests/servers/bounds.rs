//! Tests that a client can keep a thread only for a bounded time, even if the client is never idle.

#[cfg(unix)]
use crate::lifecycle::Upload;
use crate::support::{
    Client, KEEPING_STAGES, POOLED, SINGLE_THREADED, STAGES, STOPPING_STAGES, Stage, each_of, eventually,
    every_stage,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// With requests of this length, no request ends at the end of a buffer of 16 KiB.
const HELLO: &str = "GET /hello?a HTTP/1.1\r\nHost: h\r\n\r\n";

/// Starts a client that always has at least the beginning of a request on its way, and reads every answer.
/// The client reports each answer to the test.
pub(crate) fn pipeline_endlessly(stage: &Stage) -> mpsc::Receiver<()> {
    // Each write of the client ends in the middle of a request; its next write begins with the rest of
    // that request.
    let (begin, rest) = HELLO.split_at(7);
    let requests = [rest, &HELLO.repeat(30_000), begin].concat();
    let mut client = stage.connect();
    client.send(begin);
    let (mut sender, mut receiver) = (client.stream.try_clone().unwrap(), client.stream);
    let (tell, answered) = mpsc::channel();
    thread::spawn(move || while sender.write_all(requests.as_bytes()).is_ok() {});
    thread::spawn(move || {
        let mut answers = vec![0; 64 * 1024];
        while receiver.read(&mut answers).is_ok_and(|count| count > 0) {
            let _ = tell.send(());
        }
    });
    answered
}

#[cfg(unix)]
#[test]
fn a_client_that_pipelines_without_end_does_not_delay_the_end() {
    for binary in STOPPING_STAGES {
        let mut stage = Stage::start(binary, &["--quiet", "--grace", "5s"]);
        pipeline_endlessly(&stage).recv().unwrap();
        stage.signal("TERM");
        // The server answers all requests in the buffer, and cuts off no answer.
        assert_eq!(stage.exit_status(), Some(0));
    }
}

/// Even a stage that never keeps an idle connection answers several requests that have arrived together.
#[test]
fn what_has_arrived_together_is_answered_also_when_the_thread_is_wanted() {
    every_stage(&["--quiet"], |stage| {
        let mut client = stage.connect();
        let count = 300; // in a buffer of 16 KiB
        client.send(HELLO.repeat(count) + "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhal");
        for number in 1..=count {
            let is_last = number == count && !KEEPING_STAGES.contains(&stage.binary);
            assert_eq!(client.reply().header("Connection"), is_last.then_some("close"), "{number}");
        }
        client.stream.shutdown(Shutdown::Write).unwrap();
        if KEEPING_STAGES.contains(&stage.binary) {
            assert_eq!(client.reply().status, 400, "half a body");
        }
        client.assert_closed();
    });
}

#[test]
fn a_connection_has_so_many_requests() {
    every_stage(&["--quiet", "--max-requests", "3"], |stage| {
        let mut client = stage.connect();
        client.send(HELLO.repeat(5));
        for connection in [None, None, Some("close")] {
            assert_eq!(client.reply().header("Connection"), connection);
        }
        client.assert_closed();
    });
}

/// The single thread serves one connection at a time, whatever the bound is.
#[cfg(unix)]
#[test]
fn who_comes_when_all_places_are_taken_is_told_so_and_costs_no_thread() {
    let others = STAGES.into_iter().filter(|&binary| binary != SINGLE_THREADED).collect::<Vec<_>>();
    each_of(&others, &["--quiet", "--max-connections", "3", "--threads", "8"], |stage| {
        let mut served: Vec<_> = (0..3).map(|_| Upload::begin(stage)).collect();
        #[cfg(target_os = "linux")]
        let threads = stage.threads();
        for _ in 0..20 {
            let mut client = stage.connect();
            let reply = client.reply();
            let said = (reply.status, reply.header("Retry-After"), reply.header("Connection"));
            assert_eq!(said, (503, Some("1"), Some("close")));
            client.assert_closed();
        }
        #[cfg(target_os = "linux")]
        assert_eq!(stage.threads(), threads);
        assert_eq!(served.pop().unwrap().end().status, 200);
        // The place becomes free only after the server has seen the end of the connection.
        eventually("clients are no longer served", || stage.get("/hello").status == 200);
        for upload in served {
            assert_eq!(upload.end().status, 200);
        }
    });
}

#[test]
fn who_has_seen_the_end_of_its_connection_finds_a_place_for_another() {
    every_stage(&["--quiet", "--max-connections", "1"], |stage| {
        for _ in 0..200 {
            let mut client = stage.connect();
            let last = "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
            assert_eq!(client.send(last).reply().status, 200);
            client.assert_closed();
        }
    });
}

/// Returns a client with a small window, so that the server notices how fast the client reads.
fn connect_with_small_window(stage: &Stage) -> Client {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(32 * 1024).unwrap();
    socket.connect(&stage.addr.into()).unwrap();
    Client::over(TcpStream::from(socket))
}

/// A client that reads about 40 KiB of a large answer in a second, while the server requires 64 KiB. The
/// drop of this value ends the client.
pub(crate) struct SlowReader {
    stream: TcpStream,
    reading: Option<thread::JoinHandle<()>>,
}

/// Blocks until the client has received the beginning of the answer.
pub(crate) fn read_slowly(stage: &Stage) -> SlowReader {
    let mut client = connect_with_small_window(stage);
    client.send("GET /large.bin HTTP/1.1\r\nHost: h\r\n\r\n");
    let mut bytes = [0; 4 * 1024];
    let mut stream = client.stream.try_clone().unwrap();
    stream.read_exact(&mut bytes).unwrap();
    let reading = thread::spawn(move || {
        while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
            thread::sleep(Duration::from_millis(100)); // the pace of this client
        }
    });
    SlowReader { stream: client.stream, reading: Some(reading) }
}

impl Drop for SlowReader {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        let _ = self.reading.take().map(thread::JoinHandle::join);
    }
}

#[test]
fn a_client_that_keeps_the_pace_gets_everything() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("file.bin"), vec![7; 6_000_000]).unwrap();
    let flags =
        ["--root", root.path().to_str().unwrap(), "--write-timeout", "1s", "--min-write-rate", "1000"];
    let stage = Stage::start(POOLED, &flags);
    let mut client = connect_with_small_window(&stage);
    client.send("GET /file.bin HTTP/1.1\r\nHost: h\r\n\r\n");
    let (mut count, mut bytes) = (0, vec![0; 300_000]);
    while count < 6_000_000 {
        thread::sleep(Duration::from_millis(20)); // a pause does not make the client idle
        match client.stream.read(&mut bytes).unwrap() {
            0 => panic!("cut off after {count}"),
            more => count += more,
        }
    }
}

#[test]
fn a_client_that_sends_on_for_ever_after_a_refusal_is_reset() {
    for binary in STAGES {
        let stage = Stage::start(binary, &["--quiet", "--threads", "1", "--linger-timeout", "200ms"]);
        let mut client = stage.connect();
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000\r\n\r\n");
        let mut stream = client.stream.try_clone().unwrap();
        let sending = thread::spawn(move || while stream.write_all(&[0; 16 * 1024]).is_ok() {});
        assert_eq!(client.reply().status, 413);
        stage.assert_alive();
        sending.join().unwrap();
    }
}
