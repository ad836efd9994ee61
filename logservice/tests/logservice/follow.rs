//! Tests the reader that follows a log.

use crate::place::{LONG, Place, line, number, numbered, wait_until, write, write_all};
use executor::CancelToken;
use logservice::Follow;
use logservice::sink::{FileBuilder, FileSink};
use rustix::fs::{CWD, Mode, mkfifoat};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A thread that follows the log, and the lines that it has found. Dropping a follower ends its thread.
struct Follower {
    token: CancelToken,
    lines: Receiver<String>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Follower {
    fn start(place: &Place, begin: impl FnOnce(Follow) -> Follow) -> Self {
        let token = CancelToken::new();
        let follow = begin(Follow::new(&place.log, token.clone()));
        let (found, lines) = channel();
        let thread = thread::spawn(move || {
            for line in follow {
                let _ = found.send(String::from_utf8(line.unwrap()).unwrap());
            }
        });
        Self { token, lines, thread: Some(thread) }
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(LONG).unwrap()
    }

    fn assert_next(&self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.next(), *line);
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.token.cancel();
        let is_sound = self.thread.take().unwrap().join().is_ok();
        assert!(is_sound || thread::panicking());
        if !thread::panicking() {
            assert_eq!(self.lines.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
        }
    }
}

fn from_start(place: &Place) -> Follower {
    Follower::start(place, |follow| follow)
}

fn append(place: &Place, text: &str) {
    File::options().append(true).create(true).open(&place.log).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn lines_come_whole_and_as_they_are_written() {
    let place = Place::new();
    append(&place, "one\ntwo\nth");
    let follower = from_start(&place);
    follower.assert_next(&["one", "two"]);
    append(&place, "ree\n\nfive\n");
    follower.assert_next(&["three", "", "five"]);
}

#[test]
fn a_file_that_does_not_exist_is_waited_for() {
    let place = Place::new();
    let follower = Follower::start(&place, |follow| follow.last(0));
    // During the pause, the follower most probably checks for the missing file, so all later lines are new to
    // the follower.
    assert!(follower.lines.recv_timeout(Duration::from_millis(50)).is_err());
    append(&place, "one\n");
    follower.assert_next(&["one"]);
}

#[test]
fn it_begins_with_the_last_lines() {
    let place = Place::new();
    append(&place, &numbered(0..5_000));
    for last in [0, 1, 10, 4_000, 4_999, 5_000, 9_000] {
        let follower = Follower::start(&place, |follow| follow.last(last));
        let first = 5_000_usize.saturating_sub(last);
        if first < 5_000 {
            (first..5_000).for_each(|number| assert_eq!(follower.next() + "\n", line(number)));
        } else {
            // The follower must return no line. The test writes no line here, because it cannot know when the follower
            // begins to read.
            assert!(follower.lines.recv_timeout(Duration::from_millis(20)).is_err());
        }
    }
}

#[test]
fn the_end_is_at_once() {
    let place = Place::new();
    let begun = Instant::now();
    for _ in 0..20 {
        drop(from_start(&place));
    }
    assert!(begun.elapsed() < LONG);
    let token = CancelToken::new();
    token.cancel();
    append(&place, "one\n");
    assert!(Follow::new(&place.log, token).next().is_none());
}

#[test]
fn a_file_that_was_moved_is_read_to_its_end_and_that_is_when_the_next_one_has_lines() {
    let place = Place::new();
    append(&place, "one\n");
    let follower = from_start(&place);
    follower.assert_next(&["one"]);
    let mut old = File::options().append(true).open(&place.log).unwrap();
    fs::rename(&place.log, place.path("moved")).unwrap();
    File::create(&place.log).unwrap(); // as `logrotate` does before it signals the program
    thread::sleep(Duration::from_millis(250)); // most probably long enough for a check of the empty file
    old.write_all(b"two\n").unwrap();
    follower.assert_next(&["two"]);
    old.write_all(b"three\nfo").unwrap();
    append(&place, "five\n");
    follower.assert_next(&["three", "fo", "five"]);
}

#[test]
fn a_file_that_was_removed_and_made_anew_is_found() {
    let place = Place::new();
    append(&place, "one\n");
    let follower = from_start(&place);
    follower.assert_next(&["one"]);
    append(&place, "two\n");
    fs::remove_file(&place.log).unwrap();
    append(&place, "three\n");
    follower.assert_next(&["two", "three"]);
}

#[test]
fn a_truncated_file_is_read_from_its_start() {
    let place = Place::new();
    append(&place, "one\ntwo\n");
    let follower = from_start(&place);
    follower.assert_next(&["one", "two"]);
    File::create(&place.log).unwrap();
    append(&place, "3\n");
    follower.assert_next(&["3"]);
}

#[test]
fn all_files_of_several_rotations_are_read_in_their_order() {
    let place = Place::new();
    let mut sink = FileSink::builder(&place.log).rotate_at_bytes(6).keep(99).open().unwrap();
    write(&mut sink, "a1\n");
    let follower = from_start(&place);
    follower.assert_next(&["a1"]);
    write(&mut sink, "a2\nb1\nb2\nc1\nc2\nd1\nd2\ne1\n"); // four rotations at once
    follower.assert_next(&["a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1"]);
}

#[test]
fn a_line_without_end_comes_in_pieces() {
    let place = Place::new();
    append(&place, &"x".repeat(3_000_000));
    let follower = from_start(&place);
    let pieces = [follower.next(), follower.next()];
    assert!(pieces.iter().all(|piece| piece.len() >= 1 << 20 && piece.len() < 2 << 20));
    append(&place, "\nend\n");
    let rest = follower.next();
    assert_eq!(pieces.map(|piece| piece.len()).iter().sum::<usize>() + rest.len(), 3_000_000);
    follower.assert_next(&["end"]);
}

/// Checks that the program joins the pieces of a long line.
#[test]
fn a_long_line_is_printed_as_one() {
    let place = Place::new();
    let text = "x".repeat(3_000_000) + "\n" + &"y".repeat(1 << 20) + "\nend\n";
    append(&place, &text);
    let mut program = Command::new(env!("CARGO_BIN_EXE_logservice"));
    let mut program = program.arg("follow").arg(&place.log).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = vec![0; text.len()];
    program.stdout.take().unwrap().read_exact(&mut printed).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(printed == text.as_bytes());
}

#[test]
fn what_cannot_be_read_is_an_error_and_is_tried_again() {
    let place = Place::new();
    fs::create_dir(&place.log).unwrap();
    mkfifoat(CWD, place.path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    for path in [&place.log, &place.path("pipe")] {
        let mut follow = Follow::new(path, CancelToken::new());
        for _ in 0..2 {
            assert_eq!(follow.next().unwrap().unwrap_err().to_string(), "it is no file");
        }
    }
}

#[test]
fn every_line_is_found_once_while_the_log_is_rotated() {
    every_line_is_found_once(4_000, |builder| builder);
}

#[test]
fn every_line_is_found_once_while_the_log_is_rotated_and_its_files_have_dates() {
    every_line_is_found_once(1_000, |builder| builder.dated(jiff::tz::TimeZone::UTC));
}

/// Rotates as fast as possible while the follower reads. The follower misses no line, because every file is
/// kept.
fn every_line_is_found_once(lines: usize, names: impl FnOnce(FileBuilder) -> FileBuilder) {
    let place = Place::new();
    let follower = from_start(&place);
    let builder = FileSink::builder(&place.log).rotate_at_bytes(2_000).keep(9_999);
    let mut sink = names(builder).open().unwrap();
    let mut found = 0;
    for batch in 0..lines / 4 {
        write_all(&mut sink, numbered(batch * 4..batch * 4 + 4).as_bytes(), |error| panic!("{error}"));
        for text in follower.lines.try_iter() {
            assert_eq!(number(&text), Some(found));
            found += 1;
        }
        if batch % 50 == 0 {
            // The test lets the follower catch up a little, so that the follower is usually in the middle of
            // the files.
            wait_until("it has found some", || {
                follower.lines.try_iter().for_each(|text| {
                    assert_eq!(number(&text), Some(found));
                    found += 1;
                });
                found > batch * 4 - batch.min(40)
            });
        }
    }
    (found..lines).for_each(|expected| assert_eq!(number(&follower.next()), Some(expected)));
}
