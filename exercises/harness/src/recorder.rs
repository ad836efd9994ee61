//! Records what each thread did, in which order, and what it is doing now.
//!
//! There is one recorder per process, behind an ordinary lock: under the model only one thread runs at a
//! time, and with real threads it gives the events an order. [`wrappers`] has what the learner's code does to
//! its locks and threads, [`property`] what the property does, and [`verdict`] turns the end of a property
//! into a failure, together with the events that led to it.

mod judged;
mod property;
mod verdict;
mod wrappers;

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exercises_protocol::schedule::{Action, Event};

pub use judged::{accepts, rejects};
pub(crate) use judged::{has_still_to_fail, is_for_the_joiner, never_failed};
pub(crate) use property::{Census, PANICS, census, expecting};
pub use property::{
    aside, at_once, begin_trial, expect, live_threads, locks_found_taken, notifications, step, waits_so_far,
};
pub use verdict::fail;
pub(crate) use verdict::{fail_escaped, fail_hung, fail_out_of_time, fail_panicked, panics};
pub(crate) use wrappers::{
    LOCK_TAKEN, MESSAGE, blocking, did, ended, joined, joining, locked, locking, locking_again, new_condvar,
    new_lock, notified, sleeping, spawned, unlocked, waiting, woke, woken,
};
#[cfg(feature = "memory")]
pub(crate) use wrappers::{Place, did_in_memory};

/// Beyond this number, the oldest events are dropped. Only an answer that spins has so many.
const MOST_EVENTS: usize = 20_000;

/// What a thread is doing now.
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
    /// Waits for something that another thread must do, in another way than on a condition variable.
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
    /// What the property says about each call that is under way on this thread: what it is, and the likely
    /// cause if it does not return.
    pub(crate) expectations: Vec<(String, String)>,
    /// The innermost call that must not wait for anything, and the likely cause if it does.
    pub(crate) at_once: Option<(String, String)>,
    /// Spawned through `crate::sync`, by the learner's code or by the property.
    spawned: bool,
    /// Spawned by the property. If the thread panics, it does so on purpose.
    pub(crate) of_the_property: bool,
}

pub(crate) struct Recorder {
    /// Counts the runs of the property, so that threads left over from an earlier run can be told apart.
    run: usize,
    /// The last number before the first run of this property.
    begun: usize,
    promise: String,
    /// The text of the learner's file.
    source: String,
    pub(crate) threads: Vec<Thread>,
    pub(crate) events: Vec<Event>,
    /// For each lock, the thread that holds it and since which line.
    pub(crate) locks: Vec<Option<(usize, Option<u32>)>>,
    condvars: usize,
    /// The names that threads were given, each with the number of threads that have it.
    names: BTreeMap<String, usize>,
    /// Whether the property does something that it is not about.
    aside: bool,
    /// The state of the test, if the answer is a test and the property runs it.
    pub(crate) judged: Option<judged::Judged>,
    /// Tells which thread calls: the model and real threads know it in different ways.
    who: Option<fn() -> ThreadKey>,
}

/// The key of a thread: the run in which it was recorded, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ThreadKey {
    run: usize,
    thread: usize,
}

/// Goes up whenever something happens, so that the watchdog can see that nothing does.
static PROGRESS: AtomicU64 = AtomicU64::new(0);

/// Notes that something has happened.
pub(crate) fn progressed() {
    PROGRESS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn progress() -> u64 {
    PROGRESS.load(Ordering::Relaxed)
}

static RECORDER: Mutex<Recorder> = Mutex::new(Recorder::new(0, 0));

fn recorder() -> MutexGuard<'static, Recorder> {
    RECORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at what is recorded.
pub(crate) fn look<R>(f: impl FnOnce(&Recorder) -> R) -> R {
    f(&recorder())
}

/// Begins a property of the file whose text is `source`. `promise` is what the property promises, and `who`
/// says which thread calls.
pub(crate) fn begin(source: &str, promise: &str, who: fn() -> ThreadKey) {
    let mut recorder = recorder();
    let begun = recorder.run + 1;
    let (source, promise) = (source.to_owned(), promise.to_owned());
    *recorder = Recorder { promise, source, who: Some(who), ..Recorder::new(begun, begun) };
}

/// Begins a run of the property: everything recorded so far is forgotten.
pub(crate) fn begin_run() {
    let mut recorder = recorder();
    let (promise, source) = (std::mem::take(&mut recorder.promise), std::mem::take(&mut recorder.source));
    let mut events = std::mem::take(&mut recorder.events);
    events.clear(); // and there is room for the events of the next run
    let (run, who, judged) = (recorder.run + 1, recorder.who, recorder.judged.take());
    *recorder = Recorder { promise, source, events, judged, who, ..Recorder::new(run, recorder.begun) };
}

/// Adds a thread to this run.
pub(crate) fn register(name: Option<String>, spawned: bool) -> ThreadKey {
    let mut recorder = recorder();
    let number = recorder.threads.len();
    let name = match name {
        Some(name) => recorder.told_apart(name),
        None if number == 0 => "test".into(),
        None => format!("thread {number}"),
    };
    recorder.threads.push(Thread {
        name,
        doing: Doing::Running,
        line: None,
        expectations: Vec::new(),
        at_once: None,
        spawned,
        of_the_property: false,
    });
    ThreadKey { run: recorder.run, thread: number }
}

impl Recorder {
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

    /// The name, with a number if an earlier thread has it: a reader could not tell two of one name apart.
    fn told_apart(&mut self, name: String) -> String {
        let threads = self.names.entry(name.clone()).or_default();
        *threads += 1;
        match *threads {
            1 => name,
            n => self.told_apart(format!("{name} {n}")),
        }
    }

    fn record(&mut self, thread: usize, action: Action, line: Option<u32>) {
        if self.events.len() == MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
        self.events.push(Event { thread, action, line });
    }

    /// Notes that a thread has the lock it reached for. If nothing happened in between, it got the lock at
    /// once.
    fn got(&mut self, thread: usize, lock: usize) {
        let last = self.events.last();
        if last.is_some_and(|last| last.thread == thread && last.action == Action::Want(lock)) {
            self.events.pop();
        }
    }
}

/// Runs `f` with the recorder and the calling thread's number, unless the thread is a left-over of an earlier
/// run.
fn here<R>(f: impl FnOnce(&mut Recorder, usize) -> R) -> Option<R> {
    progressed();
    let who = recorder().who?;
    let key = who(); // may register the thread, so not under our lock
    let mut recorder = recorder();
    (key.run == recorder.run).then(|| f(&mut recorder, key.thread))
}

/// The line in the learner's file. A line of the suite, or of what suites share, would be taken for one.
fn line(at: &Location<'_>) -> Option<u32> {
    let mut path = at.file().as_bytes().rsplit(|byte| matches!(byte, b'/' | b'\\')).skip(1);
    let (folder, above) = (path.next(), path.next());
    let of_the_tests = [(b"suite".as_slice(), b"tests".as_slice()), (b"src", b"harness")]
        .iter()
        .any(|(inner, outer)| folder == Some(inner) && above == Some(outer));
    (!of_the_tests).then(|| at.line())
}

pub(crate) fn line_text(line: Option<u32>) -> String {
    line.map_or_else(|| "some line".into(), |line| format!("line {line}"))
}
