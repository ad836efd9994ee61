//! A service with threads that log, while other programs move, remove or truncate its file.

use crate::place::{LONG, Place, files_below};
use jiff::tz::TimeZone;
use logservice::sink::{Every, FileSink};
use logservice::{Counts, Durability, Format, Level, LogHandle, LogService, Record};
use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const THREADS: usize = 4;
const LINES: usize = 3_000;

/// A format of the message alone.
pub(crate) struct Bare;

impl Format for Bare {
    fn line(&self, record: &Record<'_>, _: usize, out: &mut String) {
        out.push_str(&record.message.to_string());
    }
}

/// Lets each thread log its lines, and calls `disturb` again and again meanwhile.
fn log_from_threads(log: &LogHandle, mut disturb: impl FnMut()) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let log_lines = |thread: usize| {
            for line in 0..LINES {
                log.say(Level::Info, "", format_args!("{thread} {line}")).unwrap();
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || log_lines(thread))).collect();
        scope.spawn(|| {
            for thread in threads {
                thread.join().unwrap();
            }
            is_done.store(true, Ordering::Release);
        });
        while !is_done.load(Ordering::Acquire) {
            disturb();
            thread::yield_now();
        }
    });
}

/// Checks that each accepted line is in one file, once, and that each file has the lines of a thread in their
/// order.
fn assert_all_there(place: &Place, counts: Counts) {
    assert_eq!(counts.written, (THREADS * LINES) as u64, "{counts:?}");
    let mut times = HashMap::new();
    for path in files_below(place.folder.path()) {
        if path.ends_with("app.log.lock") {
            continue;
        }
        let mut last = [None; THREADS];
        for text in fs::read_to_string(path).unwrap().lines() {
            let (thread, line) = text.split_once(' ').unwrap();
            let (thread, line): (usize, usize) = (thread.parse().unwrap(), line.parse().unwrap());
            assert!(last[thread] < Some(line), "line {line} of thread {thread} after {:?}", last[thread]);
            last[thread] = Some(line);
            *times.entry((thread, line)).or_insert(0) += 1;
        }
    }
    assert_eq!(times.len(), THREADS * LINES);
    assert!(times.values().all(|&times| times == 1));
}

fn service(sink: FileSink) -> LogService {
    LogService::builder().format(Bare).capacity(64 << 10).start(sink).unwrap()
}

#[test]
fn a_log_that_is_rotated_while_threads_log_has_every_line() {
    let place = Place::new();
    let builder = FileSink::builder(&place.log).rotate_at_bytes(2_000).keep(9_999);
    let log = service(builder.rotate_every(Every::Hour, TimeZone::UTC).open().unwrap());
    log_from_threads(&log, || {});
    log.flush(Durability::Disk, LONG).unwrap();
    assert_all_there(&place, log.stop(LONG));
    assert!(place.names().len() > 20);
}

#[test]
fn a_log_that_is_moved_away_while_threads_log_has_every_line() {
    let place = Place::new();
    let log = service(place.open());
    let mut moved = 0;
    log_from_threads(&log, || {
        moved += usize::from(fs::rename(&place.log, place.path(&format!("moved.{moved}"))).is_ok());
        if moved.is_multiple_of(2) {
            log.reopen();
        }
    });
    log.flush(Durability::System, LONG).unwrap();
    assert_all_there(&place, log.stop(LONG));
}

#[test]
fn a_log_without_a_folder_for_a_while_has_every_line() {
    let place = Place::new();
    let folder = place.path("logs");
    fs::create_dir(&folder).unwrap();
    let log = service(FileSink::builder(folder.join("app.log")).open().unwrap());
    let mut moved = 0;
    log_from_threads(&log, || {
        if moved < 5 && folder.join("app.log").exists() {
            moved += 1;
            fs::rename(&folder, place.path(&format!("moved.{moved}"))).unwrap();
            thread::yield_now();
            fs::create_dir(&folder).unwrap();
        }
    });
    log.flush(Durability::System, LONG).unwrap();
    assert_all_there(&place, log.stop(LONG));
}
