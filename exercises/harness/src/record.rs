//! The record of a property's run: what each thread has done, in which order, and what each thread is doing
//! now.
//!
//! There is one record for each process, behind an ordinary lock. Under the model only one thread runs at a
//! time; on real threads the lock of the record puts the events into an order. The
//! [recorder](crate::recorder) writes the record, and a [verdict](crate::verdict) is made from the record.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exercises_protocol::schedule::{Action, Event};

use crate::watch::progressed;

/// The recorded step of a job that panics intentionally.
pub(crate) const PANICS: &str = "panics, on purpose";

/// The recorded step of a `try_lock` that gets no lock.
pub(crate) const LOCK_TAKEN: &str = "finds the lock taken";

/// The description of the object for which a receiver waits.
pub(crate) const MESSAGE: &str = "a message";

/// The limit on the number of recorded events: when this limit is reached, the oldest events are dropped.
/// Only an answer that spins has so many events.
const MOST_EVENTS: usize = 20_000;

/// The present activity of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    /// Waits for a lock.
    Locking(usize),
    /// Waits on a condition variable.
    Waiting(usize),
    /// Waits for another thread to end.
    Joining(usize),
    /// Waits for a lock that has no number.
    Blocked(&'static str),
    /// Waits for an action of another thread, without a condition variable.
    Sleeping(&'static str),
    /// Waits for something that the property provides, such as a latch.
    Expecting(String),
    Ended,
    Panicked,
}

pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) doing: Doing,
    pub(crate) line: Option<u32>,
    /// The calls from which this thread has not returned yet, each with its description and the likely cause
    /// if the call does not return.
    pub(crate) expectations: Vec<(String, String)>,
    /// The innermost call that must not wait for anything, and the likely cause if this call waits.
    pub(crate) at_once: Option<(String, String)>,
    /// True if the thread was spawned through `crate::sync`, by the learner's code or by the property.
    pub(crate) spawned: bool,
    /// True if the property spawned the thread. True if a panic of the thread is intentional.
    pub(crate) of_the_property: bool,
}

pub(crate) struct Record {
    /// Counts the runs of the property. The count shows whether a thread is left over from an earlier run.
    pub(crate) run: usize,
    /// The number of the last run before the first run of this property.
    pub(crate) begun: usize,
    pub(crate) promise: String,
    /// The text of the learner's file.
    pub(crate) source: String,
    pub(crate) threads: Vec<Thread>,
    pub(crate) events: Vec<Event>,
    /// For each lock, the thread that holds it, and the line at which the thread took it.
    pub(crate) locks: Vec<Option<(usize, Option<u32>)>>,
    pub(crate) condvars: usize,
    /// The names of the threads, each with the number of threads that have this name.
    names: BTreeMap<String, usize>,
    /// True while the property runs code that is not under test.
    pub(crate) aside: bool,
    /// The state of the test, if the answer is a test and the property runs this test.
    pub(crate) judged: Option<Judged>,
    /// Returns the key of the calling thread; the model and real threads find this key in different ways.
    who: Option<fn() -> ThreadKey>,
}

/// The state of a test, if the answer to the exercise is a test.
#[derive(Clone, Default)]
pub(crate) struct Judged {
    /// The message if the test never fails although the program is wrong: what was observed, and the likely
    /// cause.
    pub(crate) never_fails: Option<(String, String)>,
    /// True while the test is running; false when the test has returned.
    pub(crate) runs: bool,
    /// The first panic of this run on a thread other than the test's thread.
    pub(crate) panicked_aside: Option<String>,
}

/// The key of a thread: the run in which the thread was recorded, and its number in that run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ThreadKey {
    run: usize,
    pub(crate) thread: usize,
}

static RECORD: Mutex<Record> = Mutex::new(Record::new(0, 0));

/// Locks the record.
pub(crate) fn current() -> MutexGuard<'static, Record> {
    RECORD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the function with the record.
pub(crate) fn look<R>(f: impl FnOnce(&Record) -> R) -> R {
    f(&current())
}

