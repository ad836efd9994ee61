//! Tests a log file that is rotated.

use crate::place::{Place, write};
use logservice::Sink;
use logservice::sink::FileSink;
use std::fs;

fn rotated(place: &Place, bytes: u64, keep: usize) -> FileSink {
    FileSink::builder(&place.log).rotate_at_bytes(bytes).keep(keep).open().unwrap()
}

fn texts<const N: usize>(place: &Place, names: [&str; N]) -> [String; N] {
    names.map(|name| place.text(name))
}

#[test]
fn a_file_is_as_large_as_it_may_be_and_no_larger() {
    let place = Place::new();
    let mut sink = rotated(&place, 8, 9);
    write(&mut sink, "aaa\nbbb\nccc\nddd\ne\n"); // one call, three files
    assert_eq!(texts(&place, ["app.log.2", "app.log.1", "app.log"]), ["aaa\nbbb\n", "ccc\nddd\n", "e\n"]);
    write(&mut sink, "ff\n");
    write(&mut sink, "gg\n"); // two, five, eight bytes: fits
    write(&mut sink, "h\n");
    assert_eq!(texts(&place, ["app.log.1", "app.log"]), ["e\nff\ngg\n", "h\n"]);
    assert!(sink.warning().is_none());
    sink.sync().unwrap();
}

#[test]
fn a_line_that_is_longer_than_a_file_has_one_of_its_own() {
    let place = Place::new();
    let mut sink = rotated(&place, 8, 9);
    write(&mut sink, "a\n123456789\nb\nc\n");
    assert_eq!(texts(&place, ["app.log.2", "app.log.1", "app.log"]), ["a\n", "123456789\n", "b\nc\n"]);
    write(&mut sink, "123456789\n123456789\n");
    assert_eq!(
        texts(&place, ["app.log.2", "app.log.1", "app.log"]),
        ["b\nc\n", "123456789\n", "123456789\n"]
    );
}

#[test]
fn no_more_files_are_kept_than_were_asked_for() {
    let place = Place::new();
    let mut sink = rotated(&place, 2, 3);
    write(&mut sink, "a\nb\nc\nd\ne\nf\n");
    assert_eq!(
        texts(&place, ["app.log.3", "app.log.2", "app.log.1", "app.log"]),
        ["c\n", "d\n", "e\n", "f\n"]
    );
    assert_eq!(place.names(), ["app.log", "app.log.1", "app.log.2", "app.log.3", "app.log.lock"]);
    // As long as there is a free number, a rotation uses it and removes no file.
    fs::remove_file(place.path("app.log.2")).unwrap();
    write(&mut sink, "g\n");
    assert_eq!(
        texts(&place, ["app.log.3", "app.log.2", "app.log.1", "app.log"]),
        ["c\n", "e\n", "f\n", "g\n"]
    );
}

#[test]
fn a_file_that_an_earlier_process_has_filled_is_rotated_and_its_last_line_not_ended() {
    let place = Place::new();
    fs::write(&place.log, "aaa\nbb").unwrap();
    write(&mut rotated(&place, 6, 3), "c\n");
    assert_eq!(texts(&place, ["app.log.1", "app.log"]), ["aaa\nbb", "c\n"]);
}

#[test]
fn a_rotation_that_fails_is_told_once_and_made_good_later() {
    let place = Place::new();
    let mut sink = rotated(&place, 4, 1);
    fs::create_dir(place.path("app.log.1")).unwrap(); // a file cannot take the place of a folder
    write(&mut sink, "a\nb\nc\nd\n");
    let warning = sink.warning().unwrap();
    assert!(
        warning.contains("is not rotated: cannot rename") && warning.contains("app.log.1: Is a dir"),
        "{warning}"
    );
    write(&mut sink, "e\n");
    assert_eq!(sink.warning(), None);
    assert_eq!(place.text("app.log"), "a\nb\nc\nd\ne\n");
    fs::remove_dir(place.path("app.log.1")).unwrap();
    write(&mut sink, "f\n");
    assert_eq!(texts(&place, ["app.log.1", "app.log"]), ["a\nb\nc\nd\ne\n", "f\n"]);
    fs::remove_file(place.path("app.log.1")).unwrap();
    fs::create_dir(place.path("app.log.1")).unwrap();
    write(&mut sink, "g\nh\n");
    assert!(sink.warning().is_some()); // another failure
    assert_eq!(place.text("app.log"), "f\ng\nh\n");
}

