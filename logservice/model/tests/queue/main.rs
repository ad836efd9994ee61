//! Checks the log service's queue, with its writer, under many kinds of schedules.
#![cfg(feature = "shuttle")]

extern crate executor_model as executor;

/// Replaces the service's `door`, which is `pub(crate) use std::{sync, time}`.
mod door {
    pub(crate) use executor_model::program::{sync, time};
}

#[path = "../../../src/queue/mod.rs"]
#[allow(dead_code, unreachable_pub)] // only the service uses some functions of this module
mod queue;

#[path = "../../../src/sink/contract.rs"]
#[allow(dead_code, unreachable_pub)] // no test here reopens a file
mod sink;

#[path = "../../../src/writer.rs"]
mod writer;

use door::sync::{Arc, Condvar, Mutex};
use door::time::Duration;
use executor_model::program::thread::{self, JoinHandle};
use queue::{Batch, Counts, Flushed, LineQueue, NotLogged, Overflow, Room};
use std::io;
use writer::{Voice, Writer};

/// Runs the body under schedules that switch threads at any step, and under schedules that let one thread
/// run for long.
fn check(body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(body.clone(), 1_000);
    shuttle::check_pct(body, 1_000, 3);
}

/// The output of the sink: a letter for each line, and a digit where lines are missing.
#[derive(Default)]
struct Page {
    text: Mutex<String>,
    grows: Condvar,
    on_disk: Mutex<String>,
    /// True if the sink accepts no line.
    is_shut: Mutex<bool>,
}

impl Page {
    fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    fn wait_for(&self, letter: char) {
        drop(self.grows.wait_while(self.text.lock().unwrap(), |text| !text.contains(letter)).unwrap());
    }
}

/// A sink that fails a given number of times before each line.
struct Pen {
    page: Arc<Page>,
    failures: u32,
    left: u32,
    syncs: u32,
}

impl sink::Sink for Pen {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        thread::yield_now();
        if *self.page.is_shut.lock().unwrap() || self.left > 0 {
            self.left = self.left.saturating_sub(1);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left = self.failures;
        // A sink that must fail takes only one line in each call.
        let taken = if self.failures > 0 { 1 } else { lines.len() };
        self.page.text.lock().unwrap().push_str(str::from_utf8(&lines[..taken]).unwrap());
        self.page.grows.notify_all();
        Ok(taken)
    }

    /// Every second call of `sync` fails.
    fn sync(&mut self) -> io::Result<()> {
        self.syncs += 1;
        thread::yield_now();
        if self.syncs.is_multiple_of(2) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        *self.page.on_disk.lock().unwrap() = self.page.text();
        Ok(())
    }

    fn name(&self) -> String {
        "a page".into()
    }
}

struct Quiet;

impl Voice for Quiet {
    fn say(&self, _: &str) {}

    fn missing(&self, count: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(count.to_string().as_bytes());
    }
}

/// A queue with its writer, for lines of one byte.
struct Log {
    queue: Arc<LineQueue>,
    page: Arc<Page>,
    writer: JoinHandle<()>,
}

impl Log {
    fn start(lines: usize, failures: u32, is_shut: bool) -> Log {
        let room = Room { bytes: 100, lines };
        let (queue, page) = (Arc::new(LineQueue::new(room)), Arc::<Page>::default());
        *page.is_shut.lock().unwrap() = is_shut;
        let pen = Pen { page: Arc::clone(&page), failures, left: failures, syncs: 0 };
        let writer = Writer::new(Arc::clone(&queue), pen, Quiet);
        let writer = thread::spawn(move || writer.run(Batch::new(room)));
        Log { queue, page, writer }
    }

    /// Puts the letters in their order, and returns the accepted letters.
    fn put(&self, letters: &'static str, overflow: Overflow) -> JoinHandle<String> {
        let queue = Arc::clone(&self.queue);
        thread::spawn(move || {
            letters.chars().filter(|&letter| put(&queue, letter, overflow).is_ok()).collect()
        })
    }

    fn stop(self) -> (String, Counts) {
        assert_eq!(self.queue.stop(None), None, "nothing is lost");
        self.writer.join().unwrap();
        (self.page.text(), self.queue.counts())
    }
}

fn put(queue: &LineQueue, letter: char, overflow: Overflow) -> Result<(), NotLogged> {
    queue.put(&[letter as u8], overflow)
}

/// Checks that `page` contains each letter of `accepted` exactly once, in the same order.
fn assert_written(page: &str, accepted: &str) {
    let own: String = page.chars().filter(|&letter| accepted.contains(letter)).collect();
    assert_eq!(own, accepted, "of the page {page:?}");
}

fn missing(page: &str) -> u64 {
    page.chars().filter_map(|letter| letter.to_digit(10)).map(u64::from).sum()
}

