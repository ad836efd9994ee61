//! Who did what, in which order, and what everybody is doing now.
//!
//! There is one recorder per process, behind an ordinary lock: under the model only one thread runs at a time, and with
//! real threads it gives the events an order. Whatever ends a property ([`fail`], a panic, the watchdog, a deadlock) is
//! turned into a [`Failure`] here, together with the events that led to it.

use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exercises_protocol::Failure;
use exercises_protocol::schedule::{self, Action, Event, Schedule};

use crate::diagnosis;
use crate::isolate;

/// Beyond this, the oldest events go. Only an answer that spins gets here.
const MOST_EVENTS: usize = 20_000;
/// So many events are reported.
const MOST_REPORTED: usize = 1_000;

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
    /// Waits for what another thread has to do, in another way than on a condition variable.
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
    /// What the property says about a call that is under way on this thread: what should come of it, and the likely
    /// cause if it does not.
    pub(crate) expectations: Vec<(String, String)>,
    /// The innermost call of those that must not wait for anything, and the likely cause if it does.
    pub(crate) at_once: Option<(String, String)>,
    /// Spawned through `crate::sync`, by the learner's code or by the property.
    spawned: bool,
    /// Spawned by the property. If it panics, it was meant to.
    pub(crate) of_the_property: bool,
}

pub(crate) struct Recorder {
    /// Counts the runs of the property, so that threads left over from the last one can be told apart.
    run: usize,
    /// The last number before the first run of this property.
    begun: usize,
    promise: String,
    /// The text of the learner's file.
    source: String,
    pub(crate) threads: Vec<Thread>,
    pub(crate) events: Vec<Event>,
    /// For each lock, who holds it and since which line.
    pub(crate) locks: Vec<Option<(usize, Option<u32>)>>,
    condvars: usize,
    /// The property does something that it is not about.
    aside: bool,
    /// Which thread calls: the model and real threads know in different ways.
    who: Option<fn() -> ThreadKey>,
}

/// How a thread is found again: the run it was recorded in, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ThreadKey {
    run: usize,
    thread: usize,
}

/// Goes up whenever something happens, so that somebody can see that nothing does.
static PROGRESS: AtomicU64 = AtomicU64::new(0);

/// Something has happened.
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

/// Begins a property of the file whose text is `source`. `promise` is what it promises, and `who` says which thread calls.
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
    let (run, who) = (recorder.run + 1, recorder.who);
    *recorder = Recorder { promise, source, who, ..Recorder::new(run, recorder.begun) };
}

/// Adds a thread to this run.
pub(crate) fn register(name: Option<String>, spawned: bool) -> ThreadKey {
    let mut recorder = recorder();
    let number = recorder.threads.len();
    let name = name.unwrap_or_else(|| if number == 0 { "test".into() } else { format!("thread {number}") });
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
            aside: false,
            who: None,
        }
    }

    fn record(&mut self, thread: usize, action: Action, line: Option<u32>) {
        if self.events.len() == MOST_EVENTS {
            self.events.drain(..MOST_EVENTS / 2);
        }
        self.events.push(Event { thread, action, line });
    }

    /// A thread has what it reached for. If nothing happened in between, it got it at once.
    fn got(&mut self, thread: usize, lock: usize) {
        let last = self.events.last();
        if last.is_some_and(|last| last.thread == thread && last.action == Action::Want(lock)) {
            self.events.pop();
        }
    }

    /// That this run fails. `decisive` is the event that decided it, if that is known.
    fn failure(&self, seen: &str, cause: &str, decisive: Option<usize>) -> Failure {
        let mut failure = Failure::new(&self.promise, seen, cause, self.schedule(decisive));
        failure.found = self.run - self.begun;
        failure.aside = self.aside;
        failure
    }

    fn schedule(&self, decisive: Option<usize>) -> Schedule {
        let thread = |thread: &Thread| schedule::Thread {
            name: thread.name.clone(),
            end: diagnosis::state(self, thread),
        };
        let threads = self.threads.iter().map(thread).collect();
        let mut schedule = Schedule { threads, events: self.events.clone(), decisive, code: Vec::new() };
        schedule.shorten(MOST_REPORTED);
        schedule.quote(&self.source);
        schedule
    }
}

