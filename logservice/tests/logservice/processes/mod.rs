//! Tests sinks in separate processes that are killed, limited or blocked.
//!
//! Each process runs an ignored test in `child`: a test in this file starts the process with a task, and the
//! process reports its progress on standard output.

use crate::place::{LONG, Place, number, numbered, write};
use logservice::sink::FileSink;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

mod child;

struct Process {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Process {
    fn start(does: &str, log: &Path, stderr: Stdio) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--ignored", "--nocapture", "processes::child::does_what_it_is_told"]);
        command.env("CHILD_DOES", does);
        let mut child = command.env("CHILD_LOG", log).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    /// Returns the rest of the next line that contains `word`.
    fn until(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.says.read_line(&mut line).unwrap(), 0, "it ended without {word:?}");
            // The test harness has already written the beginning of the line.
            if let Some(found) = line.find(word) {
                return line[found + word.len()..].trim().to_owned();
            }
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().signal(), Some(9));
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn assert_succeeds(mut self) {
        let mut rest = String::new();
        self.says.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {rest}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn another_process_is_refused_until_the_first_is_killed() {
    let place = Place::new();
    let mut first = Process::start("holds", &place.log, Stdio::inherit());
    first.until("ready");
    let error = FileSink::builder(&place.log).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    let who = format!("process {} writes it: it holds the lock", first.child.id());
    assert!(error.to_string().contains(&who) && error.to_string().contains("app.log.lock"), "{error}");
    let mut second = Process::start("is_refused", &place.log, Stdio::inherit());
    second.until("refused");
    second.assert_succeeds();
    first.kill();
    write(&mut place.open(), "two\n");
    assert_eq!(place.text("app.log"), "one\ntwo\n");
}

/// Kills a process in the middle of its work, and checks that the files contain the lines that the process
/// reported as taken.
#[test]
fn what_was_taken_is_there_after_the_process_was_killed() {
    for lines in [1, 30, 200] {
        let place = Place::new();
        let mut process = Process::start("writes", &place.log, Stdio::inherit());
        let mut taken = 0;
        while taken < lines {
            taken = process.until("taken ").parse().unwrap();
        }
        process.kill();
        write(&mut place.open(), "end\n"); // the lock is free, and the torn line is ended
        let mut numbers = 0;
        // One number is free if the process was killed in the middle of a rotation.
        let highest = place.names().len();
        let rotated: String = (1..=highest).rev().map(|n| place.text(&format!("app.log.{n}"))).collect();
        let all = rotated + &place.text("app.log");
        for line in all.lines() {
            match number(line) {
                Some(number) if number == numbers => numbers += 1,
                _ => assert!(numbers >= taken, "{line:?} after {numbers} lines, {taken} were taken"),
            }
        }
        assert!(numbers >= taken, "{numbers} lines are there, {taken} were taken");
        assert!(all.ends_with("end\n"));
    }
}

#[test]
fn a_relative_path_stays_where_it_was_when_the_process_changes_its_directory() {
    let place = Place::new();
    Process::start("changes_its_directory", &place.log, Stdio::inherit()).assert_succeeds();
    assert_eq!([place.text("moved"), place.text("app.log")], ["one\n", "two\n"]);
}

/// A size limit for files acts like a full disk, in the middle of a line. If the limit's signal is not caught,
/// it kills the process.
#[test]
fn a_file_that_may_not_grow_tears_no_line() {
    let place = Place::new();
    Process::start("is_limited", &place.log, Stdio::inherit()).assert_succeeds();
    assert_eq!(place.text("app.log"), numbered(0..10));
}

#[test]
fn no_file_is_rotated_in_the_middle_of_a_line() {
    let place = Place::new();
    Process::start("is_limited_and_rotated", &place.log, Stdio::inherit()).assert_succeeds();
    let files = place.names().len() - 1;
    let rotated: String = (1..files).rev().map(|number| place.text(&format!("app.log.{number}"))).collect();
    assert!(files > 2);
    assert_eq!(rotated + &place.text("app.log"), numbered(0..10));
}

#[test]
fn a_line_that_was_torn_begins_again_in_the_file_that_is_made_when_this_one_is_moved_away() {
    let place = Place::new();
    Process::start("is_limited_and_moved", &place.log, Stdio::inherit()).assert_succeeds();
    let moved = place.text("moved");
    let whole = moved.rfind('\n').unwrap() + 1;
    assert_eq!(moved.len(), 100);
    assert_eq!(moved[..whole].to_owned() + &place.text("app.log"), numbered(0..10));
}

#[test]
fn a_line_that_was_torn_is_ended_if_somebody_else_has_added_to_it() {
    let place = Place::new();
    Process::start("is_limited_and_added_to", &place.log, Stdio::inherit()).assert_succeeds();
    let text = place.text("app.log");
    let numbers: Vec<_> = text.lines().filter_map(number).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert_eq!(text.lines().count(), 11, "{text}"); // the torn line counts as a line, because the test has added to it
    assert!(text.contains("x\n"), "{text}");
}

/// Changes the log as the tests in `fates` do, with a disk that is sometimes full.
#[test]
fn whatever_happens_to_the_log_while_it_may_not_grow_every_line_is_in_some_file_once() {
    Process::start("has_random_limits", &Place::new().log, Stdio::inherit()).assert_succeeds();
}

#[test]
fn standard_error_that_nobody_reads_does_not_hold_the_writer_and_gets_every_line_once() {
    let place = Place::new();
    let mut process = Process::start("writes_to_stderr", &place.log, Stdio::piped());
    let begun = Instant::now();
    process.until("blocked");
    assert!(begun.elapsed() < LONG);
    let mut text = String::new();
    process.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text == numbered(0..10_000));
    process.assert_succeeds();
}

#[test]
fn standard_error_whose_reader_is_gone_is_an_error() {
    let place = Place::new();
    let mut process = Process::start("writes_to_stderr", &place.log, Stdio::piped());
    process.until("blocked");
    drop(process.child.stderr.take());
    process.until("reader is gone");
    process.assert_succeeds();
}

#[test]
fn standard_output_and_a_path_to_it_take_lines() {
    for test in ["writes_to_stdout", "writes_to_dev_stdout"] {
        let place = Place::new();
        let mut process = Process::start(test, &place.log, Stdio::inherit());
        let mut text = String::new();
        process.says.read_to_string(&mut text).unwrap();
        assert!(text.contains(&numbered(0..1_000)), "{test}");
    }
}

#[test]
fn what_a_sink_warns_of_is_said_on_standard_error_once() {
    let place = Place::new();
    fs::create_dir(place.path("app.log.1")).unwrap(); // no file can take the name of this folder
    let mut process = Process::start("cannot_rotate", &place.log, Stdio::piped());
    let mut text = String::new();
    process.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    process.assert_succeeds();
    let warnings: Vec<_> = text.lines().filter(|line| line.contains("app.log: is not rotated")).collect();
    assert_eq!(warnings.len(), 1, "{text}");
    assert_eq!(place.text("app.log").lines().count(), 20);
}

#[test]
fn on_sighup_the_log_is_opened_anew_beside_hooks_for_the_end_of_the_process() {
    let place = Place::new();
    let mut process = Process::start("reopens", &place.log, Stdio::inherit());
    process.until("ready");
    for round in ["1", "2"] {
        fs::rename(&place.log, place.path(round)).unwrap();
        process.signal(Signal::HUP);
        crate::place::wait_until("the file is there again", || place.log.exists());
    }
    process.signal(Signal::TERM);
    process.until("hook ran");
    assert_eq!(process.child.wait().unwrap().code(), Some(143));
    assert_eq!([place.text("1"), place.text("2"), place.text("app.log")], ["begin\n", "", "end\n"]);
}
