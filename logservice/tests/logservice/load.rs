//! Tests `logservice load` as a process: however the process ends, the lines that it reports as written must be
//! in the file.
//!
//! `LOGSERVICE_ROUNDS=200` repeats each test 200 times.

use crate::place::wait_until;
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn rounds(test: impl Fn(&Path)) {
    let rounds =
        env::var("LOGSERVICE_ROUNDS").map_or(1, |rounds| rounds.parse().expect("a number of rounds"));
    for _ in 0..rounds {
        test(tempfile::tempdir().unwrap().path());
    }
}

fn load(file: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logservice"));
    command.arg("load").arg("--json").arg("--file").arg(file).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the report of a process that has ended, and its exit status.
fn report(output: &Output) -> (Value, i32) {
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}; {}", said()));
    (report, output.status.code().unwrap_or_else(|| panic!("{}; {}", output.status, said())))
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

#[cfg(unix)]
fn send(child: &Child, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, signal).unwrap();
}

/// The contents of a file: the message numbers of each thread, in the order of the file, and the number of
/// lines that the file reports as missing.
#[derive(Default)]
struct Found {
    messages: BTreeMap<u64, Vec<u64>>,
    dropped: u64,
}

impl Found {
    /// Parses a file; every line of the file must be whole.
    fn read(text: &str) -> Found {
        let mut found = Found::default();
        assert!(text.is_empty() || text.ends_with('\n'), "the last line is torn");
        for line in text.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let after = |word| words.iter().position(|&other| other == word).map(|at| words[at + 1]);
            if let (Some(thread), Some(message)) = (after("thread"), after("message")) {
                assert!(
                    line.ends_with("the quick brown fox jumps") && line.starts_with("20"),
                    "torn: {line:?}"
                );
                let messages = found.messages.entry(thread.parse().unwrap()).or_default();
                messages.push(message.parse().unwrap());
            } else {
                let at = words
                    .iter()
                    .position(|&word| word == "dropped")
                    .unwrap_or_else(|| panic!("what is {line:?}?"));
                found.dropped += words[at - 2].parse::<u64>().unwrap();
            }
        }
        found
    }

    fn count(&self) -> u64 {
        self.messages.values().map(|messages| messages.len() as u64).sum()
    }

    /// Checks that the messages of each thread are its first messages, in order and without a gap.
    fn assert_no_gap(&self) {
        for (thread, messages) in &self.messages {
            let wrong = messages.iter().zip(0..).find(|&(&message, expected)| message != expected);
            assert_eq!(wrong, None, "of thread {thread}");
        }
    }

    fn assert_order(&self) {
        for (thread, messages) in &self.messages {
            assert!(messages.is_sorted_by(|one, next| one < next), "of thread {thread}");
        }
    }
}

fn read(file: &Path) -> Found {
    Found::read(&fs::read_to_string(file).unwrap())
}

/// Reads the rotated files, the oldest first, and then the log. Also returns the number of rotated files.
fn read_rotated(file: &Path) -> (Found, usize) {
    let rotated = |number: usize| PathBuf::from(format!("{}.{number}", file.display()));
    let count = (1..1_000).take_while(|&number| rotated(number).exists()).count();
    let files = (1..=count).rev().map(rotated).chain([file.to_owned()]);
    let text: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    (Found::read(&text), count)
}

#[test]
fn every_line_is_in_the_file_and_nothing_else() {
    rounds(|directory| {
        let file = directory.join("app.log");
        let (report, status) = report(&load(&file, &["--messages", "5000"]).output().unwrap());
        assert_eq!((&report["accepted"], &report["written"], status), (&20_000.into(), &20_000.into(), 0));
        let found = read(&file);
        assert_eq!(found.count(), 20_000);
        found.assert_no_gap();
    });
}

#[test]
#[cfg(unix)]
fn a_signal_in_the_middle_loses_no_accepted_line() {
    rounds(|directory| {
        let file = directory.join("app.log");
        let child = load(&file, &["--messages", "100000000"]).spawn().unwrap();
        wait_until("lines in the file", || length(&file) > 100_000);
        send(&child, rustix::process::Signal::TERM);
        let (report, status) = report(&child.wait_with_output().unwrap());
        assert_eq!((&report["signal"], &report["lost"], status), (&15.into(), &0.into(), 0));
        let found = read(&file);
        assert_eq!(report["accepted"], found.count());
        found.assert_no_gap();
    });
}