#[test]
fn a_file_that_somebody_else_has_moved_is_not_rotated_and_neither_is_the_one_he_made() {
    let place = Place::new();
    let mut sink = rotated(&place, 4, 3);
    write(&mut sink, "a\nb\n");
    fs::rename(&place.log, place.path("moved")).unwrap();
    fs::write(&place.log, "x\n").unwrap();
    write(&mut sink, "c\n");
    assert_eq!(texts(&place, ["moved", "app.log.1", "app.log"]), ["a\nb\n", "", "x\nc\n"]);
}

/// Returns the rotated files that have dates, in the order of the dates and of the numbers after the dates.
fn dated(place: &Place) -> Vec<String> {
    let key = |name: &String| {
        let (date, number) =
            name["app.log.".len()..].split_once('.').unwrap_or((&name["app.log.".len()..], "1"));
        (date.to_owned(), number.parse::<u32>().unwrap())
    };
    let mut names = place.names();
    names.retain(|name| name.len() >= "app.log.2026-11-25T07-33-07".len() && !name.ends_with("text"));
    names.sort_by_key(key);
    names
}

#[test]
fn files_with_dates_stay_until_they_are_the_oldest() {
    let place = Place::new();
    for other in ["app.log.1", "app.log.2026", "app.log.2020-01-01T00-00-00.old.text"] {
        fs::write(place.path(other), "not ours\n").unwrap();
    }
    fs::write(place.path("app.log.2020-01-01"), "the oldest\n").unwrap();
    let zone = jiff::tz::TimeZone::UTC;
    let mut sink = FileSink::builder(&place.log).rotate_at_bytes(2).dated(zone).keep(3).open().unwrap();
    write(&mut sink, "a\nb\n");
    let first = dated(&place)[0].clone();
    write(&mut sink, "c\nd\n");
    assert_eq!(dated(&place)[0], first);
    assert_eq!(place.text("app.log.2020-01-01"), "", "the fourth is one too many");
    write(&mut sink, "e\nf\n");
    let texts: Vec<_> = dated(&place).iter().map(|name| place.text(name)).collect();
    assert_eq!((texts.concat(), place.text("app.log")), ("c\nd\ne\n".into(), "f\n".into()));
    assert_eq!((place.text(&first), place.names().len()), (String::new(), 3 + 2 + 3));
    sink.sync().unwrap();
    assert_eq!(sink.warning(), None);
}

/// Returns the files of a folder that this process has open.
#[cfg(target_os = "linux")]
fn open_files(place: &Place) -> Vec<String> {
    let open =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let own = open.filter(|path| path.starts_with(place.folder.path()));
    let mut names: Vec<_> =
        own.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Checks that the sink closes a rotated file, because an open file keeps its blocks on the disk, even
/// after its removal.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_was_rotated_is_let_go() {
    for syncs in [false, true] {
        let place = Place::new();
        let mut sink = rotated(&place, 2, 2);
        for line in ["a\n", "b\n", "c\n", "d\n", "e\n", "f\n"] {
            write(&mut sink, line);
            if syncs {
                sink.sync().unwrap();
            }
        }
        assert_eq!(open_files(&place), ["app.log", "app.log.lock"]);
        fs::rename(&place.log, place.path("moved")).unwrap();
        write(&mut sink, "g\n");
        assert_eq!(open_files(&place), ["app.log", "app.log.lock"]);
    }
}

#[test]
fn whoever_asks_for_the_disk_means_rotated_files_too() {
    let place = Place::new();
    let mut sink = rotated(&place, 2, 3);
    write(&mut sink, "a\nb\nc\n");
    fs::remove_file(place.path("app.log.1")).unwrap();
    sink.sync().unwrap(); // removed files need no sync
    write(&mut sink, "d\n");
    fs::remove_file(place.path("app.log.1")).unwrap();
    fs::create_dir(place.path("app.log.1")).unwrap(); // in place of the file, a folder, which cannot be opened
    assert!(sink.sync().is_err(), "it was not looked at");
    sink.sync().unwrap(); // the failed sync is not tried again
}