#[test]
fn stopped_at_any_moment_it_writes_what_it_has_accepted_in_order_and_once() {
    for failures in [0, 1] {
        check(move || {
            let log = Log::start(1 + failures as usize, failures, false);
            let clients = [log.put("abc", Overflow::Block), log.put("xy", Overflow::Block)];
            let (page, counts) = log.stop();
            let accepted = clients.map(|client| client.join().unwrap());
            for accepted in &accepted {
                assert_written(&page, accepted);
            }
            let count = accepted.iter().map(String::len).sum::<usize>();
            assert_eq!((page.len(), counts.accepted, counts.written), (count, count as u64, count as u64));
        });
    }
}

#[test]
fn a_line_wakes_the_writer_and_a_flush_waits_for_no_later_ones() {
    check(|| {
        let log = Log::start(4, 0, false);
        put(&log.queue, 'a', Overflow::Block).unwrap();
        log.page.wait_for('a');
        put(&log.queue, 'b', Overflow::Block).unwrap();
        assert_eq!(log.queue.flush(false, None), Flushed::Done);
        assert_eq!(log.page.text(), "ab");
        log.stop();
    });
}

#[test]
fn blocked_clients_go_on_when_there_is_room_and_when_there_never_will_be() {
    check(|| {
        let log = Log::start(1, 0, false);
        let clients = [log.put("ab", Overflow::Block), log.put("xy", Overflow::Block)];
        assert!(clients.map(|client| client.join().unwrap()) == ["ab", "xy"]);
        log.stop();
    });
    check(|| {
        let log = Log::start(1, 0, true);
        let client = log.put("abcd", Overflow::Block);
        let second = Duration::from_secs(1);
        let lost = log.queue.stop(door::time::Instant::now().checked_add(second));
        let accepted = client.join().unwrap();
        log.writer.join().unwrap();
        assert_eq!(lost.unwrap_or(0), accepted.len() as u64, "the sink takes nothing");
        assert_eq!(log.queue.stop(None), None, "it is told once");
        let counts = log.queue.counts();
        assert_eq!((counts.accepted, counts.written), (accepted.len() as u64, 0));
        assert_eq!(counts.refused + counts.accepted, 4);
        assert_eq!(
            log.queue.flush(false, None),
            if accepted.is_empty() { Flushed::Done } else { Flushed::Ended }
        );
    });
}

#[test]
fn a_stop_lets_blocked_clients_go_before_the_sink_works_again() {
    check(|| {
        let log = Log::start(1, 0, true);
        let client = log.put("abcd", Overflow::Block);
        let queue = Arc::clone(&log.queue);
        let stop = thread::spawn(move || queue.stop(None));
        let accepted = client.join().unwrap();
        *log.page.is_shut.lock().unwrap() = false;
        assert_eq!(stop.join().unwrap(), None);
        assert_eq!(log.stop().0, accepted);
    });
}

#[test]
fn a_line_that_waits_for_room_waits_no_longer_than_it_may() {
    check(|| {
        let log = Log::start(1, 0, true);
        let client = log.put("abc", Overflow::BlockFor(Duration::from_secs(1)));
        let accepted = client.join().unwrap();
        assert!(accepted.len() < 3, "one is being written, and one waits");
        log.queue.stop(Some(door::time::Instant::now()));
        log.writer.join().unwrap();
        assert_eq!(log.queue.counts().dropped, 3 - accepted.len() as u64);
    });
}

#[test]
fn every_line_that_is_dropped_is_counted_where_it_is_missing() {
    for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
        check(move || {
            let log = Log::start(2, 1, false);
            let clients = [log.put("abcd", overflow), log.put("xyz", overflow)];
            let accepted = clients.map(|client| client.join().unwrap());
            let (page, counts) = log.stop();
            let letters = page.chars().filter(char::is_ascii_alphabetic).count() as u64;
            assert_eq!((counts.written, counts.dropped), (letters, missing(&page)), "{page}");
            assert_eq!((letters + counts.dropped, counts.waiting()), (7, 0), "{page}");
            match overflow {
                Overflow::DropNewest => accepted.iter().for_each(|accepted| assert_written(&page, accepted)),
                _ => assert!(accepted == ["abcd", "xyz"], "the newest is always accepted"),
            }
        });
    }
}

#[test]
fn a_flush_to_the_disk_is_true_to_what_the_disk_said() {
    check(|| {
        let log = Log::start(4, 0, false);
        let queue = Arc::clone(&log.queue);
        let other = thread::spawn(move || queue.flush(true, None));
        put(&log.queue, 'a', Overflow::Block).unwrap();
        let own = log.queue.flush(true, None);
        let on_disk = log.page.on_disk.lock().unwrap().clone();
        assert_eq!(log.page.text(), "a");
        match own {
            Flushed::Done => assert_eq!(on_disk, "a"),
            own => assert_eq!(own, Flushed::SyncFailed),
        }
        assert!([Flushed::Done, Flushed::SyncFailed].contains(&other.join().unwrap()));
        log.stop();
    });
}
