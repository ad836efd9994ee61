//! Finds the differences between the stages, and makes a table of these differences for the book.
//!
//! `RECORD=1 cargo test --test servers survival` writes the table; without `RECORD`, the test only compares
//! the table.

use crate::acceptance::cases::{self, Kind};
use crate::bounds::{pipeline_endlessly, read_slowly};
use crate::closing::{MIB, Reads, has_answer, upload};
use crate::lifecycle::{Upload, ask_alone, hangup};
use crate::memory::{end_uploads, upload_all_but_one_byte};
use crate::support::{
    Client, DEADLINE, ENDLESS, SHARED_ACCEPT, SINGLE_THREADED, STAGES, STOPPING_STAGES, Stage, eventually,
    get, output_of, root_with_a_large_file, with_few_threads,
};
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::{iter, thread};

/// If a client has no answer after this time, the test assumes that this client waits for another client.
const LONG_ENOUGH: Duration = Duration::from_secs(3);

/// The number of clients, which is also the number of threads of each stage.
const THREADS: usize = 4;

type Scenario = (&'static str, fn(&'static str) -> String);

const SCENARIOS: &[Scenario] = &[
    ("one request takes a minute: another client is", |binary| meanwhile(binary, 1, &get(ENDLESS))),
    ("four requests, as many as threads, take a minute: another client is", |binary| {
        meanwhile(binary, THREADS, &get(ENDLESS))
    }),
    ("four clients stop in the middle of a request: another client is", |binary| {
        meanwhile(binary, THREADS, "GET /hello HTTP/1.1\r\n")
    }),
    ("200 clients at once want 20 ms each: they are", rush),
    ("four clients connect and are silent: they are", silent_clients),
    ("four clients send a body, as many as `--max-connections` allows: the next is", no_place),
    ("four clients send one request after the other without end: another client is", pipelining_clients),
    ("four clients read a large answer too slowly (`--write-timeout 1s`): another client is", slow_readers),
    ("a client sends five times what is allowed, and only then reads: it sees", too_large),
    ("eight clients upload at once, and `--body-memory` has room for two of them: they are", uploads),
    ("nobody reads standard error: requests are", unread_log),
    ("a connection with nothing to do is", idle_connection),
    ("a connection with nothing to do wakes its thread", idle_wakeups),
    ("threads of the process once a hundred silent clients are there", threads_for_a_crowd),
    ("`/stats` knows who waits for a thread", counts_the_waiting),
    ("a page of another name asks (`Host: rebound.example`): it is answered with", rebound),
    ("a client leaves during a computation of a minute: that is", left_alone),
    ("a handler panics, more often than there are threads: then", panics),
    ("the system gives only some twenty threads (`--threads 100`)", few_threads),
    ("SIGTERM during a request", terminated),
    ("SIGTERM while half a request is there", terminated_in_a_head),
    ("SIGTERM while 150 clients ask again and again: without an answer are", terminated_under_load),
    ("`POST /shutdown` from this machine", asked_to_stop),
];

fn start(binary: &'static str) -> Stage {
    let flags = ["--quiet", "--threads", "4", "--header-timeout", "10m", "--idle-timeout", "10m"];
    Stage::start(binary, &flags)
}

/// Returns whether one more client gets an answer while `count` clients that have sent `bytes` are
/// connected.
fn meanwhile(binary: &'static str, count: usize, bytes: &str) -> String {
    let stage = start(binary);
    let mut busy: Vec<_> = (0..count).map(|_| stage.connect()).collect();
    for client in &mut busy {
        client.send(bytes);
    }
    // If a client has sent something before the server reads, this client is not silent, and the server waits
    // for it.
    let other = stage.ask("/hello");
    if answered(&other) { "answered" } else { "left waiting" }.to_owned()
}

fn no_place(binary: &'static str) -> String {
    let stage = Stage::start(binary, &["--quiet", "--threads", "8", "--max-connections", "4"]);
    // The server tells each client to continue, so each client has a place. A single thread would tell the
    // second client to continue only after the thread has finished with the first client.
    let count = if binary == SINGLE_THREADED { 1 } else { 4 };
    let _served: Vec<_> = (0..count).map(|_| Upload::begin(&stage)).collect();
    let mut next = stage.connect();
    if answered(&next) { format!("told {}", next.reply().status) } else { "left waiting".to_owned() }
}

