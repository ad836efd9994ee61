//! A picture of a schedule: a lane for each thread, a row for each step, and time from top to bottom.
//!
//! A [`Picture`] decides what is drawn: the activity of each thread after each step, the threads that wake
//! each other, and the steps that are left out because there are too many. [`text()`] draws the picture for a
//! terminal, and [`svg()`] draws it for a page.

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

/// The activity of a thread between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    /// The thread has not begun, or has ended.
    #[default]
    Nothing,
    /// The thread was started, and has done nothing yet.
    Started,
    /// The thread runs, or is ready to run.
    Runs,
    /// The thread waits for a lock.
    WantsLock,
    /// The thread sleeps on a condition variable.
    Sleeps,
    /// The thread waits for something else: the end of a thread, or an object of the property.
    Waits,
}

/// A piece of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bar {
    doing: Doing,
    /// True if the thread holds a lock.
    holds: bool,
}

/// The steps that one thread made without a step of another thread in between.
struct Row {
    /// The thread.
    thread: usize,
    words: String,
    /// The line of the learner's file to which the words belong.
    line: Option<u32>,
    /// True if this step decided the failure.
    mark: bool,
    /// True if the property fails or the thread panics in this step.
    fails: bool,
    /// The threads that go on because of this step: threads that it starts, wakes or gives a lock.
    arrows: Vec<usize>,
    /// The activity of each thread after this step.
    after: Vec<Bar>,
    /// True if the next step may be added to this row.
    open: bool,
    /// The number of times that the step was made in succession.
    times: usize,
}

impl Row {
    /// Returns true if the other step is a repetition of this step. Repeated steps are joined, so that a
    /// spinning thread does not fill the picture.
    fn is_repeated_by(&self, other: &Self) -> bool {
        let same = (self.thread, &self.words, self.line) == (other.thread, &other.words, other.line);
        same && !self.mark && !other.mark && self.after == other.after && other.arrows.is_empty()
    }

    /// Returns the step and its number of repetitions, in words.
    fn told(&self) -> String {
        if self.times == 1 { self.words.clone() } else { format!("{} (×{})", self.words, self.times) }
    }
}

/// The part of a schedule that is drawn.
struct Picture<'a> {
    schedule: &'a Schedule,
    /// The threads that have a lane.
    lanes: Vec<usize>,
    rows: Vec<Row>,
    /// The activity of each thread before the first row.
    before: Vec<Bar>,
    /// The number of rows that are left out before the first drawn row; `later` is the number of rows that
    /// are left out after the last drawn row.
    earlier: usize,
    later: usize,
    /// The number of threads that have no lane; their rows are not drawn.
    others: usize,
}

/// A row with at least this many characters is not joined with the next step.
const JOINED: usize = 28;
/// The largest number of characters of a step.
const MOST_SIGNS: usize = 100;

impl<'a> Picture<'a> {
    /// Selects the part of a schedule that is drawn, with at most the given numbers of rows and lanes: the
    /// end of the schedule, and always the decisive step.
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

    /// Returns the lanes to which the arrows of this row lead.
    fn targets(&self, row: &Row) -> Vec<usize> {
        row.arrows.iter().filter_map(|&thread| self.lane(thread)).collect()
    }

    /// Describes the parts that are not drawn.
    fn left_out(&self) -> Option<String> {
        let left_out: Vec<String> =
            [(self.earlier, "earlier steps"), (self.later, "later steps"), (self.others, "other threads")]
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
        (!left_out.is_empty()).then(|| format!("not drawn: {}", left_out.join(", ")))
    }

    /// Returns the threads, each with a description of what it was doing at the end.
    fn ends(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let threads = self.lanes.iter().map(|&thread| &self.schedule.threads[thread]);
        threads.map(|thread| (thread.name.as_str(), thread.end.as_str())).filter(|(_, end)| !end.is_empty())
    }

    /// Returns all kinds of bars that occur in the lanes, for a legend.
    fn bars(&self) -> impl Iterator<Item = Bar> {
        let moments = std::iter::once(&self.before).chain(self.rows.iter().map(|row| &row.after));
        moments.flat_map(|moment| self.lanes.iter().map(|&thread| moment[thread]))
    }
}

/// Returns the threads that have a lane, and the number of threads that took part but have no lane. The lanes
/// are given first to the threads of the decisive step and of the failure, then to the test, and then to the
/// threads that acted last.
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

/// Returns the first activity of every thread, and a row for each step. If no other thread makes a step in
/// between, the taking of a lock and the steps under this lock are one row.
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

/// Functions that describe events of a schedule in words, for the pictures.
pub fn told(schedule: &Schedule, events: &[Event]) -> String {
    events.iter().filter_map(|event| words(schedule, event)).collect::<Vec<_>>().join(", ")
}

/// Describes a step of a thread, for a row. Returns `None` if the bar of the lane, or the description of the
/// thread's end, already shows the step.
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

/// Returns the name of a lock or condition variable. The first lock and the first condition variable have no
/// number.
fn number(n: usize) -> String {
    if n == 0 { String::new() } else { format!(" #{}", n + 1) }
}