/// Runs `f` with the recorder and the calling thread's number, unless the thread is a left-over of an earlier run.
fn here<R>(f: impl FnOnce(&mut Recorder, usize) -> R) -> Option<R> {
    progressed();
    let who = recorder().who?;
    let key = who(); // may register the thread, so not under our lock
    let mut recorder = recorder();
    (key.run == recorder.run).then(|| f(&mut recorder, key.thread))
}

/// The line in the learner's file. A line of the suite would be taken for one.
fn line(at: &Location<'_>) -> Option<u32> {
    (!at.file().replace('\\', "/").contains("tests/suite/")).then(|| at.line())
}

// ----- what the wrappers in `sync.rs` report -----

pub(crate) fn new_lock() -> usize {
    let mut recorder = recorder();
    recorder.locks.push(None);
    recorder.locks.len() - 1
}

pub(crate) fn new_condvar() -> usize {
    let mut recorder = recorder();
    recorder.condvars += 1;
    recorder.condvars - 1
}

/// The calling thread is about to lock. That it holds this lock already is a failure at once: it would wait for itself.
pub(crate) fn locking(lock: usize, at: &Location<'_>) {
    let itself = here(|recorder, me| {
        let held = recorder.locks.get(lock).copied().flatten().filter(|(holder, _)| *holder == me);
        recorder.threads[me].doing = Doing::Locking(lock);
        recorder.threads[me].line = line(at);
        recorder.record(me, Action::Want(lock), line(at));
        held.map(|(_, since)| (recorder.threads[me].name.clone(), since))
    });
    if let Some(Some((name, since))) = itself {
        fail(
            &format!("{name} locks, at line {}, a lock that it holds since {}", at.line(), line_text(since)),
            "a std Mutex cannot be locked twice by one thread: let go of the first guard before calling what locks again",
        );
    }
}

pub(crate) fn locked(lock: usize, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Running;
        if let Some(holder) = recorder.locks.get_mut(lock) {
            *holder = Some((me, line(at)));
        }
        recorder.got(me, lock);
        recorder.record(me, Action::Lock(lock), line(at));
    });
}

pub(crate) fn unlocked(lock: usize) {
    here(|recorder, me| {
        if let Some(holder) = recorder.locks.get_mut(lock) {
            *holder = None;
        }
        recorder.record(me, Action::Unlock(lock), None);
    });
}

pub(crate) fn waiting(condvar: usize, lock: usize, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Waiting(condvar);
        recorder.threads[me].line = line(at);
        if let Some(holder) = recorder.locks.get_mut(lock) {
            *holder = None;
        }
        recorder.record(me, Action::Wait { condvar, lock }, line(at));
    });
}

/// The wait is over, and the lock may be somebody else's.
pub(crate) fn locking_again(lock: usize) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Locking(lock);
        let line = recorder.threads[me].line;
        recorder.record(me, Action::Want(lock), line);
    });
}

pub(crate) fn woken(condvar: usize, lock: usize, spurious: bool, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Running;
        if let Some(holder) = recorder.locks.get_mut(lock) {
            *holder = Some((me, line(at)));
        }
        recorder.got(me, lock);
        recorder.record(me, Action::Wake { condvar, lock, spurious }, line(at));
    });
}

pub(crate) fn notified(condvar: usize, all: bool, at: &Location<'_>) {
    here(|recorder, me| {
        let waits = |thread: &usize| recorder.threads[*thread].doing == Doing::Waiting(condvar);
        let mut woken: Vec<usize> = (0..recorder.threads.len()).filter(waits).collect();
        if !all && woken.len() > 1 {
            woken.clear(); // one of them
        }
        recorder.record(me, Action::Notify { condvar, all, woken }, line(at));
    });
}

/// The notification that was recorded last has ended the wait of these threads.
pub(crate) fn woke(threads: &[ThreadKey]) {
    here(|recorder, _| {
        if let Some(Event { action: Action::Notify { woken, .. }, .. }) = recorder.events.last_mut() {
            *woken = threads.iter().map(|key| key.thread).collect();
        }
    });
}

pub(crate) fn spawned(child: ThreadKey, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[child.thread].of_the_property = line(at).is_none();
        recorder.record(me, Action::Spawn(child.thread), line(at));
    });
}

pub(crate) fn ended(panicked: bool) {
    here(|recorder, me| {
        recorder.threads[me].doing = if panicked { Doing::Panicked } else { Doing::Ended };
        recorder.record(me, Action::End { panicked }, None);
    });
}

