//! Tests behaviour that only the stages with event loops have. (For the behaviour of all stages, see
//! `acceptance`, `closing`, `timeouts` and similar files.)

use crate::support::{Client, ENDLESS, EVENT_LOOPS, MULTI_REACTOR, Stage, get, shell};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Runs a test against both stages with event loops. Each stage has a single loop, so that all clients of the
/// test share the loop.
fn each(flags: &[&str], test: impl Fn(&mut Stage)) {
    for binary in EVENT_LOOPS {
        let one_loop: &[&str] = if binary == MULTI_REACTOR { &["--loops", "1"] } else { &[] };
        test(&mut Stage::start(binary, &[flags, one_loop].concat()));
    }
}

/// Later requests need less time, so the answers would come in another order if each answer were sent as soon
/// as it is ready.
#[test]
fn requests_in_a_row_are_answered_in_order_however_long_each_takes() {
    each(&["--quiet", "--threads", "8"], |stage| {
        let mut clients: Vec<_> = (0..4).map(|_| stage.connect()).collect();
        for client in &mut clients {
            for ms in [40, 30, 20, 10, 0] {
                client.send(get(&format!("/block?ms={ms}")) + &get("/hello") + &get("/nowhere"));
            }
        }
        for client in &mut clients {
            for ms in [40, 30, 20, 10, 0] {
                assert_eq!(client.reply().text(), format!("{ms} ms\n"));
                assert_eq!(client.reply().text(), "Hello, world!");
                assert_eq!(client.reply().status, 404);
            }
        }
    });
}

/// There are as many requests as threads for handlers.
#[test]
fn slow_handlers_hold_up_no_loop() {
    each(&["--quiet", "--threads", "2"], |stage| {
        let _slow: Vec<_> = (0..2).map(|_| stage.ask(ENDLESS)).collect();
        // The loop itself reads, parses and refuses this request.
        assert_eq!(stage.connect().send("nonsense\r\n\r\n").reply().status, 400);
        if stage.binary == MULTI_REACTOR {
            stage.assert_alive();
        }
    });
}

/// If the site does not know that a handler is slow, the handler delays every client of its loop.
#[test]
fn a_loop_that_trusts_its_handlers_is_held_up() {
    let stage = Stage::start(MULTI_REACTOR, &["--quiet", "--loops", "1", "--trusting"]);
    let mut slow = stage.ask("/block?ms=500");
    let mut quick = stage.ask("/hello");
    slow.reply();
    // The loop did not serve other clients before this moment. The client's answer may already be on its way.
    quick.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(quick.reply().status, 200);
}

#[test]
fn a_client_that_ends_its_side_gets_the_answers_to_what_it_has_asked() {
    each(&["--quiet"], |stage| {
        let mut client = stage.connect();
        client.send(get("/block?ms=50") + &get("/hello") + &get("/block?ms=1"));
        client.stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.reply().text(), "50 ms\n");
        assert_eq!(client.reply().text(), "Hello, world!");
        assert_eq!(client.reply().text(), "1 ms\n");
        client.assert_closed();
    });
}

/// Because the loop is busy, the bytes and the end of the client's side arrive as one event. A read
/// that returns the bytes does not see the end, and the system does not report the end again.
#[test]
fn an_end_that_comes_together_with_the_last_bytes_is_noticed() {
    let stage = Stage::start(MULTI_REACTOR, &["--quiet", "--loops", "1", "--trusting"]);
    let mut client = stage.connect();
    assert_eq!(client.get("/hello").status, 200);
    let _holds_it_up = stage.ask("/block?ms=300");
    thread::sleep(Duration::from_millis(100)); // if the handler has not begun yet, the test shows less
    client.send(get("/hello"));
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply().status, 200);
    client.assert_closed();
}

/// The next check of the connection was planned in ten minutes, but the connection's new deadline is earlier.
#[test]
fn a_deadline_that_is_earlier_than_the_last_one_is_kept() {
    each(&["--quiet", "--idle-timeout", "10m", "--header-timeout", "2s"], |stage| {
        let mut client = stage.connect();
        assert_eq!(client.get("/hello").status, 200);
        client.send("GET /hello HTTP/1.1\r\n");
        assert_eq!(client.reply().status, 408);
        client.assert_closed();
    });
}

