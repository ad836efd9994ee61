//! Tests everything that can happen to a log file: first in random order, then by several threads at the same
//! time.
//!
//! Afterwards, every line that the sink has taken must be in some file; the test can still read the removed
//! files.

use crate::place::{LONG, Place, files_below, line, number, write_all};
use fastrand::Rng;
use logservice::Sink;
use logservice::sink::FileSink;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Returns the numbers of the whole lines of a file.
fn numbers(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for piece in text.split_inclusive('\n') {
        match piece.strip_suffix('\n').and_then(number) {
            Some(number) => found.push(number),
            None => {
                assert!(is_beginning(piece.trim_end()), "neither a line nor the beginning of one: {piece:?}");
            }
        }
    }
    found
}

/// Returns true if a text can be the beginning of a torn line.
fn is_beginning(text: &str) -> bool {
    let text = text.trim_end_matches('x'); // added by the test
    let digits = text.trim_start_matches('<').trim_end_matches('>').trim_end_matches('.');
    text.is_empty()
        || text == "<"
        || (text.starts_with('<') && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the line numbers in the existing files.
fn kept(folder: &Path) -> Vec<Vec<usize>> {
    let logs = files_below(folder).into_iter().filter(|path| !path.to_string_lossy().ends_with(".lock"));
    logs.map(|path| numbers(&fs::read_to_string(path).unwrap())).collect()
}

fn read(mut removed: File) -> Vec<usize> {
    let mut text = String::new();
    removed.read_to_string(&mut text).unwrap();
    numbers(&text)
}

/// Checks that the lines of each file are consecutive, and that all files together have every line exactly
/// once.
fn assert_complete(mut files: Vec<Vec<usize>>, lines: usize, what: &str) {
    files.retain(|file| !file.is_empty());
    files.sort();
    let all = files.concat();
    if let Some(wrong) = (0..lines).find(|&number| all.get(number) != Some(&number)) {
        panic!("{what}: {:?} in the place of line {wrong} of {lines}", all.get(wrong));
    }
    assert_eq!(all.len(), lines, "{what}");
}

// ----- one thing after the other -----

/// Returns the number of rounds, which is `LOG_ROUNDS`, or a small default.
pub(crate) fn rounds() -> u64 {
    std::env::var("LOG_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(8)
}

/// A function that sets the process's size limit for files; it needs a process in which the limit may affect all
/// threads.
type Limit<'a> = &'a dyn Fn(Option<u64>);

/// Writes lines, and at random changes the log as other programs may change it.
pub(crate) fn run(seed: u64, limit: Limit<'_>) {
    let place = Place::new();
    let mut random = Rng::with_seed(seed);
    let logs = place.path("logs");
    fs::create_dir(&logs).unwrap();
    let log = logs.join("app.log");
    let at = [400, 3_000, u64::MAX][random.usize(..3)];
    let open = || FileSink::builder(&log).rotate_at_bytes(at).keep(10_000).open().unwrap();
    let mut sink = open();
    let (mut lines, mut moved, mut removed) = (0, 0, Vec::new());
    for _ in 0..150 {
        let mut away = |what: &str| {
            moved += 1;
            place.path(&format!("{what}.{moved}"))
        };
        match random.u8(..40) {
            0 | 10 => fs::rename(&log, away("moved")).unwrap_or_default(),
            1 | 11 => {
                removed.extend(fs::read_to_string(&log)); // the lines in this file are lost with it
                let _ = fs::remove_file(&log);
            }
            2 | 12 => {
                fs::rename(&logs, away("folder")).unwrap();
                fs::create_dir(&logs).unwrap();
            }
            3 | 13 => sink.reopen().unwrap(),
            4 => sink.sync().unwrap(),
            5 | 15 => {
                drop(sink);
                sink = open();
            }
            6 => thread::sleep(std::time::Duration::from_millis(11)), // long enough that the sink checks again
            7 | 17 => {
                let _ = File::options().append(true).open(&log).map(|mut file| file.write_all(b"x"));
                drop(sink); // a process that was killed in the middle of a line
                sink = open();
            }
            8 | 18 => {
                let there = fs::metadata(&log).map_or(0, |metadata| metadata.len());
                limit(Some(there + random.u64(..300)));
            }
            _ => {
                let more = random.usize(1..=12);
                let text: String = (lines..lines + more).map(line).collect();
                let mut failures = 0;
                write_all(&mut sink, text.as_bytes(), |_| {
                    failures += 1;
                    match failures {
                        1 if random.u8(..3) == 0 => fs::rename(&log, away("moved")).unwrap_or_default(),
                        1 if random.u8(..3) == 0 => {
                            removed.extend(fs::read_to_string(&log));
                            let _ = fs::remove_file(&log);
                        }
                        _ => limit(None),
                    }
                });
                lines += more;
            }
        }
    }
    limit(None);
    let mut files = kept(place.folder.path());
    files.extend(removed.iter().map(|text| numbers(text)));
    assert_complete(files, lines, &format!("seed {seed}"));
}

#[test]
fn whatever_happens_to_the_log_every_line_is_in_some_file_once() {
    for seed in 0..rounds() {
        run(seed, &|_| {});
    }
}

// ----- at the same time -----

/// Writes a few lines at once, repeatedly, until the other thread has done its work. Returns the number of
/// lines that were written.
fn write_meanwhile(place: &Place, rotate_at: u64, taken: &AtomicUsize, work: impl FnOnce() + Send) -> usize {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            work();
            is_done.store(true, Ordering::Release);
        });
        let mut sink = FileSink::builder(&place.log).rotate_at_bytes(rotate_at).keep(100_000).open().unwrap();
        let (mut lines, begun) = (0, Instant::now());
        while !is_done.load(Ordering::Acquire) {
            let more = 1 + lines % AT_ONCE;
            let text: String = (lines..lines + more).map(line).collect();
            write_all(&mut sink, text.as_bytes(), |error| assert!(begun.elapsed() < LONG, "{error}"));
            lines += more;
            taken.store(lines, Ordering::Release);
        }
        lines
    })
}