pub(crate) fn joining(child: ThreadKey, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Joining(child.thread);
        recorder.threads[me].line = line(at);
        recorder.record(me, Action::Await(child.thread), line(at));
    });
}

pub(crate) fn joined(child: ThreadKey, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Running;
        recorder.record(me, Action::Join(child.thread), line(at));
    });
}

/// What a receiver waits for.
pub(crate) const MESSAGE: &str = "a message";

/// What a `try_lock` does that gets no lock.
pub(crate) const LOCK_TAKEN: &str = "finds the lock taken";

/// The calling thread is about to wait for a lock that has no number.
pub(crate) fn blocking(what: &'static str, at: &Location<'_>) {
    waits_for(Doing::Blocked(what), at);
}

/// The calling thread is about to wait for what another thread has to do.
pub(crate) fn sleeping(what: &'static str, at: &Location<'_>) {
    waits_for(Doing::Sleeping(what), at);
    here(|recorder, me| recorder.record(me, Action::Expect(what.to_owned()), line(at)));
}

fn waits_for(doing: Doing, at: &Location<'_>) {
    here(|recorder, me| {
        recorder.threads[me].doing = doing;
        recorder.threads[me].line = line(at);
    });
}

/// The calling thread has done something that is told in words, and goes on.
pub(crate) fn did(what: &str, at: Option<&Location<'_>>) {
    here(|recorder, me| {
        recorder.threads[me].doing = Doing::Running;
        recorder.record(me, Action::Step(what.to_owned()), at.and_then(line));
    });
}

/// The calling thread waits for something that the property provides; `None` once it came.
pub(crate) fn expecting(what: Option<&str>) {
    here(|recorder, me| {
        recorder.threads[me].doing = what.map_or(Doing::Running, |what| Doing::Expecting(what.to_owned()));
        if let Some(what) = what {
            recorder.record(me, Action::Expect(what.to_owned()), None);
        }
    });
}

/// Of the threads that were spawned in this run.
pub(crate) struct Census {
    /// So many wait for what another thread has to do, or for a lock that one of those holds.
    pub(crate) asleep: usize,
    /// So many have not ended.
    pub(crate) alive: usize,
    /// All of them.
    pub(crate) started: usize,
}

/// Counts the threads that were spawned.
pub(crate) fn census() -> Census {
    let recorder = recorder();
    let spawned = || recorder.threads.iter().filter(|thread| thread.spawned);
    let asleep = spawned().filter(|thread| recorder.is_asleep(thread)).count();
    let alive = spawned().filter(|thread| !matches!(thread.doing, Doing::Ended | Doing::Panicked)).count();
    Census { asleep, alive, started: spawned().count() }
}

impl Recorder {
    /// Whether a thread waits for what another has to do. Who waits for a lock that a sleeper keeps sleeps as long: so do
    /// workers that share the receiver of a channel.
    fn is_asleep(&self, thread: &Thread) -> bool {
        let mut thread = thread;
        for _ in &self.threads {
            match thread.doing {
                Doing::Waiting(_) | Doing::Sleeping(_) => return true,
                Doing::Locking(lock) => match self.locks.get(lock).copied().flatten() {
                    Some((holder, _)) => thread = &self.threads[holder],
                    None => return false,
                },
                _ => return false,
            }
        }
        false
    }
}

// ----- what properties call -----

/// Writes down something that the property (or one of its jobs) has done, for the picture.
pub fn step(what: &str) {
    here(|recorder, me| recorder.record(me, Action::Step(what.to_owned()), None));
}

/// Who did something, and at which line of the learner's file.
#[cfg(feature = "memory")]
pub(crate) struct Place {
    pub(crate) thread: usize,
    pub(crate) name: String,
    pub(crate) line: Option<u32>,
}

/// Writes down a step of the learner's code.
#[cfg(feature = "memory")]
pub(crate) fn did_in_memory(what: String, at: &Location<'_>) -> Option<Place> {
    here(|recorder, me| {
        recorder.threads[me].line = line(at);
        recorder.record(me, Action::Step(what), line(at));
        Place { thread: me, name: recorder.threads[me].name.clone(), line: line(at) }
    })
}

