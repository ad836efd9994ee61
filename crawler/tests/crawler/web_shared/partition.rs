//! A test with a network that loses all packets and reports no error. This test needs network namespaces,
//! which `.ci/partition` creates.

use super::engine::Engine;
use super::site::Site;
use super::{is_complete, late, records, said};
use crate::child::{WATCHDOG, ended};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NEAR: &str = "10.77.1.1";
const FAR: &str = "10.77.2.1";

/// The sum of the longest pause between two tries, the time for a connection, and some more time for a busy
/// machine.
const BACK: Duration = Duration::from_secs(20);

/// Tells the router to forward all packets from and to the far process, or to drop all of them.
fn passes(what: &str) {
    for direction in ["from", "to"] {
        let rule = ["-n", "router", "rule", what, direction, FAR, "blackhole"];
        assert!(Command::new("ip").args(rule).status().unwrap().success());
    }
}

#[test]
#[ignore = "needs redis-server, and the namespaces of .ci/partition"]
fn a_process_that_was_cut_off_for_a_minute_comes_back() {
    if TcpListener::bind((NEAR, 0)).is_err() {
        println!("skipped: `.ci/partition` makes the network that is needed");
        return;
    }
    let engine = Engine::with(&["--bind", "*", "--protected-mode", "no"]);
    let site = Site::start(NEAR, 3000, Duration::from_millis(200));
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let url = format!("redis://{NEAR}:{}/0", engine.port);
    let start = |folder: &TempDir, around: &str| -> Child {
        let mut command = Command::new("/usr/bin/env");
        command.args(around.split_whitespace()).arg(env!("CARGO_BIN_EXE_crawl")).arg(&site.start);
        command.args(["--state", "state", "--allow-private", "--json", "--delay", "0", "--frontier", &url]);
        command.args([
            "--crawl",
            "test",
            "--per-site",
            "8",
            "--threads",
            "4",
            "--timeout",
            "5s",
            "--lease",
            "8s",
        ]);
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let near = start(&folders[0], "");
    let far = start(&folders[1], "ip netns exec far");
    assert!(site.wait_until(WATCHDOG, |counts| counts.from(FAR) >= 20 && counts.from(NEAR) >= 20));
    passes("add");
    thread::sleep(Duration::from_secs(1)); // delayed requests have arrived
    let (of_far, of_near) = (site.requests_from(FAR), site.requests_from(NEAR));
    thread::sleep(Duration::from_mins(1));
    assert_eq!(site.requests_from(FAR), of_far, "it was not cut off");
    assert!(site.requests_from(NEAR) > of_near + 100, "the other process has not gone on");
    passes("del");
    let mended = Instant::now();
    // A request that the far process gave up long ago may still arrive now, because the operating system of
    // that process still tries to send it.
    assert!(site.wait_until(BACK, |counts| counts.from(FAR) >= of_far + 10), "it does not come back");
    println!("it is back after {:?}", mended.elapsed());
    site.answers_in(Duration::ZERO);
    let (far, near) = (ended(far), ended(near));
    let ran_out = late(&is_complete(&far)) + late(&is_complete(&near));
    println!("{} again; {ran_out} leases ran out", site.again());
    for sentence in ["it is tried again, and nothing is lost", "the engine answers again"] {
        assert!(said(&far).contains(sentence), "{}", said(&far));
    }
    assert!(records(&folders).keys().eq(&site.urls()));
    assert_eq!(engine.say(&["HINCRBY", "{test}:about", "over", "0"]), ":3000");
    assert!(site.again() <= ran_out, "{} again, and {ran_out} leases ran out", site.again());
}