/// Begins a property of the file whose text is `source`. `promise` is the property's promise, and `who`
/// returns the key of the calling thread.
pub(crate) fn begin(source: &str, promise: &str, who: fn() -> ThreadKey) {
    let mut record = current();
    let begun = record.run + 1;
    let (source, promise) = (source.to_owned(), promise.to_owned());
    *record = Record { promise, source, who: Some(who), ..Record::new(begun, begun) };
}

/// Begins a run of the property, and forgets all events that were recorded before.
pub(crate) fn begin_run() {
    let mut record = current();
    let (promise, source) = (std::mem::take(&mut record.promise), std::mem::take(&mut record.source));
    let mut events = std::mem::take(&mut record.events);
    events.clear(); // and there is room for the events of the next run
    let (run, who, judged) = (record.run + 1, record.who, record.judged.take());
    *record = Record { promise, source, events, judged, who, ..Record::new(run, record.begun) };
}

/// Adds a thread to this run.
pub(crate) fn register(name: Option<String>, spawned: bool) -> ThreadKey {
    let mut record = current();
    let number = record.threads.len();
    let name = match name {
        Some(name) => record.told_apart(name),
        None if number == 0 => "test".into(),
        None => format!("thread {number}"),
    };
    record.threads.push(Thread {
        name,
        doing: Doing::Running,
        line: None,
        expectations: Vec::new(),
        at_once: None,
        spawned,
        of_the_property: false,
    });
    ThreadKey { run: record.run, thread: number }
}

impl Record {
    const fn new(run: usize, begun: usize) -> Self {
        Self {
            run,
            begun,
            promise: String::new(),
            source: String::new(),
            threads: Vec::new(),
            events: Vec::new(),
            locks: Vec::new(),
            condvars: 0,
            names: BTreeMap::new(),
            aside: false,
            judged: None,
            who: None,
        }
    }

    /// Returns the name; if an earlier thread has the same name, adds a number, so that a reader can tell the
    /// two threads apart.
    fn told_apart(&mut self, name: String) -> String {
        let threads = self.names.entry(name.clone()).or_default();
        *threads += 1;
        match *threads {
            1 => name,
            n => self.told_apart(format!("{name} {n}")),
        }
    }

    pub(crate) fn add(&mut self, thread: usize, action: Action, line: Option<u32>) {
        if self.events.len() == MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
        self.events.push(Event { thread, action, line });
    }

    /// Records that a thread has got the lock that it tried to take. If there was no event between the
    /// attempt and this call, the thread got the lock at once.
    pub(crate) fn got(&mut self, thread: usize, lock: usize) {
        let last = self.events.last();
        if last.is_some_and(|last| last.thread == thread && last.action == Action::Want(lock)) {
            self.events.pop();
        }
    }
}

/// Runs `f` with the record and the calling thread's number, unless the thread is left over from an earlier
/// run.
pub(crate) fn here<R>(f: impl FnOnce(&mut Record, usize) -> R) -> Option<R> {
    progressed();
    let who = current().who?;
    let key = who(); // may register the thread, so not under our lock
    let mut record = current();
    (key.run == record.run).then(|| f(&mut record, key.thread))
}

/// Returns the line if the line is in the learner's file. The result is `None` for a line of a suite or of
/// the harness, because a reader would mistake it for a line of the learner's file.
pub(crate) fn line(at: &Location<'_>) -> Option<u32> {
    let mut folders = at.file().as_bytes().rsplit(|byte| matches!(byte, b'/' | b'\\')).skip(1);
    let mut inner = folders.next().unwrap_or_default();
    let of_the_tests = folders.any(|outer| {
        let inner = std::mem::replace(&mut inner, outer);
        (outer, inner) == (b"tests", b"suite") || (outer, inner) == (b"harness", b"src")
    });
    (!of_the_tests).then(|| at.line())
}

pub(crate) fn line_text(line: Option<u32>) -> String {
    line.map_or_else(|| "some line".into(), |line| format!("line {line}"))
}
