//! Runs a scene: shuttle runs the threads, and an object that implements [`Chooses`] chooses the thread that
//! goes on.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::panic;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use exercises_protocol::graph::{End, Kind, Player, Stand};
use exercises_protocol::schedule::{self, Action, Event, Schedule as Events};
use exercises_protocol::told;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, FailurePersistence, Runner};

use super::super::chance::{Chance, Question};
use super::super::{backend, locks, sync};
use super::{Scenario, Scene};
use crate::diagnosis;
use crate::record::{self, Doing, Record};
use crate::{recorder, verdict};

thread_local! {
    /// True if all threads have been started, and one of them runs.
    static STARTED: Cell<bool> = const { Cell::new(false) };
    static CHOOSES: RefCell<Option<Rc<RefCell<dyn Chooses>>>> = const { RefCell::new(None) };
}

/// An object that decides, at each point of a run, how the run goes on.
pub(super) trait Chooses {
    /// Returns true if there is another run.
    fn begins(&mut self) -> bool;

    /// Returns the thread that goes on, which is one of the threads in `can`. `None` ends the run.
    fn next(&mut self, now: &Now<'_>, can: &[usize]) -> Option<usize>;

    /// Chooses the sleeper that is woken; `sleepers` is the number of sleepers.
    fn picks(&mut self, sleepers: usize) -> usize;
}

/// A point of a run, as the recorder sees it, at which a thread or a sleeper is chosen.
pub(super) struct Now<'a> {
    record: &'a Record,
    /// The last choice, and the step that followed the choice.
    pub(super) step: Option<&'a Step>,
    /// The last step of each thread.
    pub(super) did: &'a [Stand],
    promises: &'a [(&'static str, &'static str)],
}

/// The actions of one thread from one choice to the next choice.
#[derive(Default)]
pub(super) struct Step {
    pub(super) thread: usize,
    /// All actions of the step, in words; the text is empty if no other thread could notice the actions.
    pub(super) text: String,
    pub(super) line: Option<u32>,
    /// The first action of the step, in words.
    pub(super) begins: String,
    /// The message of the thread's panic.
    panics: Option<String>,
}

/// Makes all runs that `chooses` asks for.
pub(super) fn run(scene: &Scene, chooses: Rc<RefCell<dyn Chooses>>) -> Vec<Player> {
    static RECORDER: Mutex<()> = Mutex::new(()); // there is one for the whole process
    let _mine = RECORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let Scenario { threads, promises } = (scene.scenario)();
    let players: Vec<Player> = threads.into_iter().map(|(player, _)| player).collect();
    recorder::begin(scene.source, "", backend::me);
    backend::begin(scene.source);
    CHOOSES.set(Some(Rc::clone(&chooses)));
    backend::is_answered_by(picks);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    let director =
        Director { chooses, promises, seen: 0, last: None, did: vec![Stand::default(); players.len()] };
    let scenario = scene.scenario;
    Runner::new(director, config).run(move || {
        panic::set_hook(Box::new(|info| {
            if STARTED.get() {
                verdict::panics(info.payload_as_str().unwrap_or_default());
            } else {
                eprintln!("{info}");
            }
        }));
        backend::set_me(recorder::register(None, false));
        for (Player { name, .. }, body) in scenario().threads {
            sync::thread::Builder::new()
                .name(name)
                .spawn(body)
                .expect("the model has room for a few threads");
        }
        STARTED.set(true);
        loop {
            // The scheduler never chooses this thread again. As long as this thread can run, shuttle does not
            // report a deadlock.
            locks::others_may_come_first();
        }
    });
    drop(panic::take_hook());
    backend::is_answered_by(backend::by_chance);
    CHOOSES.set(None);
    players
}

fn picks(question: Question) -> usize {
    // Here no wait ends without a notification, so the learner has one choice less at each wait.
    let Some(sleepers @ 2..) = question.sleepers() else { return 0 };
    CHOOSES.with_borrow(|chooses| chooses.as_ref().map_or(0, |chooses| chooses.borrow_mut().picks(sleepers)))
}

/// Shuttle's scheduler. The scheduler passes each choice to `chooses`, together with the step that followed
/// the previous choice.
struct Director {
    chooses: Rc<RefCell<dyn Chooses>>,
    promises: Vec<(&'static str, &'static str)>,
    /// The number of events of the trace at the last choice.
    seen: usize,
    last: Option<usize>,
    did: Vec<Stand>,
}

