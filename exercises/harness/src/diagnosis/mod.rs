//! Finds a sentence that names the mistake if a property does not end.
//!
//! The rules examine what the learner's threads are doing at the end, and which notifications were sent
//! before. The rules are tried in a fixed order. For example, the rule for dead threads comes before the rule
//! for lost notifications, because a dead thread explains why a notification never came. If no rule applies,
//! the result is the likely cause that the property itself gives.

mod waits;
mod locks;
mod panics;

use std::fmt::Write as _;

pub(crate) use panics::{is_still_to_do, of_escape, of_panic};

use crate::record::{Doing, Record, Thread, line_text};

/// The largest number of threads whose activity a message describes.
const MOST_THREADS: usize = 12;

pub(crate) struct Found {
    pub(crate) seen: String,
    pub(crate) cause: String,
    /// The event that decided the failure, if a rule knows this event.
    pub(crate) decisive: Option<usize>,
}

/// The likely cause of a failure, and the event that decided the failure, if the rule knows that event.
type Cause = (String, Option<usize>);

/// The message about a run that does not end: the run has more steps than any run that ends.
pub(crate) const RUNS_ON: &str = "a thread runs on and on";

/// The likely cause of [`RUNS_ON`], a run that does not end, if the answer is a test.
const TOO_LONG: &str = "a loop of your test has no end, or very many rounds. It is run on thousands of schedules, so it \
                        need not repeat anything: each scenario once, with as few threads and steps as show the mistake";

/// Describes the failure of a property that did not end. `verdict` says why it is known that the property did
/// not end. If the process was `busy`, a running thread explains the failure, whatever the other threads wait
/// for.
pub(crate) fn of_hang(record: &Record, verdict: &str, busy: bool) -> Found {
    let what =
        record.threads.iter().find_map(|thread| thread.expectations.last()).map_or("it", |(what, _)| what);
    let seen = format!("{what} never came to an end: {verdict}.{}", states(record));
    if record.judged.is_some() {
        let too_long = busy || verdict == RUNS_ON;
        let cause = if too_long { TOO_LONG.into() } else { expected_cause(record) };
        return Found { seen, cause, decisive: None };
    }
    let runs = busy.then(|| runs_on(record)).flatten();
    let (cause, decisive) =
        runs.or_else(|| by_rule(record)).unwrap_or_else(|| (expected_cause(record), None));
    Found { seen, cause, decisive }
}

fn by_rule(record: &Record) -> Option<Cause> {
    panics::died(record)
        .or_else(|| waits::waits_at_all(record))
        .or_else(|| locks::opposite_orders(record))
        .or_else(|| waits::sender_kept(record))
        .or_else(|| locks::lock_kept(record))
        .or_else(|| locks::went_on_without(record))
        .or_else(|| waits::woke_too_few(record))
        .or_else(|| waits::came_too_early(record))
        .or_else(|| waits::gave_up(record))
}

/// Finds a thread that computes, and is not in a call made by the property.
fn runs_on(record: &Record) -> Option<Cause> {
    let runs = |thread: &&Thread| thread.doing == Doing::Running && thread.expectations.is_empty();
    // Looks first at the threads that the answer has started, and then at the test itself.
    let thread = record.threads.iter().skip(1).find(runs).or_else(|| record.threads.iter().find(runs))?;
    Some((
        format!(
            "{} runs on and on: a loop of your code has no end, and nothing in it that waits",
            thread.name
        ),
        None,
    ))
}

/// Describes what the threads are doing, with a line for each thread. If there are many threads, the threads
/// that have not ended are described first.
fn states(record: &Record) -> String {
    let mut threads: Vec<&Thread> = record.threads.iter().collect();
    if threads.len() > MOST_THREADS {
        threads.sort_by_key(|thread| matches!(thread.doing, Doing::Ended | Doing::Panicked));
    }
    let mut text = String::new();
    for thread in threads.iter().take(MOST_THREADS) {
        let _ = write!(text, "\n  {} {}", thread.name, state(record, thread));
    }
    if let Some(more @ 1..) = threads.len().checked_sub(MOST_THREADS) {
        let _ = write!(text, "\n  and {more} more threads");
    }
    text
}

/// Describes what a thread is doing, for a sentence that begins with the thread's name: "waits on a Condvar
/// at line 41".
pub(crate) fn state(record: &Record, thread: &Thread) -> String {
    let line = match thread.line {
        None if record.judged.is_some() => "a line of what is tested".into(),
        line => line_text(line),
    };
    match &thread.doing {
        Doing::Running => match thread.expectations.last() {
            Some((what, _)) => format!("is in {what}"),
            None => "is running".into(),
        },
        Doing::Locking(lock) => match record.locks.get(*lock).copied().flatten() {
            Some((holder, since)) => format!(
                "waits at {line} for the lock that {} has held since {}",
                record.threads[holder].name,
                line_text(since)
            ),
            None => format!("waits at {line} for a lock"),
        },
        Doing::Waiting(_) => format!("waits on a Condvar at {line}"),
        Doing::Joining(other) => format!("waits at {line} for {} to end", record.threads[*other].name),
        Doing::Blocked(what) | Doing::Sleeping(what) => format!("waits at {line} for {what}"),
        Doing::Expecting(what) => format!("waits for {what}"),
        Doing::Ended => "has ended".into(),
        Doing::Panicked => "was ended by a panic".into(),
    }
}

/// The likely cause that the property itself gives.
fn expectation(record: &Record) -> Option<&str> {
    record.threads.iter().find_map(|thread| thread.expectations.last()).map(|(_, cause)| cause.as_str())
}

fn expected_cause(record: &Record) -> String {
    let computes = record.threads.iter().any(|thread| thread.doing == Doing::Running);
    match expectation(record) {
        Some(cause) => cause.to_owned(),
        None if computes => "a loop of your code has no end, and nothing in it that waits".into(),
        None => "a thread that your code started waits for something that no thread does any more".into(),
    }
}
