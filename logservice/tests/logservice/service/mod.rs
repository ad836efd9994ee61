//! Tests the service with a sink that the test opens and closes.

mod sinks; // sinks that fail, or that log

use crate::place::LONG;
use logservice::{Counts, Durability, FlushError, Level, LogService, NotLogged, Overflow, Record, Sink};
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Default, PartialEq)]
enum Manner {
    #[default]
    Takes,
    Fails,
    Panics,
}

/// A sink that keeps its lines, and accepts them only while the test allows it.
#[derive(Clone, Default)]
struct Kept(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    text: String,
    manner: Manner,
    /// The number of calls in which the sink accepted nothing.
    refused: usize,
    syncs: usize,
    sync_fails: bool,
    reopened: usize,
    /// True if the sink accepts one line per call.
    one_by_one: bool,
}

impl Kept {
    fn shut() -> Kept {
        let kept = Kept::default();
        kept.set(|state| state.manner = Manner::Fails);
        kept
    }

    fn set<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
        changed
    }

    fn open(&self) {
        self.set(|state| state.manner = Manner::Takes);
    }

    fn wait_until(&self, is_so: impl Fn(&State) -> bool) {
        let state = self.0.0.lock().unwrap();
        let (state, waited) = self.0.1.wait_timeout_while(state, LONG, |state| !is_so(state)).unwrap();
        assert!(!waited.timed_out(), "after {LONG:?}: {:?}", state.text);
    }

    fn lines(&self) -> Vec<String> {
        self.set(|state| state.text.lines().map(str::to_owned).collect())
    }
}