#[test]
#[cfg(unix)]
fn killed_it_leaves_whole_lines_and_the_next_process_goes_on_below() {
    rounds(|directory| {
        let file = directory.join("app.log");
        let mut child = load(&file, &["--messages", "100000000"]).spawn().unwrap();
        wait_until("lines in the file", || length(&file) > 100_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let whole = text.rfind('\n').unwrap() + 1;
        let found = Found::read(&text[..whole]);
        found.assert_no_gap();
        let (report, status) = report(&load(&file, &["--messages", "10"]).output().unwrap());
        assert_eq!((&report["written"], status), (&40.into(), 0));
        let text = fs::read_to_string(&file).unwrap();
        // The torn line of the first process is on a separate line.
        let own = text.lines().skip(text[..whole].lines().count()).filter(|line| line.contains("thread"));
        assert!((40..=41).contains(&own.count()), "{}", &text[whole..]);
        assert!(text.ends_with('\n'));
    });
}

#[test]
fn what_is_dropped_is_counted_where_it_is_missing() {
    rounds(|directory| {
        for policy in ["drop-newest", "drop-oldest"] {
            let file = directory.join(policy);
            let flags = ["--policy", policy, "--capacity", "8192", "--messages", "20000"];
            let (report, status) = report(&load(&file, &flags).output().unwrap());
            let found = read(&file);
            assert_eq!((&report["written"], status), (&found.count().into(), 0), "{policy}");
            assert_eq!(report["dropped"], found.dropped, "{policy}");
            assert_eq!(found.count() + found.dropped, 80_000, "{policy}");
            found.assert_order();
        }
    });
}

#[test]
fn rotated_under_load_no_line_is_torn_or_lost() {
    rounds(|directory| {
        let file = directory.join("app.log");
        let flags = ["--messages", "10000", "--rotate-at", "300000", "--keep", "1000"];
        let (report, status) = report(&load(&file, &flags).output().unwrap());
        assert_eq!((&report["written"], status), (&40_000.into(), 0));
        let (found, rotated) = read_rotated(&file);
        assert!(rotated > 5, "{rotated} files were full");
        assert_eq!(found.count(), 40_000);
        found.assert_no_gap();
        let too_long = (1..=rotated)
            .find(|number| length(&PathBuf::from(format!("{}.{number}", file.display()))) > 300_000);
        assert_eq!(too_long, None);
    });
}

/// A process that has the removed file open can still read the lines in it; the other lines are in the new
/// file.
#[test]
#[cfg(unix)]
fn when_the_file_is_removed_it_goes_on_in_a_new_one() {
    rounds(|directory| {
        let file = directory.join("app.log");
        let child = load(&file, &["--messages", "100000000"]).spawn().unwrap();
        wait_until("lines in the file", || length(&file) > 100_000);
        let mut removed = File::open(&file).unwrap();
        fs::remove_file(&file).unwrap();
        wait_until("lines in a new file", || length(&file) > 100_000);
        send(&child, rustix::process::Signal::TERM);
        let (report, status) = report(&child.wait_with_output().unwrap());
        assert_eq!((&report["lost"], status), (&0.into(), 0));
        let mut text = String::new();
        removed.read_to_string(&mut text).unwrap();
        let (before, after) = (Found::read(&text), read(&file));
        before.assert_no_gap();
        after.assert_order();
        for (thread, messages) in &after.messages {
            let all: u64 = messages.last().map_or(0, |last| last + 1);
            let first = *messages.first().unwrap();
            assert_eq!(messages.len() as u64, all - first, "of thread {thread}");
            assert!(
                first <= before.messages.get(thread).map_or(0, |before| before.len() as u64),
                "of thread {thread}"
            );
        }
    });
}

/// Moves the log and signals the process, like `logrotate`, while a reader follows.
#[test]
#[cfg(unix)]
fn moved_away_and_told_so_it_goes_on_in_a_new_file_and_a_follower_sees_every_line() {
    rounds(|directory| {
        let (file, moved, copy) =
            (directory.join("app.log"), directory.join("app.log.1"), directory.join("copy"));
        let mut follow = Command::new(env!("CARGO_BIN_EXE_logservice"));
        let mut follow = follow
            .arg("follow")
            .arg(&file)
            .stdout(File::create(&copy).unwrap())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let child = load(&file, &["--messages", "100000000"]).spawn().unwrap();
        wait_until("lines in the file", || length(&file) > 100_000);
        // A follower that begins later would start with the new file.
        wait_until("lines in the copy", || length(&copy) > 0);
        fs::rename(&file, &moved).unwrap();
        send(&child, rustix::process::Signal::HUP);
        wait_until("lines in a new file", || length(&file) > 100_000);
        send(&child, rustix::process::Signal::TERM);
        let (report, status) = report(&child.wait_with_output().unwrap());
        assert_eq!((&report["lost"], status), (&0.into(), 0));
        let (found, rotated) = read_rotated(&file);
        assert_eq!((report["accepted"].as_u64(), rotated), (Some(found.count()), 1));
        found.assert_no_gap();
        wait_until("the whole copy", || length(&copy) == length(&file) + length(&moved));
        send(&follow, rustix::process::Signal::INT);
        assert_eq!(follow.wait().unwrap().code(), Some(0));
        read(&copy).assert_no_gap();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_full_is_told_once_and_costs_no_more_than_the_policy_says() {
    rounds(|_| {
        let flags = [
            "--policy",
            "block-for:1ms",
            "--capacity",
            "16384",
            "--messages",
            "100",
            "--stop-within",
            "200ms",
        ];
        let output = load(Path::new("/dev/full"), &flags).output().unwrap();
        let (report, status) = report(&output);
        let count = |name: &str| report[name].as_u64().unwrap();
        assert_eq!((count("written"), status), (0, 1));
        assert_eq!(count("accepted") + count("dropped"), 400);
        assert_eq!(count("accepted"), count("lost"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.matches("No space left").count(), 1, "{said}");
        assert!(said.contains(&format!("{} accepted lines unwritten", count("lost"))), "{said}");
    });
}

/// The process's threads wait for room, which never becomes free.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_a_load_that_a_full_disk_holds_up() {
    rounds(|_| {
        let flags = ["--policy", "block", "--capacity", "16384", "--stop-within", "200ms"];
        let mut child = load(Path::new("/dev/full"), &flags).spawn().unwrap();
        // When the process reports that it cannot write, it has already logged lines, so its signal
        // handlers are set.
        let mut said = [0; 1];
        child.stderr.as_mut().unwrap().read_exact(&mut said).unwrap();
        send(&child, rustix::process::Signal::TERM);
        let (report, status) = report(&child.wait_with_output().unwrap());
        assert_eq!((&report["signal"], &report["written"], status), (&15.into(), &0.into(), 1));
        assert_eq!(report["accepted"], report["lost"]);
        assert!(report["lost"].as_u64() > Some(0));
    });
}

#[test]
#[cfg(unix)]
fn a_fifo_that_nobody_reads_holds_nobody_up() {
    rounds(|directory| {
        let fifo = directory.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let flags = ["--policy", "block-for:1ms", "--messages", "100", "--stop-within", "200ms"];
        let (unread, status) = report(&load(&fifo, &flags).output().unwrap());
        assert_eq!((&unread["lost"], status), (&400.into(), 1));

        let copy = directory.join("copy");
        let mut reader = Command::new("cat").arg(&fifo).stdout(File::create(&copy).unwrap()).spawn().unwrap();
        let (whole, status) = report(&load(&fifo, &["--messages", "1000"]).output().unwrap());
        assert_eq!((&whole["written"], status), (&4_000.into(), 0));
        reader.wait().unwrap();
        let found = read(&copy);
        assert_eq!(found.count(), 4_000);
        found.assert_no_gap();
    });
}

#[test]
fn wrong_usage_is_said_and_has_its_own_status() {
    for flags in [
        ["--policy", "sometimes"],
        ["--policy", "block-for:soon"],
        ["--threads", "0"],
        ["--stop-within", "2 years"],
    ] {
        let output = load(Path::new("unused"), &flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(flags[0]), "{flags:?}");
    }
    let output = load(Path::new("/nowhere/app.log"), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/app.log"));
}