/// Runs a call that could block for ever. `what` is the call, or what it waits for; `cause` is the likely cause if it does
/// not come back, or panics.
pub fn expect<R>(what: &str, cause: &str, call: impl FnOnce() -> R) -> R {
    here(|recorder, me| {
        recorder.threads[me].expectations.push((what.to_owned(), cause.to_owned()));
        recorder.record(me, Action::Step(format!("begins {what}")), None);
    });
    let result = call();
    here(|recorder, me| {
        recorder.threads[me].expectations.pop();
        recorder.record(me, Action::Step(format!("is done with {what}")), None);
    });
    result
}

/// Runs a call that must not wait for anybody. `cause` is the likely cause if it never comes back.
pub fn at_once<R>(what: &str, cause: &str, call: impl FnOnce() -> R) -> R {
    let said = Some((what.to_owned(), cause.to_owned()));
    let outer = here(|recorder, me| std::mem::replace(&mut recorder.threads[me].at_once, said)).flatten();
    let result = expect(what, cause, call);
    here(|recorder, me| recorder.threads[me].at_once = outer);
    result
}

/// How often the calling thread has begun to wait on a condition variable.
pub fn waits_so_far() -> usize {
    let waits = |event: &&Event| matches!(event.action, Action::Wait { .. });
    here(|recorder, me| recorder.events.iter().filter(waits).filter(|event| event.thread == me).count())
        .unwrap_or_default()
}

/// Does something that the property needs and is not about: to end a pool after the last step, say. A failure in it is shown
/// only if the answer breaks nothing else.
pub fn aside<R>(call: impl FnOnce() -> R) -> R {
    here(|recorder, _| recorder.aside = true);
    let result = call();
    here(|recorder, _| recorder.aside = false);
    result
}

/// How many threads that were spawned in this run have not ended.
pub fn live_threads() -> usize {
    census().alive
}

/// How often this run has notified a condition variable of the learner's, whether or not a thread waited on it.
pub fn notifications() -> usize {
    let notifies = |event: &&Event| matches!(event.action, Action::Notify { .. });
    recorder().events.iter().filter(notifies).count()
}

/// Ends the property: it does not hold. `seen` is what was seen, `cause` the likely cause.
pub fn fail(seen: &str, cause: &str) -> ! {
    let failure = here(|recorder, me| {
        recorder.record(me, Action::Fail(seen.to_owned()), None);
        recorder.failure(seen, cause, None)
    });
    report(failure)
}

// ----- what ends a property otherwise -----

fn report(failure: Option<Failure>) -> ! {
    match failure {
        Some(failure) => isolate::report_and_exit(&Err(Box::new(failure))),
        // A thread left over from an earlier run: that run has passed, and nobody listens to this thread any more.
        None => loop {
            std::thread::park();
        },
    }
}

/// The property will not come to an end; `verdict` says how that is known.
pub(crate) fn fail_hung(verdict: &str) -> ! {
    report(Some(hang(verdict, false)))
}

/// `busy`: some thread has kept a processor busy all the time.
fn hang(verdict: &str, busy: bool) -> Failure {
    let recorder = recorder();
    let found = diagnosis::of_hang(&recorder, verdict, busy);
    recorder.failure(&found.seen, &found.cause, found.decisive)
}

/// The time is up. Not even the model noticed, or these are real threads.
pub(crate) fn fail_out_of_time(deadline: Duration, busy: bool) -> ! {
    let mut failure = hang(&format!("it is not done after {} s", deadline.as_secs()), busy);
    failure.hung = true;
    report(Some(failure))
}

/// Somebody panicked who should not.
pub(crate) fn fail_panicked(message: &str, at: Option<&Location<'_>>) -> ! {
    let failure = here(|recorder, me| {
        let found = diagnosis::of_panic(recorder, me, message, at);
        recorder.record(me, Action::Fail(format!("panics: {message}")), None);
        recorder.failure(&found.seen, &found.cause, found.decisive)
    });
    report(failure)
}

/// A panic that a job is meant to have came out of the learner's code, into the property.
pub(crate) fn fail_escaped() -> ! {
    let failure = here(|recorder, me| {
        let found = diagnosis::of_escape(recorder, me);
        recorder.record(me, Action::Fail(found.seen.clone()), None);
        recorder.failure(&found.seen, &found.cause, found.decisive)
    });
    report(failure)
}

pub(crate) fn line_text(line: Option<u32>) -> String {
    line.map_or_else(|| "some line".into(), |line| format!("line {line}"))
}