fn answered(client: &Client) -> bool {
    client.stream.set_read_timeout(Some(LONG_ENOUGH)).unwrap();
    match client.stream.peek(&mut [0]) {
        Ok(count) => count == 1,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
            false
        }
    }
}

fn rush(binary: &'static str) -> String {
    let stage = start(binary);
    // The server may close the connection of a client that is silent for a second, so each client sends its
    // request immediately.
    let mut clients: Vec<_> = (0..200).map(|_| stage.ask("/block?ms=20")).collect();
    statuses(&mut clients)
}

fn statuses(clients: &mut [Client]) -> String {
    let mut statuses: Vec<_> = clients.iter_mut().map(|client| client.reply().status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    match statuses[..] {
        [200] => "all answered",
        [200, 503] => "answered, or told 503",
        _ => panic!("{statuses:?}"),
    }
    .to_owned()
}

fn silent_clients(binary: &'static str) -> String {
    let stage = start(binary);
    let mut silent: Vec<_> = (0..THREADS).map(|_| stage.connect()).collect();
    stage.assert_alive();
    // Chance decides which client's connection is closed.
    let mut is_closed = |client: &mut Client| {
        client.stream.set_read_timeout(Some(LONG_ENOUGH / 40)).unwrap();
        matches!(client.stream.read(&mut [0]), Ok(0))
    };
    let any_closed = (0..10).any(|_| silent.iter_mut().any(&mut is_closed));
    if any_closed { "sent away for another client" } else { "kept" }.to_owned()
}

fn idle_connection(binary: &'static str) -> String {
    let reply = start(binary).get("/hello");
    if reply.header("Connection") == Some("close") { "closed" } else { "kept" }.to_owned()
}

fn idle_wakeups(binary: &'static str) -> String {
    let stage = Stage::start(binary, &["--quiet", "--threads", "32"]);
    let mut idle = Vec::new();
    for _ in 0..20 {
        let mut client = stage.connect();
        if client.get("/hello").header("Connection") == Some("close") {
            return "it is closed".to_owned();
        }
        idle.push(client);
    }
    let before = stage.voluntary_context_switches();
    thread::sleep(Duration::from_secs(1));
    match stage.voluntary_context_switches() - before {
        // The test allows a few waits, because some threads may not be asleep at the beginning.
        0..=60 => "never",
        // In that time the threads have waited 400 times, or less often on a busy machine.
        _ => "20 times a second",
    }
    .to_owned()
}

fn threads_for_a_crowd(binary: &'static str) -> String {
    let stage = start(binary);
    let _crowd: Vec<_> = (0..100).map(|_| stage.connect()).collect();
    // In these stages all threads exist from the start, however many clients are accepted.
    if ![SINGLE_THREADED, SHARED_ACCEPT].contains(&binary) {
        eventually("not all are accepted", || stage.backlog() == 0);
    }
    let mut before = (usize::MAX, 0);
    eventually("the number of threads goes up and up", || {
        // This call waits for the client that was accepted last: if the stage starts a thread for that client
        // at all, the stage starts it now.
        thread::sleep(Duration::from_millis(100));
        let threads = stage.threads();
        before = if threads == before.0 { (threads, before.1 + 1) } else { (threads, 0) };
        before.1 == 5
    });
    // In a stage that ends gracefully, a thread waits for SIGHUP, unless these tests were started with
    // SIGHUP ignored.
    let ends_in_order = STOPPING_STAGES.contains(&binary);
    (before.0 + usize::from(ends_in_order && hangup() != "HUP")).to_string()
}

fn counts_the_waiting(binary: &'static str) -> String {
    let stats: serde_json::Value = serde_json::from_slice(&start(binary).get("/stats").body).unwrap();
    if stats["pool"]["queued"].is_u64() { "yes" } else { "no" }.to_owned()
}

fn rebound(binary: &'static str) -> String {
    let stage = Stage::start_with_only(binary, &["--quiet", "--addr", "127.0.0.1:0"]);
    let request = "GET /stats HTTP/1.1\r\nHost: rebound.example\r\n\r\n";
    stage.connect().send(request).reply().status.to_string()
}

fn left_alone(binary: &'static str) -> String {
    let stage = Stage::start(binary, &[]);
    stage.connect().send("GET /cpu?ms=60000 HTTP/1.1\r\nHost: h\r\n\r\n"); // and drops the connection
    let line = stage.log_line();
    if line.contains("\"GET /cpu?ms=60000 HTTP/1.1\" 503 ") { "given up" } else { "finished" }.to_owned()
}

fn panics(binary: &'static str) -> String {
    let stage = start(binary);
    let panicked = (0..2 * THREADS).map(|_| stage.get("/panic").status);
    assert!(panicked.into_iter().all(|status| status == 500));
    stage.assert_alive();
    "500, and it goes on".to_owned()
}

/// Sixty clients stay connected, but there is address space for only about twenty threads.
fn few_threads(binary: &'static str) -> String {
    let mut command = with_few_threads(binary, &["--quiet", "--threads", "100"]);
    if !binary.ends_with("shared_accept") {
        let stage = Stage::start_command(binary, &mut command);
        // A pool without any thread would refuse the task, so one thread is started before the clients
        // connect.
        stage.assert_alive();
        // The server may close the connection of a client that is silent for long, so each client sends its
        // request immediately.
        let mut clients: Vec<_> = (0..60).map(|_| stage.ask("/hello")).collect();
        let statuses: Vec<_> = clients.iter_mut().map(|client| client.reply().status).collect();
        drop(clients);
        eventually("clients are no longer served", || stage.get("/hello").status == 200);
        return if statuses.contains(&503) { "503 for who comes too late" } else { "all are served" }
            .to_owned();
    }
    let output = output_of(command.args(["--addr", "127.0.0.1:0"]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ask for fewer with --threads"), "{said}");
    "does not start, and says so".to_owned()
}

/// Sends a signal after the server has read the head of a request and has told the client to continue.
fn terminated(binary: &'static str) -> String {
    let mut stage = start(binary);
    let mut client = stage.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(client.reply().status, 100);
    stage.signal("TERM");
    while stage.log_line_or_end().is_some_and(|line| !line.starts_with("stopping: ")) {}
    let _ = client.stream.write_all(b"body"); // perhaps the server has ended
    let answer = client.stream.read(&mut [0; 1024]);
    match (answer, stage.exit_status()) {
        (Ok(1..), Some(0)) => "answered, then stops".to_owned(),
        (Ok(0) | Err(_), None) => "cut off".to_owned(),
        other => format!("{other:?}"),
    }
}

fn terminated_in_a_head(binary: &'static str) -> String {
    let mut stage = start(binary);
    let mut client = stage.connect();
    // The answer to the first request shows that the server has read the sent part of the second request.
    client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /hello HTTP/1.1\r\n");
    assert_eq!(client.reply().status, 200);
    stage.signal("TERM");
    let mut answer = String::new();
    let _ = client.stream.read_to_string(&mut answer);
    match (answer.get(..12), stage.exit_status()) {
        (Some("HTTP/1.1 503"), Some(0)) => "503, then stops".to_owned(),
        (None, None) => "cut off".to_owned(),
        other => format!("{other:?}"),
    }
}

fn terminated_under_load(binary: &'static str) -> String {
    let stage = start(binary);
    let addr = stage.addr;
    let (tell, answered) = mpsc::channel();
    let ask = |tell: mpsc::Sender<()>| {
        let answers = iter::from_fn(move || ask_alone(addr));
        move || answers.inspect(|_| tell.send(()).unwrap_or_default()).filter(String::is_empty).count()
    };
    let asking: Vec<_> = (0..150).map(|_| thread::spawn(ask(tell.clone()))).collect();
    // At that time most clients have received an answer and sent the next request.
    answered.iter().take(1_000).for_each(drop);
    stage.signal("TERM");
    let cut_off: usize = asking.into_iter().map(|client| client.join().unwrap()).sum();
    if cut_off == 0 { "none" } else { "some" }.to_owned()
}

fn pipelining_clients(binary: &'static str) -> String {
    let stage = start(binary);
    let pipelining: Vec<_> = (0..THREADS).map(|_| pipeline_endlessly(&stage)).collect();
    // Each client has received an answer; with four threads, all clients continue if they can.
    assert!(pipelining.iter().all(|answered| answered.recv().is_ok()));
    served(stage.connect())
}

fn slow_readers(binary: &'static str) -> String {
    let (_large, root) = root_with_a_large_file();
    let stage =
        Stage::start(binary, &["--quiet", "--threads", "4", "--write-timeout", "1s", "--root", &root]);
    let _slow: Vec<_> = (0..THREADS).map(|_| read_slowly(&stage)).collect();
    served(stage.connect())
}

/// Returns whether a client finally gets its answer because the clients before it leave.
fn served(mut client: Client) -> String {
    client.stream.set_read_timeout(Some(DEADLINE)).unwrap();
    client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
    if matches!(client.stream.peek(&mut [0]), Ok(1)) { "answered" } else { "left waiting" }.to_owned()
}

fn too_large(binary: &'static str) -> String {
    let head = format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 5 * MIB);
    // On a busy machine, sending may take longer than a server waits by default.
    let stage = Stage::start(binary, &["--quiet", "--threads", "4", "--linger-timeout", "1m"]);
    upload(stage.addr, &head, 5 * MIB, Reads::Afterwards).to_string()
}

fn uploads(binary: &'static str) -> String {
    let stage = Stage::start(binary, &["--quiet", "--threads", "8", "--body-memory", "1048576"]);
    let mut clients = upload_all_but_one_byte(stage.addr, 8, 200_000);
    if binary != SINGLE_THREADED {
        eventually("all find room", || clients.iter().any(has_answer));
    }
    end_uploads(&mut clients);
    statuses(&mut clients)
}

fn unread_log(binary: &'static str) -> String {
    let (stage, _log) = Stage::start_with_unread_log(binary, &["--threads", "4"]);
    // There are more requests than lines that a pipe can hold.
    (0..2_000).for_each(|_| stage.assert_alive());
    "answered".to_owned()
}

fn asked_to_stop(binary: &'static str) -> String {
    let mut stage = start(binary);
    let status = stage.connect().send("POST /shutdown HTTP/1.1\r\nHost: localhost\r\n\r\n").reply().status;
    match status {
        202 => {
            assert_eq!(stage.exit_status(), Some(0));
            "stops in order".to_owned()
        }
        404 | 405 => "nobody to ask".to_owned(),
        status => format!("{status}"),
    }
}

fn table() -> String {
    let mut table = String::from(
        "<!-- Written by `RECORD=1 cargo test --test servers survival`, from what the stages did. -->\n\n|  |",
    );
    for binary in STAGES {
        let name = Path::new(binary).file_stem().unwrap().to_string_lossy();
        let _ = write!(table, " `{name}` |");
    }
    let _ = writeln!(table, "\n|---|{}", "---|".repeat(STAGES.len()));
    // The stages do not differ here; a difference would have made the acceptance suite fail.
    for (kind, what) in [
        (Kind::Valid, "valid requests, answered as they should be"),
        (Kind::Refused, "requests to refuse, refused"),
        (Kind::Pipelined, "requests in a row, answered in order"),
    ] {
        let count = cases::all().iter().filter(|case| case.kind == kind).count();
        let _ = writeln!(table, "| {what} |{}", format!(" {count} of {count} |").repeat(STAGES.len()));
    }
    let tried: Vec<Vec<_>> = thread::scope(|scope| {
        let start = |&(_, scenario): &Scenario| STAGES.map(|binary| scope.spawn(move || scenario(binary)));
        let running: Vec<_> = SCENARIOS.iter().map(start).collect();
        running.into_iter().map(|row| row.map(|stage| stage.join().unwrap()).to_vec()).collect()
    });
    for ((what, _), row) in SCENARIOS.iter().zip(tried) {
        let _ = writeln!(table, "| {what} | {} |", row.join(" | "));
    }
    table
}

#[test]
fn the_table_in_the_book_is_what_happens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/generated/servers-survival.md");
    let found = table();
    if std::env::var_os("RECORD").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, found).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, recorded, "if the stages are right, run this test once with RECORD=1");
}
