//! Tests a log file that other programs move, remove or truncate.

use crate::place::{Place, line, write, write_all};
use logservice::Sink;
use logservice::sink::{Every, FileSink};
use std::fs;
use std::io::ErrorKind;

#[test]
fn lines_are_appended_to_what_is_there() {
    let place = Place::new();
    write(&mut place.open(), "one\n");
    write(&mut place.open(), "two\n");
    assert_eq!(place.text("app.log"), "one\ntwo\n");
    assert_eq!(place.names(), ["app.log", "app.log.lock"]);
}

#[test]
fn a_line_that_a_killed_process_has_begun_is_ended_first() {
    let place = Place::new();
    fs::write(&place.log, "one\ntw").unwrap();
    let mut sink = place.open();
    assert_eq!(place.text("app.log"), "one\ntw"); // nothing is written before the first line
    write(&mut sink, "three\n");
    write(&mut sink, "four\n");
    assert_eq!(place.text("app.log"), "one\ntw\nthree\nfour\n");
}

#[test]
fn what_cannot_be_opened_is_named() {
    let place = Place::new();
    let error = |path: &str| FileSink::builder(place.path(path)).open().unwrap_err();
    let missing = error("nowhere/app.log");
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().contains("nowhere/app.log: cannot open it: No such file"), "{missing}");
    fs::create_dir(place.path("folder")).unwrap();
    let folder = error("folder");
    assert!(folder.to_string().contains("folder: cannot open it: Is a directory"), "{folder}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let place = Place::new();
    let builder = || FileSink::builder(&place.log).rotate_at_bytes(10);
    let invalid = |result: std::io::Result<FileSink>| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        error.to_string()
    };
    assert!(invalid(builder().keep(0).open()).contains("keep(0)"));
    assert!(invalid(builder().rotate_at_bytes(0).open()).contains("rotate_at_bytes(0)"));
    assert!(invalid(builder().unlocked().open()).contains("unlocked() and rotation"));
    let zone = jiff::tz::TimeZone::UTC;
    let device = FileSink::builder("/dev/null").rotate_every(Every::Day, zone).open();
    assert!(invalid(device).contains("/dev/null"));
    std::os::unix::fs::symlink(place.path("other"), place.path("link")).unwrap();
    assert!(invalid(FileSink::builder(place.path("link")).rotate_at_bytes(10).open()).contains("link"));
    write(&mut FileSink::builder(place.path("link")).open().unwrap(), "one\n");
    assert_eq!(place.text("other"), "one\n");
}

#[test]
fn two_sinks_do_not_write_one_file() {
    let place = Place::new();
    let first = place.open();
    let error = FileSink::builder(&place.log).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    assert!(error.to_string().contains("this process writes it already"), "{error}");
    std::os::unix::fs::symlink(&place.log, place.path("link")).unwrap();
    assert!(FileSink::builder(place.path("link")).open().is_err());
    FileSink::builder(&place.log).unlocked().open().unwrap();
    drop(first);
    drop(place.open());
    drop(place.open());
}

#[test]
fn files_are_made_with_the_mode_that_was_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mut sink = FileSink::builder(&place.log).mode(0o600).rotate_at_bytes(5).open().unwrap();
    write(&mut sink, "one\ntwo\n");
    let mode = |name| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["app.log", "app.log.1", "app.log.lock"].map(mode), [0o600; 3]);
}

#[test]
fn a_removed_file_is_made_anew() {
    let place = Place::new();
    let mut sink = place.open();
    for (before, after) in [("a\n", "b\n"), ("c\n", "d\n")] {
        write(&mut sink, before);
        fs::remove_file(&place.log).unwrap();
        write(&mut sink, after); // at once, although the sink checked a moment ago
        assert_eq!(place.text("app.log"), after);
    }
}

#[test]
fn a_file_that_was_removed_and_made_by_somebody_else_is_found() {
    let place = Place::new();
    let mut sink = place.open();
    write(&mut sink, "a\n");
    fs::remove_file(&place.log).unwrap();
    fs::write(&place.log, "by another program").unwrap();
    write(&mut sink, "b\n");
    assert_eq!(place.text("app.log"), "by another program\nb\n");
}