/// An answer that the loop itself makes must also keep its place in the order.
#[test]
fn an_expectation_waits_for_the_answers_before_it() {
    each(&["--quiet"], |stage| {
        let mut client = stage.connect();
        let head = |path| {
            format!("POST {path} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        };
        client.send(get("/block?ms=50") + &head("/echo"));
        assert_eq!(client.reply().text(), "50 ms\n");
        assert_eq!(client.reply().status, 100);
        client.send("abc".to_owned() + &get("/block?ms=50") + &head("/hello"));
        assert_eq!(client.reply().text(), "abc");
        assert_eq!(client.reply().text(), "50 ms\n");
        assert_eq!(client.reply().status, 405);
        client.assert_closed();
    });
}

/// The idle time of a connection begins with the answer, not with the request.
#[test]
fn a_slow_handler_takes_nothing_of_the_time_to_ask_again() {
    each(&["--quiet", "--idle-timeout", "2s"], |stage| {
        let mut client = stage.connect();
        assert_eq!(client.get("/block?ms=2500").status, 200);
        assert_eq!(client.get("/hello").status, 200);
    });
}

/// More clients wait than the loop accepts at once, and the system reports these clients only once.
#[test]
fn all_that_wait_are_accepted_though_nothing_tells_of_them_again() {
    let flags = ["--quiet", "--loops", "1", "--trusting", "--header-timeout", "10m"];
    let stage = Stage::start(MULTI_REACTOR, &flags);
    let mut holds_it_up = stage.ask("/block?ms=500");
    let mut silent: Vec<_> = (0..200).map(|_| stage.connect()).collect();
    holds_it_up.reply();
    drop(holds_it_up);
    thread::sleep(Duration::from_millis(200)); // if the loop has overlooked some clients, it is idle in this time
    assert_eq!(silent.last_mut().unwrap().get("/hello").status, 200);
}

/// Sends bytes as long as the other side takes them, and returns how many bytes were sent.
fn send_and_never_read(stage: &Stage, request: &str, most: usize) -> (Client, usize) {
    let client = stage.connect();
    client.stream.set_nonblocking(true).unwrap();
    let requests = request.repeat(64 * 1024 / request.len());
    let (mut sent, mut at, mut refused_since) = (0, 0, Instant::now());
    while sent < most && refused_since.elapsed() < Duration::from_millis(500) {
        match (&client.stream).write(&requests.as_bytes()[at..]) {
            Ok(count) => {
                (sent, at, refused_since) = (sent + count, (at + count) % requests.len(), Instant::now());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(5)),
            Err(error) => panic!("{error}"),
        }
    }
    (client, sent)
}

// ANCHOR: never_reads
/// The buffers of the system take some megabytes in each direction. The server's own buffers are
/// bounded, whatever the client sends.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_sends_and_never_reads_costs_a_buffer_and_no_more() {
    const MIB: usize = 1024 * 1024;
    each(&["--quiet", "--write-timeout", "10m"], |stage| {
        stage.assert_alive();
        let before = stage.resident_kib();
        let clients: Vec<_> = (0..4).map(|_| send_and_never_read(stage, &get("/hello"), 64 * MIB)).collect();
        for (_, sent) in &clients {
            assert!(*sent < 64 * MIB, "the server takes all that it is sent: {sent}");
        }
        let grown = stage.resident_kib().saturating_sub(before);
        assert!(grown < 4 * 1024, "{}: {grown} KiB more", stage.binary);
        stage.assert_alive();
    });
}
// ANCHOR_END: never_reads

/// The loop has stopped reading for a while, and then continues: nothing is lost, and nothing is sent
/// twice.
#[test]
fn a_client_that_reads_late_gets_every_answer() {
    each(&["--quiet", "--write-timeout", "10m"], |stage| {
        const REQUESTS: usize = 20_000;
        let mut client = stage.connect();
        let mut writing = client.stream.try_clone().unwrap();
        let writer = thread::spawn(move || {
            for number in 0..REQUESTS {
                let request = get(&format!("/nowhere/{number}"));
                let body = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n{number:8}");
                writing.write_all((request + &body).as_bytes()).unwrap();
            }
        });
        thread::sleep(Duration::from_millis(200)); // not a wait for an event: in this time answers pile up
        for number in 0..REQUESTS {
            assert_eq!(client.reply().status, 404);
            assert_eq!(client.reply().text(), format!("{number:8}"));
        }
        writer.join().unwrap();
    });
}

#[test]
fn large_files_arrive_whole_beside_each_other() {
    let root = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    fs::write(root.path().join("large.bin"), &bytes).unwrap();
    each(&["--quiet", "--root", root.path().to_str().unwrap()], |stage| {
        let mut clients: Vec<_> = (0..3).map(|_| stage.connect()).collect();
        for client in &mut clients {
            client.send(get("/large.bin") + &get("/hello"));
        }
        for client in &mut clients {
            assert!(client.reply().body == bytes);
            assert_eq!(client.reply().status, 200);
        }
        let mut part = stage.connect();
        part.send("GET /large.bin HTTP/1.1\r\nHost: h\r\nRange: bytes=100000-4099999\r\n\r\n");
        assert!(part.reply().body == bytes[100_000..4_100_000]);
    });
}

/// When the server finds that the file is shorter, it has already sent the head: only the end of the
/// connection can tell the client that bytes are missing.
#[test]
fn a_file_that_shrinks_while_it_is_sent_ends_the_connection() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("shrinks.bin");
    each(&["--quiet", "--root", root.path().to_str().unwrap()], |stage| {
        fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let mut client = stage.ask("/shrinks.bin");
        client.stream.read_exact(&mut [0; 1000]).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
        let mut rest = Vec::new();
        let _ = client.stream.read_to_end(&mut rest); // an end or a reset
        assert!(rest.len() < 1 << 30);
        stage.assert_alive();
    });
}

/// There are no free descriptors, and no event tells a loop when it may accept again.
#[cfg(unix)]
#[test]
fn without_descriptors_it_neither_spins_nor_forgets_who_waits() {
    for binary in EVENT_LOOPS {
        let stage = Stage::start_command(binary, &mut shell("ulimit -n 30", binary, &["--quiet"]));
        let mut clients: Vec<_> = (0..40).map(|_| stage.connect()).collect();
        assert!(stage.log_line().starts_with("cannot accept a connection"));
        // When a client has been served, its descriptor becomes free for a waiting client. No new client
        // arrives, so no event makes the loop accept the waiting clients.
        for client in &mut clients {
            client.send("GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        }
        for mut client in clients {
            assert_eq!(client.reply().status, 200);
        }
        // The pauses between reports grow; without pauses, the loop would have reported the error
        // thousands of times.
        let complaints = stage.stop().len();
        assert!(complaints < 50, "{complaints}");
    }
}
