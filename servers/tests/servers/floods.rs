//! Tests stages whose threads are held by many clients. Every stage still answers another client within a
//! bounded time.
//!
//! A client that sends nothing, or half a request, keeps a thread until the client's time is over. If there
//! are N such clients and T threads, each thread must wait for the time-outs of N/T clients, one after
//! another. In a stage without a bound on threads, and in an event loop, another client need not wait for
//! these time-outs.
//!
//! `SERVERS_FLOOD=500` starts more clients than fit into a quick test run.

use crate::support::{
    Client, KEEPING_STAGES, MULTI_REACTOR, REACTOR, SINGLE_THREADED, STAGES, Stage, THREAD_PER_TASK,
    eventually, room, shell,
};
use std::time::{Duration, Instant};

const HEADER_TIMEOUT: Duration = Duration::from_millis(10);

/// The additional thread time that a client may cost: for a waiting read, for the answer, and for the end of
/// the connection.
const OVERHEAD: Duration = Duration::from_millis(40);

/// The extra time that each test allows once for a loaded machine.
const SLACK: Duration = Duration::from_secs(10);

const THREADS: usize = 8;

fn crowd_size() -> usize {
    std::env::var("SERVERS_FLOOD").map_or(30, |size| size.parse().expect("SERVERS_FLOOD is a number"))
}

/// If no client of a stage waits for a thread, a client's time begins when it connects. In such a stage the
/// client gets more time, because a loaded machine can keep the client from sending for a moment; the bound
/// does not depend on that time.
const ROOM_TO_SEND: Duration = Duration::from_millis(500);

fn start(binary: &'static str) -> Stage {
    let timeout = format!("{}ms", timeout(binary).as_millis());
    let flags = [
        "--quiet",
        "--threads",
        &THREADS.to_string(),
        "--header-timeout",
        &timeout,
        "--body-timeout",
        &timeout,
    ];
    Stage::start_with_room(binary, &flags)
}

/// Returns how long a server waits for a client's head.
fn timeout(binary: &str) -> Duration {
    if in_line(binary, 1) == 0 { ROOM_TO_SEND } else { HEADER_TIMEOUT }
}

// ANCHOR: bound
/// Returns how many clients one thread must wait for if `count` clients hold the threads.
fn in_line(binary: &str, count: usize) -> usize {
    match binary {
        THREAD_PER_TASK | REACTOR | MULTI_REACTOR => 0,
        SINGLE_THREADED => count,
        _ => count.div_ceil(THREADS),
    }
}

/// Returns how long another client may wait behind `count` clients that hold the threads.
fn bound(binary: &str, count: usize) -> Duration {
    (HEADER_TIMEOUT + OVERHEAD) * u32::try_from(in_line(binary, count)).unwrap() + SLACK
}
// ANCHOR_END: bound

fn crowd(stage: &Stage, count: usize, begin: &str) -> Vec<Client> {
    let connect = |_| {
        let mut client = stage.connect();
        client.send(begin);
        client
    };
    (0..count).map(connect).collect()
}

fn reset_all(clients: Vec<Client>) {
    for client in clients {
        // With this option, closing a socket sends a reset instead of a normal end.
        socket2::Socket::from(client.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
}

fn assert_answers_within_bound(stage: &Stage, count: usize, what: &str) {
    // If the server has closed the client's connection, the client connects again. The server closes the
    // connection if the client gets no processor time for so long that the client seems to be silent.
    let (began, mut client) = loop {
        let began = Instant::now();
        let mut client = stage.connect();
        client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
        if began.elapsed() < timeout(stage.binary) / 2 {
            break (began, client);
        }
    };
    client.stream.set_read_timeout(Some(bound(stage.binary, count))).unwrap();
    assert_eq!(client.reply().status, 200, "{what}");
    let took = began.elapsed();
    assert!(took < bound(stage.binary, count), "{what}: {took:?}");
}

fn flood(stage: &Stage, count: usize) {
    for (what, begin) in [
        ("silent", ""),
        ("half a head", "GET /hello HTTP/1.1\r\n"),
        ("half a body", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"),
    ] {
        let holding_on = crowd(stage, count, begin);
        assert_answers_within_bound(stage, count, what);
        drop(holding_on);
    }
    for begin in
        ["", "GET /hello HTTP/1.1\r\n", "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", "\x00\x01\x02\r\n\r\n"]
    {
        for _ in 0..2 {
            drop(crowd(stage, count / 4, begin));
            reset_all(crowd(stage, count / 4, begin));
        }
        assert_answers_within_bound(stage, count, "ends and resets");
    }
}

#[test]
fn after_a_flood_everything_is_as_before() {
    let count = crowd_size();
    // With many clients the tests run one after another, because this process also needs a descriptor for
    // each client.
    let side_by_side = if count <= 100 { STAGES.len() } else { 1 };
    for stages in STAGES.chunks(side_by_side) {
        std::thread::scope(|scope| {
            for &binary in stages {
                scope.spawn(move || flood_twice(binary, count));
            }
        });
    }
}

fn flood_twice(binary: &'static str, count: usize) {
    let stage = start(binary);
    let descriptors = stage.open_descriptors();
    flood(&stage, count);
    eventually("a connection stays open", || stage.open_descriptors() == descriptors);
    // By now the threads of a pool, and the allocator, have taken all memory that they keep. The memory must
    // not grow from one flood to the next.
    let (threads, memory) = (settled_threads(&stage), stage.resident_kib());
    flood(&stage, count);
    eventually("a connection stays open", || stage.open_descriptors() == descriptors);
    eventually("there are more threads", || stage.threads() <= threads);
    let grown = stage.resident_kib().saturating_sub(memory);
    assert!(grown < 4 * 1024, "{binary}: {grown} KiB more than the {memory} KiB before");
}

/// Returns how many threads there are after the threads that serve a single connection have ended.
fn settled_threads(stage: &Stage) -> usize {
    if stage.binary == THREAD_PER_TASK {
        eventually("a thread stays", || stage.threads() == 1);
    }
    stage.threads()
}

#[test]
fn running_out_of_descriptors_is_survived() {
    for binary in STAGES {
        let stage = Stage::start_command(binary, &mut shell("ulimit -n 30", binary, room(binary)));
        let clients: Vec<_> = (0..100).map(|_| stage.connect()).collect();
        if KEEPING_STAGES.contains(&binary) {
            let line = stage.log_line();
            assert!(line.starts_with("cannot accept a connection"), "{line}");
        }
        drop(clients);
        stage.assert_alive();
    }
}