impl Scheduler for Director {
    fn new_execution(&mut self) -> Option<Schedule> {
        recorder::begin_run();
        backend::begin_run(Chance::of(0, 0));
        STARTED.set(false);
        (self.seen, self.last) = (0, None);
        self.did.fill(Stand::default());
        self.chooses.borrow_mut().begins().then(|| Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let find =
            |number: usize| runnable.iter().map(|task| task.id()).find(|id| usize::from(*id) == number);
        if !STARTED.get() {
            return find(0);
        }
        // In shuttle and in the record, the thread that starts the scene has the first number, and the
        // threads of the scene have the numbers that follow.
        let can = runnable.iter().filter(|task| task.runnable()).map(|task| usize::from(task.id()));
        let can: Vec<usize> = can.filter_map(|task| task.checked_sub(1)).collect();
        STARTED.set(false);
        let next = record::look(|record| {
            // Only events that count have a number: the recorder removes an attempt to lock when the thread
            // gets the lock.
            let counting: Vec<&Event> = record.events.iter().filter(|event| counts(event)).collect();
            let step = self.last.map(|thread| Step::of(record, &counting[self.seen..], thread));
            if let Some(Step { thread, text, line, .. }) = step.as_ref().filter(|step| !step.text.is_empty())
            {
                (self.did[*thread].did, self.did[*thread].line) = (text.clone(), *line);
            }
            self.seen = counting.len();
            let now = Now { record, step: step.as_ref(), did: &self.did, promises: &self.promises };
            self.chooses.borrow_mut().next(&now, &can)
        });
        STARTED.set(true);
        self.last = next;
        find(next? + 1)
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// Returns true if the event belongs to the trace: another thread can notice the event, or a promise needs
/// the event.
fn counts(event: &Event) -> bool {
    let quiet = matches!(
        event.action,
        Action::Want(_)
            | Action::Await(_)
            | Action::Expect(_)
            | Action::Join(_)
            | Action::Spawn(_)
            | Action::End { .. }
    );
    event.thread > 0 && !quiet
}

impl Step {
    fn of(record: &Record, events: &[&Event], thread: usize) -> Self {
        let name =
            |thread: &record::Thread| schedule::Thread { name: thread.name.clone(), end: String::new() };
        let names = Events { threads: record.threads.iter().map(name).collect(), ..Events::default() };
        let words = |event: &&Event| {
            let words = told(&names, std::slice::from_ref(*event));
            let Action::Notify { woken, .. } = &event.action else { return words };
            let woken: Vec<&str> = woken.iter().map(|&thread| record.threads[thread].name.as_str()).collect();
            let woken = if woken.is_empty() { "no thread".to_owned() } else { woken.join(" and ") };
            format!("{words}, wakes {woken}")
        };
        let begins = events.first().map(|first| Event { line: None, ..(*first).clone() });
        Self {
            thread,
            text: events.iter().map(words).collect::<Vec<_>>().join(", "),
            line: events.iter().find_map(|event| event.line),
            begins: told(&names, begins.as_slice()),
            panics: events.iter().find_map(|event| match &event.action {
                Action::Fail(what) => Some(what.clone()),
                _ => None,
            }),
        }
    }
}

impl Now<'_> {
    /// Returns the trace: the events of each thread, each with its place among the events of the same lock or
    /// condition variable.
    pub(super) fn trace(&self) -> Vec<String> {
        let mut trace = vec![String::new(); self.did.len()];
        let mut so_far: HashMap<(&str, usize), usize> = HashMap::new();
        for event in self.record.events.iter().filter(|event| counts(event)) {
            let touched = match event.action {
                Action::Lock(lock) | Action::Unlock(lock) => [Some(("lock", lock)), None],
                Action::Wait { condvar, lock } | Action::Wake { condvar, lock, .. } => {
                    [Some(("lock", lock)), Some(("condvar", condvar))]
                }
                Action::Notify { condvar, .. } => [Some(("condvar", condvar)), None],
                _ => [None, None],
            };
            let mut count = |of| {
                let count = so_far.entry(of).or_default();
                *count += 1;
                *count
            };
            let places = touched.map(|of| of.map(&mut count));
            let _ = write!(trace[event.thread - 1], "{:?}{:?}{places:?};", event.action, event.line);
        }
        trace
    }

    /// The threads of the scene.
    fn threads(&self) -> impl Iterator<Item = &record::Thread> {
        self.record.threads.iter().skip(1)
    }

    /// Returns how the run has ended, or `None` if the run goes on.
    pub(super) fn end(&self, can: &[usize]) -> Option<End> {
        if let Some((step, what)) = self.step.and_then(|step| step.panics.as_ref().map(|what| (step, what))) {
            let name = &self.record.threads[step.thread + 1].name;
            return Some(End { kind: Kind::Panic, text: format!("{name} {what}") });
        }
        if !can.is_empty() {
            return None;
        }
        let state =
            |thread: &record::Thread| format!("{} {}", thread.name, diagnosis::state(self.record, thread));
        let waiting: Vec<String> =
            self.threads().filter(|thread| thread.doing != Doing::Ended).map(state).collect();
        if !waiting.is_empty() {
            return Some(End { kind: Kind::Deadlock, text: waiting.join(", and ") });
        }
        let has = |step: &str| {
            self.record.events.iter().any(|event| matches!(&event.action, Action::Step(what) if what == step))
        };
        let broken: Vec<&str> =
            self.promises.iter().filter(|(step, _)| !has(step)).map(|(_, broken)| *broken).collect();
        Some(if broken.is_empty() {
            End { kind: Kind::Ended, text: "all threads have ended, and nothing went wrong".into() }
        } else {
            End { kind: Kind::BrokenPromise, text: broken.join(", and ") }
        })
    }

    /// Returns the position of each thread.
    pub(super) fn stands(&self) -> Vec<Stand> {
        let stand = |(thread, did): (&record::Thread, &Stand)| Stand {
            next: diagnosis::state(self.record, thread),
            next_line: thread.line.filter(|_| !matches!(thread.doing, Doing::Running | Doing::Ended)),
            ..did.clone()
        };
        self.threads().zip(self.did).map(stand).collect()
    }

    pub(super) fn holders(&self) -> Vec<Option<usize>> {
        let holder = |lock: &Option<(usize, Option<u32>)>| lock.and_then(|(thread, _)| thread.checked_sub(1));
        self.record.locks.iter().map(holder).collect()
    }
}
