//! A schedule as a picture: a lane for each thread, a row for each step, time from top to bottom.
//!
//! A [`Picture`] says what is drawn: what each thread is doing after each step, which thread woke which, and
//! what is left out because it is too much to look at. [`text`] draws it for a terminal, [`svg`] for a page.

mod svg;
#[cfg(test)]
mod tests;
mod text;
mod world;

pub use svg::svg;
pub(crate) use text::text;

use std::collections::BTreeSet;

use crate::schedule::{Action, Event, Schedule};
use crate::terminal::clip;
use world::World;

/// What a thread is doing between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    /// It has not begun, or has ended.
    #[default]
    Nothing,
    /// It was started, and has done nothing yet.
    Started,
    /// It runs, or could.
    Runs,
    /// It waits for a lock.
    WantsLock,
    /// It sleeps on a condition variable.
    Sleeps,
    /// It waits for something else: the end of a thread, or what the property provides.
    Waits,
}

/// A piece of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bar {
    doing: Doing,
    /// Whether the thread holds a lock.
    holds: bool,
}

/// What one thread did without a break.
struct Row {
    /// The thread.
    thread: usize,
    words: String,
    /// The line of the learner's file that the words name.
    line: Option<u32>,
    /// Whether this step decided the failure.
    mark: bool,
    /// Whether the property fails or the thread panics here.
    fails: bool,
    /// The threads that go on because of this step: started, woken, given the lock.
    arrows: Vec<usize>,
    /// What each thread is doing afterwards.
    after: Vec<Bar>,
    /// Whether more can be said in this row.
    open: bool,
    /// How many times in a row it was done.
    times: usize,
}

impl Row {
    /// Whether the other step is the same again: a thread that spins would fill a picture.
    fn is_repeated_by(&self, other: &Self) -> bool {
        let same = (self.thread, &self.words, self.line) == (other.thread, &other.words, other.line);
        same && !self.mark && !other.mark && self.after == other.after && other.arrows.is_empty()
    }

    /// What was done and how often, in words.
    fn told(&self) -> String {
        if self.times == 1 { self.words.clone() } else { format!("{} (×{})", self.words, self.times) }
    }
}

/// What is drawn of a schedule.
struct Picture<'a> {
    schedule: &'a Schedule,
    /// The threads that have a lane.
    lanes: Vec<usize>,
    rows: Vec<Row>,
    /// What each thread is doing before the first row.
    before: Vec<Bar>,
    /// How many rows before the first, and after the last, are not drawn.
    earlier: usize,
    later: usize,
    /// How many threads have no lane; their rows are not drawn.
    others: usize,
}

/// A row that has so many signs is not joined with the next step.
const JOINED: usize = 28;
/// The most signs of a step.
const MOST_SIGNS: usize = 100;

impl<'a> Picture<'a> {
    /// Takes the end of the schedule, and always the decisive step, with at most so many rows and lanes.
    fn of(schedule: &'a Schedule, most_rows: usize, most_lanes: usize) -> Self {
        let (before, mut rows) = all_rows(schedule);
        let from = rows.len().saturating_sub(most_rows);
        let marked = rows.iter().position(|row| row.mark);
        let earlier = marked.map_or(from, |marked| from.min(marked.saturating_sub(3)));
        let before = earlier.checked_sub(1).map_or(before, |n| rows[n].after.clone());
        let later = rows.len().saturating_sub(earlier + most_rows);
        rows.drain(..earlier);
        rows.truncate(most_rows);
        let (lanes, others) = lanes(schedule, &rows, most_lanes);
        rows.retain(|row| lanes.binary_search(&row.thread).is_ok());
        Self { schedule, lanes, rows, before, earlier, later, others }
    }

    fn name(&self, lane: usize) -> &'a str {
        &self.schedule.threads[self.lanes[lane]].name
    }

    fn lane(&self, thread: usize) -> Option<usize> {
        self.lanes.binary_search(&thread).ok()
    }

    /// The lanes that an arrow leads to from this row.
    fn targets(&self, row: &Row) -> Vec<usize> {
        row.arrows.iter().filter_map(|&thread| self.lane(thread)).collect()
    }

    /// What is not drawn, in words.
    fn left_out(&self) -> Option<String> {
        let left_out: Vec<String> =
            [(self.earlier, "earlier steps"), (self.later, "later steps"), (self.others, "other threads")]
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
        (!left_out.is_empty()).then(|| format!("not drawn: {}", left_out.join(", ")))
    }

    /// The threads and what they were doing in the end.
    fn ends(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let threads = self.lanes.iter().map(|&thread| &self.schedule.threads[thread]);
        threads.map(|thread| (thread.name.as_str(), thread.end.as_str())).filter(|(_, end)| !end.is_empty())
    }

    /// What can be seen in the lanes, for a legend.
    fn bars(&self) -> impl Iterator<Item = Bar> {
        let moments = std::iter::once(&self.before).chain(self.rows.iter().map(|row| &row.after));
        moments.flat_map(|moment| self.lanes.iter().map(|&thread| moment[thread]))
    }
}