impl Sink for Kept {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(lines).unwrap();
        assert!(text.ends_with('\n'), "{text:?}");
        let manner = self.set(|state| {
            state.refused += usize::from(state.manner != Manner::Takes);
            state.manner
        });
        match manner {
            Manner::Takes => {}
            Manner::Fails => return Err(io::ErrorKind::StorageFull.into()),
            Manner::Panics => panic!("as the test has asked"),
        }
        self.set(|state| {
            let taken = if state.one_by_one { text.find('\n').unwrap() + 1 } else { text.len() };
            state.text.push_str(&text[..taken]);
            Ok(taken)
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.set(|state| {
            state.syncs += 1;
            if state.sync_fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.set(|state| state.reopened += 1);
        Ok(())
    }

    fn name(&self) -> String {
        "what the test keeps".into()
    }
}

/// A format that writes only the message.
fn bare(record: &Record<'_>, _: usize, out: &mut String) {
    std::fmt::Write::write_fmt(out, record.message).unwrap();
}

fn start(kept: &Kept, lines: usize, overflow: Overflow) -> LogService {
    let builder = LogService::builder().format(bare).overflow_of_all(overflow);
    // The tests' lines have 64 bytes, because this is the smallest limit that the service allows.
    builder.longest_line(64).capacity(64 * lines).start(kept.clone()).unwrap()
}

/// Returns a line of 64 bytes, including its line feed.
fn line(number: usize) -> String {
    format!("{number:063}")
}

fn put(service: &LogService, number: usize) -> Result<(), NotLogged> {
    service.say(Level::Info, "test", format_args!("{}", line(number)))
}

/// Fills both buffers: line 0 goes into the buffer that is being written, and the lines from 1 on go into the
/// other buffer. Afterwards the writer waits for the sink, and no line moves.
fn fill(service: &LogService, kept: &Kept, lines: usize) {
    put(service, 0).unwrap();
    kept.wait_until(|state| state.refused > 0);
    (1..=lines).for_each(|number| put(service, number).unwrap());
}

fn books(counts: Counts) -> [u64; 4] {
    [counts.accepted, counts.written, counts.dropped, counts.refused]
}

#[test]
fn what_is_accepted_is_written_in_order_and_counted() {
    let kept = Kept::default();
    let service = start(&kept, 10, Overflow::Block);
    thread::scope(|scope| {
        for thread in 0..4 {
            let service = &service;
            scope.spawn(move || (0..1_000).for_each(|number| put(service, thread * 1_000 + number).unwrap()));
        }
    });
    let counts = service.stop(LONG);
    assert_eq!(books(counts), [4_000, 4_000, 0, 0]);
    let numbers: Vec<usize> = kept.lines().iter().map(|line| line.parse().unwrap()).collect();
    for thread in 0..4 {
        let own = numbers.iter().copied().filter(|number| number / 1_000 == thread);
        assert!(own.eq(thread * 1_000..(thread + 1) * 1_000), "of thread {thread}");
    }
}

#[test]
fn nothing_is_accepted_after_the_stop_and_the_refusal_is_counted() {
    let kept = Kept::default();
    let service = start(&kept, 10, Overflow::Block);
    put(&service, 0).unwrap();
    service.stop(LONG);
    assert_eq!(put(&service, 1), Err(NotLogged::Stopped));
    assert_eq!(books(service.counts()), [1, 1, 0, 1]);
    assert_eq!(kept.lines(), [line(0)]);
    assert_eq!(books(service.stop(LONG)), [1, 1, 0, 1], "a second stop");
}

#[test]
fn dropping_the_service_writes_what_it_has() {
    let kept = Kept::default();
    let service = start(&kept, 10, Overflow::Block);
    (0..10).for_each(|number| put(&service, number).unwrap());
    drop(service);
    assert_eq!(kept.lines().len(), 10);
}

#[test]
fn a_full_buffer_blocks_until_there_is_room() {
    let kept = Kept::shut();
    let service = start(&kept, 3, Overflow::Block);
    fill(&service, &kept, 3);
    thread::scope(|scope| {
        let blocked = scope.spawn(|| put(&service, 4));
        assert!(!blocked.is_finished());
        kept.open();
        assert_eq!(blocked.join().unwrap(), Ok(()));
    });
    assert_eq!(books(service.stop(LONG)), [5, 5, 0, 0]);
    assert_eq!(kept.lines(), [0, 1, 2, 3, 4].map(line));
}

#[test]
fn a_stop_lets_go_of_those_that_wait_for_room() {
    let kept = Kept::shut();
    let service = start(&kept, 3, Overflow::Block);
    fill(&service, &kept, 3);
    thread::scope(|scope| {
        let blocked: Vec<_> = (4..7)
            .map(|number| {
                scope.spawn({
                    let service = &service;
                    move || put(service, number)
                })
            })
            .collect();
        let counts = service.stop(Duration::from_millis(50));
        for blocked in blocked {
            assert_eq!(blocked.join().unwrap(), Err(NotLogged::Stopped));
        }
        assert_eq!((counts.accepted, counts.written, counts.waiting()), (4, 0, 4), "and it gave up");
    });
    assert_eq!(service.counts().refused, 3);
}

#[test]
fn waiting_for_room_has_an_end() {
    let kept = Kept::shut();
    let at_most = Duration::from_millis(20);
    let service = start(&kept, 3, Overflow::BlockFor(at_most));
    fill(&service, &kept, 3);
    let began = Instant::now();
    assert_eq!(put(&service, 4), Err(NotLogged::Full));
    assert!(began.elapsed() >= at_most);
    kept.open();
    service.flush(Durability::System, LONG).unwrap();
    put(&service, 5).unwrap();
    assert_eq!(books(service.stop(LONG)), [5, 5, 1, 0]);
    assert_eq!(kept.lines()[4], "1 line dropped here: the log's buffer was full");
    assert_eq!(kept.lines()[5], line(5));
}

#[test]
fn the_newest_is_dropped_and_a_line_says_how_many() {
    let kept = Kept::shut();
    let service = start(&kept, 3, Overflow::DropNewest);
    fill(&service, &kept, 3);
    (4..9).for_each(|number| assert_eq!(put(&service, number), Err(NotLogged::Full)));
    kept.open();
    let counts = service.stop(LONG);
    assert_eq!(books(counts), [4, 4, 5, 0]);
    let missing = "5 lines dropped here: the log's buffer was full".to_owned();
    assert_eq!(kept.lines(), [line(0), line(1), line(2), line(3), missing]);
}

#[test]
fn the_oldest_is_dropped_and_a_line_says_how_many() {
    let kept = Kept::shut();
    let service = start(&kept, 3, Overflow::DropOldest);
    fill(&service, &kept, 3);
    (4..9).for_each(|number| put(&service, number).unwrap());
    kept.open();
    let counts = service.stop(LONG);
    assert_eq!(books(counts), [9, 4, 5, 0]);
    assert_eq!((counts.dropped_accepted, counts.waiting()), (5, 0));
    let missing = "5 lines dropped here: the log's buffer was full".to_owned();
    assert_eq!(kept.lines(), [line(0), missing, line(6), line(7), line(8)]);
}

#[test]
fn each_level_has_a_policy_of_its_own() {
    let kept = Kept::shut();
    let builder = LogService::builder().format(bare).longest_line(64).capacity(64 * 3);
    let builder = builder.overflow_of_all(Overflow::DropNewest).overflow(Level::Debug, Overflow::DropOldest);
    let service = builder.start(kept.clone()).unwrap();
    let put = |level, number| service.say(level, "test", format_args!("{}", line(number)));
    put(Level::Error, 0).unwrap();
    kept.wait_until(|state| state.refused > 0);
    put(Level::Debug, 1).unwrap();
    put(Level::Error, 2).unwrap();
    put(Level::Error, 3).unwrap();
    assert_eq!(put(Level::Error, 4), Err(NotLogged::Full));
    put(Level::Debug, 5).unwrap();
    kept.open();
    assert_eq!(books(service.stop(LONG)), [5, 4, 2, 0]);
    let one = "1 line dropped here: the log's buffer was full".to_owned();
    assert_eq!(kept.lines(), [line(0), one.clone(), line(2), line(3), one, line(5)]);
}

#[test]
fn a_flush_waits_for_the_lines_before_it() {
    let kept = Kept::shut();
    let service = start(&kept, 10, Overflow::Block);
    fill(&service, &kept, 3);
    let nothing = service.flush(Durability::System, Duration::from_millis(20));
    assert_eq!(nothing, Err(FlushError::TimedOut));
    kept.open();
    assert_eq!(service.flush(Durability::System, LONG), Ok(()));
    assert_eq!((kept.lines().len(), kept.set(|state| state.syncs)), (4, 0));
    assert_eq!(service.flush(Durability::Disk, LONG), Ok(()));
    assert_eq!(kept.set(|state| state.syncs), 1);
    kept.set(|state| state.sync_fails = true);
    assert_eq!(service.flush(Durability::Disk, LONG), Err(FlushError::SyncFailed));
    kept.set(|state| state.sync_fails = false);
    assert_eq!(service.flush(Durability::Disk, LONG), Ok(()));
    service.stop(LONG);
    assert_eq!(service.flush(Durability::System, LONG), Ok(()), "everything is written");
    assert_eq!(service.flush(Durability::Disk, LONG), Err(FlushError::Stopped));
}

#[test]
fn the_sink_is_opened_anew_when_asked() {
    let kept = Kept::default();
    let service = start(&kept, 10, Overflow::Block);
    service.reopen();
    kept.wait_until(|state| state.reopened == 1);
}

#[test]
fn a_value_that_logs_or_panics_while_it_is_shown_leaves_every_line() {
    struct Logs<'s>(&'s LogService, u8);
    impl std::fmt::Display for Logs<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            if self.1 > 0 {
                let inner = Logs(self.0, self.1 - 1);
                let _ = self.0.say(Level::Info, "test", format_args!("in {inner}"));
            }
            write!(f, "depth {}", self.1)
        }
    }
    struct Panics;
    impl std::fmt::Display for Panics {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("as the test has asked")
        }
    }
    let kept = Kept::default();
    let service = start(&kept, 100, Overflow::Block);
    service.say(Level::Info, "test", format_args!("{}", Logs(&service, 2))).unwrap();
    service.say(Level::Info, "test", format_args!("{Panics}")).unwrap();
    service.say(Level::Info, "test", format_args!("{}", Logs(&service, 20))).unwrap();
    let counts = service.stop(LONG);
    assert_eq!(counts.refused, 1, "it ends at some depth");
    let lines = kept.lines();
    assert_eq!(
        lines[..4],
        ["in depth 0", "in depth 1", "depth 2", "a record of test panicked while it was formatted"]
    );
    assert_eq!(lines.last().unwrap(), "depth 20");
}

#[test]
fn a_line_that_is_too_long_is_cut_between_characters() {
    let kept = Kept::default();
    let service = start(&kept, 10, Overflow::Block);
    service.say(Level::Info, "test", format_args!("{}", "ä".repeat(100))).unwrap();
    service.stop(LONG);
    assert_eq!(kept.lines(), ["ä".repeat(31)]);
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    for builder in [
        LogService::builder().longest_line(63),
        LogService::builder().longest_line(1000).capacity(999),
        LogService::builder().capacity((1 << 30) + 1),
    ] {
        let error = builder.start(Kept::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }
}
