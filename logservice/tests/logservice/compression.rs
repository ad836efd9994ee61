//! Tests that a thread compresses rotated files while other files are rotated.

use crate::place::{Place, line, numbered, wait_until, write, write_all};
use jiff::tz::TimeZone;
use logservice::Sink;
use logservice::sink::{FileBuilder, FileSink};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn builder(place: &Place, bytes: u64, keep: usize) -> FileBuilder {
    FileSink::builder(&place.log)
        .rotate_at_bytes(bytes)
        .keep(keep)
        .dated(TimeZone::UTC)
        .mode(0o600)
        .compressed()
}

/// Returns the ends of the rotated files' names, in the order of the rotations.
fn rotated(place: &Place) -> Vec<String> {
    let names = place.names().into_iter().filter(|name| name.len() > "app.log.gz.part".len());
    let mut names: Vec<_> = names.map(|name| name["app.log.".len()..].to_owned()).collect();
    names.sort_by_key(|name| {
        let (date, end) = name.split_at("2026-11-25T07-33-07".len());
        (date.to_owned(), end.split('.').find_map(|number| number.parse().ok()).unwrap_or(1))
    });
    names
}

fn all_are_compressed(place: &Place) -> bool {
    rotated(place).iter().all(|name| Path::new(name).extension().is_some_and(|end| end == "gz"))
}

/// Returns a file's text, decompressed by the real `gzip`, which every system has.
fn text_of(place: &Place, name: &str) -> String {
    let output =
        Command::new("gzip").arg("-dc").arg(place.path(&format!("app.log.{name}"))).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_line_is_in_a_compressed_file_once() {
    let place = Place::new();
    let mut sink = builder(&place, 2_000, 1_000).open().unwrap();
    (0..500).for_each(|batch| {
        write_all(&mut sink, numbered(batch * 4..batch * 4 + 4).as_bytes(), |error| panic!("{error}"));
    });
    wait_until("all are compressed", || all_are_compressed(&place));
    assert!(place.names().len() > 40 && sink.warning().is_none(), "{:?}", sink.warning());
    assert!(!place.names().contains(&"app.log.gz.part".to_owned()));
    let name = rotated(&place)[0].clone();
    let made = fs::metadata(place.path(&format!("app.log.{name}"))).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o600);
    let texts: String = rotated(&place).iter().map(|name| text_of(&place, name)).collect();
    assert!(texts + &place.text("app.log") == (0..2_000).map(line).collect::<String>());
    sink.sync().unwrap();
}

#[test]
fn what_a_process_has_left_is_compressed_by_the_next_one_and_old_files_are_removed() {
    let place = Place::new();
    fs::write(place.path("app.log.2026-11-25T07-33-07"), "a\n").unwrap();
    fs::write(place.path("app.log.2026-11-25T07-33-07.gz"), "not whole").unwrap(); // killed in the middle
    fs::write(place.path("app.log.gz.part"), "a part").unwrap();
    let mut sink = builder(&place, 2, 2).open().unwrap();
    wait_until("it is compressed", || all_are_compressed(&place));
    assert_eq!(text_of(&place, "2026-11-25T07-33-07.gz"), "a\n");
    for line in ["b\n", "c\n", "d\n", "e\n"] {
        write(&mut sink, line);
        wait_until("it is compressed", || all_are_compressed(&place));
    }
    let texts: String = rotated(&place).iter().map(|name| text_of(&place, name)).collect();
    assert_eq!(texts, "c\nd\n");
}

#[test]
fn a_failure_is_told_and_leaves_the_file() {
    let place = Place::new();
    fs::create_dir(place.path("app.log.gz.part")).unwrap();
    let mut sink = builder(&place, 2, 9).open().unwrap();
    write(&mut sink, "a\nb\n");
    let mut warning = None;
    wait_until("it is told", || {
        warning = sink.warning();
        warning.is_some()
    });
    let warning = warning.unwrap();
    assert!(warning.contains("cannot compress") && warning.contains("leaves it as it is"), "{warning}");
    fs::remove_dir(place.path("app.log.gz.part")).unwrap();
    write(&mut sink, "c\n");
    wait_until("both are compressed", || all_are_compressed(&place));
    let texts: String = rotated(&place).iter().map(|name| text_of(&place, name)).collect();
    assert_eq!(texts, "a\nb\n");
}

#[test]
fn without_dates_it_is_refused() {
    let place = Place::new();
    let error = FileSink::builder(&place.log).rotate_at_bytes(9).compressed().open().unwrap_err();
    assert!(error.to_string().contains("compressed() without dated()"), "{error}");
    let error = FileSink::builder(&place.log).dated(TimeZone::UTC).open().unwrap_err();
    assert!(error.to_string().contains("dated() without rotation"), "{error}");
}
