//! Tests what stops a stage, and how the stage then stops. Some tests run all stages that stop gracefully,
//! and others run only `lifecycle`.

use crate::support::{
    Client, DEADLINE, ENDLESS, LIFECYCLE, Reply, STOPPING_STAGES, Stage, each_of, eventually, get,
    root_with_a_large_file,
};
#[cfg(target_os = "linux")]
use crate::support::{EVENT_LOOPS, shell};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use std::{iter, thread};

const SHUTDOWN: &str = "POST /shutdown HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// SIGHUP, which the system sends when the terminal is closed; `None` if it stops no stage. On Linux,
/// SIGHUP stops a stage unless these tests were started with SIGHUP ignored (as under `nohup`), because
/// the stages inherit that setting.
pub(crate) fn hangup() -> &'static str {
    if command_line::hears_hangup() { "HUP" } else { "TERM" }
}

/// Returns a client that has sent these bytes, after the server has read the bytes. The client sends the
/// bytes together with a request, and waits for the answer to that request.
fn begin(stage: &Stage, bytes: &str) -> Client {
    let mut client = stage.connect();
    client.send(get("/hello") + bytes);
    assert_eq!(client.reply().status, 200);
    client
}

/// A request that stays in progress until the test sends its body; the stage has reported that the request
/// has begun.
pub(crate) struct Upload(Client);

impl Upload {
    pub(crate) fn begin(stage: &Stage) -> Upload {
        let mut client = stage.connect();
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!(client.reply().status, 100);
        Upload(client)
    }

    pub(crate) fn end(mut self) -> Reply {
        self.0.send("body").reply()
    }

    /// Returns the client, which has not sent the body of its request yet.
    pub(crate) fn into_client(self) -> Client {
        self.0
    }
}

pub(crate) fn stop_by(how: &str, stage: &Stage) {
    match how {
        "POST" => assert_eq!(stage.connect().send(SHUTDOWN).reply().status, 202),
        signal => stage.signal(signal),
    }
}

/// Returns the line in which the stage says what it waits for.
pub(crate) fn stopping(stage: &Stage) -> String {
    let line = stage.log_line();
    assert!(line.starts_with("stopping: "), "{line}");
    line
}

#[test]
fn every_way_to_stop_lets_requests_finish() {
    for how in ["INT", "TERM", hangup(), "POST"] {
        each_of(&STOPPING_STAGES, &["--quiet"], |stage| {
            let upload = Upload::begin(stage);
            let mut slow = stage.ask("/block?ms=300");
            let mut idle = stage.connect();
            assert_eq!(idle.get("/hello").status, 200);
            stop_by(how, stage);
            let line = stopping(stage);
            assert!(line.contains(" in progress, "), "{line}");
            let reply = upload.end();
            assert_eq!((reply.status, reply.header("Connection")), (200, Some("close")), "{how}");
            assert_eq!(slow.reply().status, 200);
            idle.assert_closed();
            assert_eq!(stage.exit_status(), Some(0), "{how}");
        });
    }
}

#[test]
fn new_connections_are_refused_while_it_stops() {
    each_of(&STOPPING_STAGES, &["--quiet"], |stage| {
        let upload = Upload::begin(stage);
        stop_by("TERM", stage);
        stopping(stage);
        // A client that arrives between the signal and the closing of the listener may still get a 503.
        eventually("a socket still listens", || TcpStream::connect(stage.addr).is_err());
        assert_eq!(upload.end().status, 200);
        assert_eq!(stage.exit_status(), Some(0));
    });
}

/// Returns the answers to clients that send requests without a pause, from before the signal until no socket
/// listens any more.
fn ask_until_the_end(stage: &mut Stage, clients: usize) -> Vec<String> {
    let addr = stage.addr;
    let ask = move || iter::from_fn(|| ask_alone(addr)).collect::<Vec<_>>();
    let asking: Vec<_> = (0..clients).map(|_| thread::spawn(ask)).collect();
    stage.signal("TERM");
    let answers = asking.into_iter().flat_map(|client| client.join().unwrap()).collect();
    assert_eq!(stage.exit_status(), Some(0));
    answers
}

/// A client arrives between the last accept and the closing of the listener only by chance.
#[test]
fn who_comes_too_late_is_told_and_counted() {
    for _ in 0..50 {
        let mut stage = Stage::start(LIFECYCLE, &["--quiet"]);
        let answers = ask_until_the_end(&mut stage, 8);
        let told = answers.iter().filter(|answer| answer.starts_with("HTTP/1.1 503 ")).count();
        let log = stage.stop();
        let counts = log
            .iter()
            .filter_map(|line| line.strip_prefix("stopping: refused ")?.strip_suffix(" that came too late"));
        let counts: Vec<usize> = counts.map(|count| count.parse().unwrap()).collect();
        match told {
            0 => assert_eq!(counts.len(), 0),
            told => return assert_eq!(counts, [told], "one line: {log:?}"),
        }
    }
    panic!("in fifty attempts no client came too late");
}