const AT_ONCE: usize = 4;

#[test]
fn lines_are_neither_lost_nor_doubled_while_files_are_moved_away() {
    for rotate_at in [2_000, u64::MAX] {
        let place = Place::new();
        let lines = write_meanwhile(&place, rotate_at, &AtomicUsize::new(0), || {
            let mut moved = 0;
            while moved < 60 {
                moved += usize::from(fs::rename(&place.log, place.path(&format!("moved.{moved}"))).is_ok());
            }
        });
        assert_complete(kept(place.folder.path()), lines, "moved away");
    }
}

/// Checks that after the removal of a file, each line that the sink takes is written to another file.
#[test]
fn lines_are_not_lost_while_files_are_removed() {
    for rotate_at in [2_000, u64::MAX] {
        let (place, taken) = (Place::new(), AtomicUsize::new(0));
        let mut removed: Vec<(File, usize)> = Vec::new();
        let lines = write_meanwhile(&place, rotate_at, &taken, || {
            while removed.len() < 60 {
                // While the sink rotates, the log's name may refer to another file at the moment when the
                // test removes the log. So the test renames the log before it removes the log.
                let doomed = if rotate_at == u64::MAX { place.log.clone() } else { place.path("doomed") };
                if rotate_at != u64::MAX && fs::rename(&place.log, &doomed).is_err() {
                    continue;
                }
                let Ok(file) = File::open(&doomed) else { continue };
                fs::remove_file(&doomed).unwrap();
                removed.push((file, taken.load(Ordering::Acquire)));
            }
        });
        let mut is_there = vec![0; lines];
        for number in kept(place.folder.path()).concat() {
            is_there[number] += 1;
        }
        assert!(is_there.iter().all(|&times| times <= 1), "a line is doubled in the files that are kept");
        for (file, taken) in removed {
            // Lines that were written during the removal may be read from either file.
            let before = 0..taken + AT_ONCE;
            read(file)
                .iter()
                .filter(|number| before.contains(number))
                .for_each(|&number| is_there[number] += 1);
        }
        let lost: Vec<usize> = (0..lines).filter(|&number| is_there[number] == 0).collect();
        assert!(lost.is_empty(), "of {lines} lines are lost: {lost:?}");
    }
}