/// A program that moves files may then compress or remove the moved files, so the sink must not write to
/// them any more.
#[test]
fn lines_go_into_a_new_file_when_the_old_one_is_moved_away() {
    let place = Place::new();
    let mut sink = place.open();
    write(&mut sink, "a\n");
    fs::rename(&place.log, place.path("moved")).unwrap();
    write(&mut sink, "b\n");
    write(&mut sink, "c\n");
    assert_eq!([place.text("moved"), place.text("app.log")], ["a\n", "b\nc\n"]);
}

#[test]
fn when_told_to_reopen_it_leaves_a_file_that_was_moved() {
    let place = Place::new();
    let mut sink = place.open();
    write(&mut sink, "a\n");
    fs::rename(&place.log, place.path("moved")).unwrap();
    sink.reopen().unwrap();
    write(&mut sink, "b\n");
    sink.reopen().unwrap(); // the file is still the log
    write(&mut sink, "c\n");
    assert_eq!(place.text("moved"), "a\n");
    assert_eq!(place.text("app.log"), "b\nc\n");
    sink.sync().unwrap();
}

#[test]
fn a_truncated_file_goes_on_from_its_new_end() {
    let place = Place::new();
    let mut sink = place.open();
    write(&mut sink, "a\nb\n");
    assert_eq!(sink.warning(), None);
    let truncate = || fs::File::options().write(true).open(&place.log).unwrap().set_len(0).unwrap();
    truncate();
    write(&mut sink, "c\n");
    assert_eq!(place.text("app.log"), "c\n");
    let warning = sink.warning().unwrap();
    assert!(
        warning.contains("truncated by another program") && warning.contains("copytruncate"),
        "{warning}"
    );
    truncate();
    write(&mut sink, "d\n");
    assert_eq!(sink.warning(), None, "it is told once");
}

#[test]
fn without_its_folder_it_fails_until_there_is_one() {
    let place = Place::new();
    fs::create_dir(place.path("logs")).unwrap();
    let mut sink = FileSink::builder(place.path("logs/app.log")).open().unwrap();
    write(&mut sink, "a\n");
    fs::remove_dir_all(place.path("logs")).unwrap();
    assert_eq!(sink.write(b"b\n").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(sink.write(b"b\n").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(sink.reopen().unwrap_err().kind(), ErrorKind::NotFound);
    fs::create_dir(place.path("logs")).unwrap();
    write(&mut sink, "b\n");
    assert_eq!(place.text("logs/app.log"), "b\n");
    fs::rename(place.path("logs"), place.path("elsewhere")).unwrap();
    // If the sink has taken the line, the line is in the file that was moved with its folder.
    let is_taken = sink.write(b"c\n").is_ok();
    assert_eq!(sink.write(b"d\n").unwrap_err().kind(), ErrorKind::NotFound);
    fs::create_dir(place.path("logs")).unwrap();
    write(&mut sink, "d\n");
    sink.sync().unwrap();
    assert_eq!(place.text("elsewhere/app.log"), if is_taken { "b\nc\n" } else { "b\n" });
    assert_eq!(place.text("logs/app.log"), "d\n");
}

#[test]
fn a_full_device_is_an_error_and_is_tried_again() {
    let mut sink = FileSink::builder("/dev/full").open().unwrap();
    for _ in 0..3 {
        assert_eq!(sink.write(b"a\n").unwrap_err().kind(), ErrorKind::StorageFull);
    }
    sink.sync().unwrap();
    assert!(!fs::exists("/dev/full.lock").unwrap());
}

#[test]
fn many_lines_at_once_and_a_very_long_one() {
    let place = Place::new();
    let mut sink = place.open();
    let lines: String = (0..20_000).map(line).collect();
    let long = "x".repeat(3_000_000) + "\n";
    write_all(&mut sink, (lines.clone() + &long).as_bytes(), |error| panic!("{error}"));
    assert!(place.text("app.log") == lines + &long);
}