/// Each client asks again as soon as it has its answer. So the queue of each listener always contains
/// clients, even when the listener is closed.
#[cfg(target_os = "linux")] // elsewhere one may come between the last look into the queue and the end
#[test]
fn nobody_in_the_queue_is_reset() {
    for binary in STOPPING_STAGES {
        for clients in [8, 8, 250] {
            let mut stage = Stage::start_with_room(binary, &["--quiet"]);
            let answers = ask_until_the_end(&mut stage, clients);
            let resets = answers.iter().filter(|answer| answer.is_empty()).count();
            assert_eq!(resets, 0, "{binary}: of {} answers", answers.len());
        }
    }
}

#[test]
fn half_a_head_does_not_delay_the_end() {
    each_of(&STOPPING_STAGES, &["--quiet", "--header-timeout", "10m", "--grace", "10m"], |stage| {
        let mut half = begin(stage, "GET /hello HTTP/1.1\r\nHost: h\r\n");
        stop_by("TERM", stage);
        let reply = half.reply();
        assert_eq!((reply.status, reply.header("Retry-After")), (503, Some("1")));
        half.assert_closed();
        assert_eq!(stage.exit_status(), Some(0));
    });
}

/// The test measures for a second: the stage uses no processor time, and no thread wakes up without need. A
/// stage with event loops may keep idle connections.
#[cfg(target_os = "linux")]
#[test]
fn nothing_wakes_while_there_is_nothing_to_do() {
    each_of(&STOPPING_STAGES, &["--quiet"], |stage| {
        let idle = if EVENT_LOOPS.contains(&stage.binary) { 50 } else { 0 };
        let _idle: Vec<_> = (0..idle).map(|_| stage.connect()).collect();
        let wakes_within_a_second = || {
            let before = stage.voluntary_context_switches();
            thread::sleep(Duration::from_secs(1)); // not a wait for an event: in this time wake-ups are counted
            stage.voluntary_context_switches() - before
        };
        // At first, threads that have just started may not be asleep yet.
        eventually("something looks again and again", || wakes_within_a_second() == 0);
    });
}

