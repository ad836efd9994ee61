//! Tests how many system calls a request takes, as `strace` counts them. Without `strace`, the test checks
//! nothing.

use crate::support::{MULTI_REACTOR, POOLED, SINGLE_THREADED, Stage, eventually};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The test compares two runs, so that the calls that a process makes only once do not count.
const REQUESTS: [u64; 2] = [100, 600];

type Calls = BTreeMap<String, u64>;

/// All system calls except the checks of a debug build: in such a build, the standard library checks that a
/// descriptor is open before it closes the descriptor.
fn total(calls: &Calls) -> u64 {
    let checks = if cfg!(debug_assertions) { calls.get("fcntl").copied().unwrap_or(0) } else { 0 };
    calls["total"] - checks
}

fn can_trace() -> bool {
    let mut command = Command::new("strace");
    let traced = command.args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let can = traced.is_ok_and(|status| status.success());
    if !can {
        eprintln!("not counted: there is no strace here, or it may not trace");
    }
    can
}

/// Counts the stage's system calls from its start to its end, while `requests` runs.
fn traced(binary: &'static str, root: &Path, requests: impl FnOnce(&Stage)) -> Calls {
    let summary = root.with_extension("calls");
    // `-D` makes the stage our child process, with `strace` as its descendant, so ending the stage ends
    // both.
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-c", "-o"]).arg(&summary).args([binary, "--quiet", "--root"]).arg(root);
    let stage = Stage::start_command(binary, &mut command);
    requests(&stage);
    stage.stop();
    let mut table = String::new();
    eventually("strace says nothing", || {
        table = fs::read_to_string(&summary).unwrap_or_default();
        table.trim_end().ends_with("total")
    });
    fs::remove_file(summary).unwrap();
    // The columns are "% time seconds usecs/call calls errors syscall"; the column "errors" may be empty.
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter_map(|row| Some(((*row.last()?).to_owned(), row.get(3)?.parse().ok()?))).collect()
}

/// Returns the system calls that one more request takes. Rounds away the calls that only some requests need,
/// such as those after a time-out.
fn per_request(binary: &'static str, root: &Path, requests: impl Fn(&Stage, u64)) -> Calls {
    let [few, many] = REQUESTS.map(|count| traced(binary, root, |stage| requests(stage, count)));
    let more = REQUESTS[1] - REQUESTS[0];
    let each = |(name, calls): (String, u64)| {
        let before = few.get(&name).copied().unwrap_or(0);
        let each = (calls.saturating_sub(before) + more / 2) / more;
        (each > 0).then_some((name, each))
    };
    many.into_iter().filter_map(each).collect()
}

fn root_with_a_small_file() -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("small.bin"), vec![7; 16 * 1024]).unwrap();
    (outer, root)
}

#[test]
fn a_small_file_takes_few_system_calls() {
    if !can_trace() {
        return;
    }
    let (_outer, root) = root_with_a_small_file();
    let kept = per_request(POOLED, &root, |stage, count| {
        let mut client = stage.connect();
        for _ in 0..count {
            assert_eq!(client.get("/small.bin").body.len(), 16 * 1024);
        }
    });
    assert!(total(&kept) <= 4, "{kept:?}");
    // The stage has only one thread, because the threads of a pool wake each other at random. While the
    // clients connect and send, the test keeps the thread busy, so that each request has arrived before the
    // thread reads it; waiting for a request would take two more calls.
    let alone = |path: &'static str| {
        per_request(SINGLE_THREADED, &root, move |stage, count| {
            let mut holder = stage.connect();
            holder.send("GET /hello HTTP/1.1\r\n");
            let ask = |_| {
                let mut client = stage.connect();
                client.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
                client
            };
            let clients: Vec<_> = (0..count).map(ask).collect();
            holder.send("Host: localhost\r\n\r\n");
            assert_eq!(holder.reply().status, 200);
            for mut client in clients {
                assert_eq!(client.reply().status, 200);
                client.assert_closed();
            }
        })
    };
    // The calls: accept and close the connection, read the request, and write the answer; examine and read
    // the file, which is open already.
    let (file, hello) = (alone("/small.bin"), alone("/hello"));
    assert!(total(&file) <= 6, "{file:?}");
    assert!(total(&hello) <= 4, "{hello:?}");
}

/// Returns the number of all calls except those with which a loop waits. The number of waits depends on how
/// many clients have sent something before each wait.
fn but_for_waits(calls: &Calls) -> u64 {
    let waits =
        ["epoll_wait", "epoll_pwait", "sched_yield"].iter().filter_map(|name| calls.get(*name)).sum::<u64>();
    total(calls) - waits
}

#[test]
fn an_event_loop_reads_once_and_writes_once() {
    if !can_trace() {
        return;
    }
    let (_outer, root) = root_with_a_small_file();
    let hello = per_request(MULTI_REACTOR, &root, |stage, count| {
        let mut client = stage.connect();
        for _ in 0..count {
            assert_eq!(client.get("/hello").status, 200);
        }
    });
    assert_eq!(but_for_waits(&hello), 2, "{hello:?}");
    let pipeline = per_request(MULTI_REACTOR, &root, |stage, count| {
        let mut client = stage.connect();
        for _ in 0..count {
            client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".repeat(16));
            for _ in 0..16 {
                assert_eq!(client.reply().status, 200);
            }
        }
    });
    assert_eq!(but_for_waits(&pipeline), 2, "for sixteen: {pipeline:?}");
    let file = per_request(MULTI_REACTOR, &root, |stage, count| {
        let mut client = stage.connect();
        for _ in 0..count {
            assert_eq!(client.get("/small.bin").body.len(), 16 * 1024);
        }
    });
    // The calls besides reading and writing: examine and read the file, which is open already.
    assert_eq!(but_for_waits(&file), 4, "{file:?}");
    let connection = per_request(MULTI_REACTOR, &root, |stage, count| {
        for _ in 0..count {
            let mut client = stage.connect();
            client.send("GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            assert_eq!(client.reply().status, 200);
            client.assert_closed();
        }
    });
    // The calls: accept, register, read, write and close the connection, and try to accept another
    // connection.
    assert!(but_for_waits(&connection) <= 6, "{connection:?}");
}