/// Which threads have a lane, and how many that were started or did something have none. First come the
/// threads of the decisive step and of the failure, the test, and the threads that did something last.
fn lanes(schedule: &Schedule, rows: &[Row], most: usize) -> (Vec<usize>, usize) {
    let last_row = |thread: usize| rows.iter().rposition(|row| row.thread == thread);
    let mut there: BTreeSet<usize> = schedule.events.iter().map(|event| event.thread).collect();
    let started = |event: &Event| if let Action::Spawn(thread) = event.action { Some(thread) } else { None };
    there.extend(schedule.events.iter().filter_map(started));
    let mut threads: Vec<usize> = (0..schedule.threads.len()).collect();
    if threads.len() > most {
        let counts = |thread: usize| rows.iter().any(|row| row.thread == thread && (row.mark || row.fails));
        threads.sort_by_key(|&thread| {
            (!counts(thread), thread != 0, std::cmp::Reverse(last_row(thread)), thread)
        });
    }
    threads.retain(|thread| there.contains(thread));
    let others = threads.len().saturating_sub(most);
    threads.truncate(most);
    threads.sort_unstable();
    (threads, others)
}

/// What every thread is doing at first, and a row for what each did. Taking a lock and the steps under it are
/// one row if no other thread did anything in between.
fn all_rows(schedule: &Schedule) -> (Vec<Bar>, Vec<Row>) {
    let mut world = World::of(schedule);
    let before = world.bars();
    let mut rows: Vec<Row> = Vec::new();
    for (n, event) in schedule.events.iter().enumerate() {
        let arrows = world.after(n);
        let Some(words) = words(schedule, event).filter(|_| world.is_told(n)) else {
            if let Some(row) = rows.last_mut() {
                row.after = world.bars();
            }
            continue;
        };
        let mark = schedule.decisive == Some(n);
        let fails = matches!(event.action, Action::Fail(_) | Action::End { panicked: true });
        let joins = !matches!(event.action, Action::Step(_) | Action::Fail(_) | Action::Spawn(_));
        let same_line = |row: &Row| event.line.is_none() || row.line.is_none() || row.line == event.line;
        match rows.last_mut() {
            Some(row) if row.open && joins && !mark && row.thread == event.thread && same_line(row) => {
                row.words = format!("{}, {words}", row.words);
                row.line = row.line.or(event.line);
                row.fails |= fails;
                row.arrows
                    .extend(arrows.into_iter().filter(|to| !row.arrows.contains(to)).collect::<Vec<_>>());
                row.after = world.bars();
                row.open = row.words.chars().count() < JOINED;
            }
            _ => rows.push(Row {
                thread: event.thread,
                open: joins && !mark && words.chars().count() < JOINED,
                words,
                line: event.line,
                mark,
                fails,
                arrows,
                after: world.bars(),
                times: 1,
            }),
        }
    }
    rows.dedup_by(|next, row| {
        let repeated = row.is_repeated_by(next);
        row.times += usize::from(repeated);
        repeated
    });
    (before, rows)
}

/// These events of a schedule in the words of the pictures.
pub fn told(schedule: &Schedule, events: &[Event]) -> String {
    events.iter().filter_map(|event| words(schedule, event)).collect::<Vec<_>>().join(", ")
}

/// What a thread did, for a row. `None` if that shows in its lane and at the end.
fn words(schedule: &Schedule, event: &Event) -> Option<String> {
    let name = |thread: &usize| &schedule.threads[*thread].name;
    let text = match &event.action {
        Action::Expect(what) if event.line.is_some() => format!("waits for {what}"),
        Action::Await(_) | Action::Expect(_) => return None,
        Action::Step(what) | Action::Fail(what) => {
            clip(what.lines().next().unwrap_or_default(), MOST_SIGNS, true)
        }
        Action::Spawn(thread) => format!("starts {}", name(thread)),
        Action::End { panicked: false } => "ends".into(),
        Action::End { panicked: true } => "ENDED BY A PANIC".into(),
        Action::Join(thread) => format!("has joined {}", name(thread)),
        Action::Want(lock) => format!("wants the lock{}", number(*lock)),
        Action::Lock(lock) => format!("locks{}", number(*lock)),
        Action::Unlock(lock) => format!("unlocks{}", number(*lock)),
        Action::Wait { condvar, .. } => format!("waits{}", number(*condvar)),
        Action::Wake { spurious: false, condvar, .. } => format!("wakes up{}", number(*condvar)),
        Action::Wake { spurious: true, .. } => "wakes up, unnotified".into(),
        Action::Notify { all: false, condvar, .. } => format!("notify_one{}", number(*condvar)),
        Action::Notify { all: true, condvar, .. } => format!("notify_all{}", number(*condvar)),
    };
    Some(event.line.map_or(text.clone(), |line| format!("{text} :{line}")))
}

/// Names a lock or condition variable. The first of each kind has no number.
fn number(n: usize) -> String {
    if n == 0 { String::new() } else { format!(" #{}", n + 1) }
}