/// Returns the answer, or an empty answer if the connection was reset; returns `None` if no socket listens.
pub(crate) fn ask_alone(addr: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(addr).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut answer = String::new();
    let _ = stream.write_all(b"GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    let _ = stream.read_to_string(&mut answer);
    Some(answer)
}

#[cfg(target_os = "linux")]
#[test]
fn who_waits_in_the_queue_is_served_before_the_end() {
    let mut stage = Stage::start(LIFECYCLE, &["--quiet", "--threads", "1"]);
    let unused = stage.open_descriptors();
    let upload = Upload::begin(&stage);
    let waiting: Vec<_> = (0..5).map(|_| stage.ask("/hello")).collect();
    // The stage answers an accepted client, even if the client has not begun its request.
    eventually("not all are accepted", || stage.open_descriptors() == unused + 6);
    stop_by("TERM", &stage);
    // Before that moment the stage serves no client; after that moment, the answer depends on how the stage
    // stops.
    stopping(&stage);
    assert_eq!(upload.end().status, 200);
    for mut client in waiting {
        assert_eq!(client.reply().status, 200);
        client.assert_closed();
    }
    assert_eq!(stage.exit_status(), Some(0));
}

/// Two or three of these clients have a thread, depending on the stage; one client waits for a thread.
#[test]
fn out_of_time_requests_are_cancelled_and_answered() {
    let flags = ["--quiet", "--threads", "2", "--grace", "300ms", "--body-timeout", "10m"];
    each_of(&STOPPING_STAGES, &flags, |stage| {
        let half = begin(stage, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
        let endless = begin(stage, &get(ENDLESS));
        let began = Instant::now();
        let queued = [stage.ask(ENDLESS), stage.ask(ENDLESS)];
        stop_by("TERM", stage);
        for mut client in [half, endless].into_iter().chain(queued) {
            assert_eq!(client.reply().status, 503);
            client.assert_closed();
        }
        assert_eq!(stage.exit_status(), Some(3));
        assert!(began.elapsed() < Duration::from_secs(50), "something ran to its end");
        assert!(iter::from_fn(|| stage.log_line_or_end()).any(|line| line.starts_with("out of time: ")));
    });
}

#[test]
fn half_a_head_and_a_deaf_client_do_not_outlive_the_grace_period() {
    let (_large, root) = root_with_a_large_file();
    let flags = ["--header-timeout", "10m", "--write-timeout", "10m", "--grace", "200ms", "--root", &root];
    each_of(&STOPPING_STAGES, &flags, |stage| {
        let mut half = begin(stage, "GET /hello HTTP/1.1\r\nHost: h\r\n");
        let mut deaf = stage.ask("/large.bin");
        deaf.stream.read_exact(&mut [0; 100]).unwrap();
        stop_by("INT", stage);
        assert_eq!(half.reply().status, 503);
        assert_eq!(stage.exit_status(), Some(3));
        let mut log = iter::from_fn(|| stage.log_line_or_end());
        assert!(log.any(|line| line.contains("/large.bin") && line.ends_with(" cut off")));
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let hangups = if hangup() == "HUP" {
        &[("HUP", "HUP", 129), ("HUP", "TERM", 143), ("INT", "HUP", 129), ("POST", "HUP", 129)][..]
    } else {
        &[]
    };
    let others = [("INT", "INT", 130), ("INT", "TERM", 143), ("POST", "TERM", 143)];
    for &(how, signal, status) in others.iter().chain(hangups) {
        each_of(&STOPPING_STAGES, &["--quiet", "--grace", "10m"], |stage| {
            let _running = begin(stage, &get(ENDLESS));
            stop_by(how, stage);
            stopping(stage);
            stage.signal(signal);
            assert_eq!(stage.exit_status(), Some(status), "{how}");
        });
    }
}

#[test]
fn strangers_cannot_stop_it() {
    let stage = Stage::start(LIFECYCLE, &["--quiet"]);
    for fields in [
        "Host: example.org\r\n",
        "Host: localhost\r\nOrigin: http://example.org\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        let reply = stage.connect().send(format!("POST /shutdown HTTP/1.1\r\n{fields}\r\n")).reply();
        assert_eq!(reply.status, 403, "{fields}");
    }
    assert_eq!(stage.get("/shutdown").status, 405, "a link or an image must not do it");
    stage.assert_alive();
}

/// Sends a stranger's request as a reverse proxy on this machine would pass it on: the request comes from the
/// proxy's address, and the host of the request is the server.
fn through_a_proxy(stage: &Stage, fields: &str) -> Reply {
    let head = format!("POST /shutdown HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", stage.addr);
    stage
        .connect()
        .send(format!("{head}X-Forwarded-For: 203.0.113.9\r\n{fields}Content-Length: 0\r\n\r\n"))
        .reply()
}

#[test]
fn with_a_token_nobody_without_it_stops_it() {
    let token = "not-to-be-guessed";
    let mut stage = Stage::start(LIFECYCLE, &["--quiet", &format!("--shutdown-token={token}")]);
    assert_eq!(stage.output_line(), format!("shutdown token: {token}"));
    for fields in [
        "",
        "Authorization: Bearer not-to-be-guesseD\r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Basic bm90LXRvLWJlLWd1ZXNzZWQ=\r\n",
    ] {
        let reply = through_a_proxy(&stage, fields);
        assert_eq!((reply.status, reply.header("WWW-Authenticate")), (401, Some("Bearer")), "{fields}");
    }
    assert_eq!(stage.connect().send(SHUTDOWN).reply().status, 401, "this machine alone is not enough");
    stage.assert_alive();
    assert_eq!(through_a_proxy(&stage, &format!("Authorization: Bearer {token}\r\n")).status, 202);
    assert_eq!(stage.exit_status(), Some(0));
}

#[test]
fn a_token_is_made_up_and_printed() {
    let mut stage = Stage::start(LIFECYCLE, &["--quiet", "--shutdown-token"]);
    let line = stage.output_line();
    let token = line.strip_prefix("shutdown token: ").unwrap();
    assert!(token.len() >= 32, "{token}");
    assert_eq!(through_a_proxy(&stage, &format!("Authorization: Bearer {token}\r\n")).status, 202);
    assert_eq!(stage.exit_status(), Some(0));
}

#[test]
fn without_shutdown_only_a_signal_stops_it() {
    let mut stage = Stage::start(LIFECYCLE, &["--quiet", "--no-shutdown"]);
    assert_eq!(stage.connect().send(SHUTDOWN).reply().status, 405);
    assert_eq!(through_a_proxy(&stage, "").status, 405);
    assert!(!stage.get("/").text().contains("shutdown"));
    stop_by("TERM", &stage);
    assert_eq!(stage.exit_status(), Some(0));
}

/// SIGHUP is ignored, as under `nohup`.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_hangup_stays_ignored() {
    for binary in STOPPING_STAGES {
        let mut stage = Stage::start_command(binary, &mut shell("trap '' HUP", binary, &["--quiet"]));
        stage.signal("HUP");
        stage.assert_alive();
        stage.signal("TERM");
        assert_eq!(stage.exit_status(), Some(0));
    }
}

#[test]
fn no_signal_is_lost_however_early() {
    // After the first line of output, a signal must stop the server gracefully.
    for signal in ["TERM", hangup()].into_iter().cycle().take(20) {
        let mut stage = Stage::start(LIFECYCLE, &["--quiet"]);
        stage.signal(signal);
        assert_eq!(stage.exit_status(), Some(0));
    }
}
