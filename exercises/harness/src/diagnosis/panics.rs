//! Rules about panics: a panic can be the failure itself, or the reason why a thread no longer does its work.

use std::panic::Location;

use exercises_protocol::schedule::Action;

use super::waits::HINT;
use super::{Cause, Found, expected_cause};
use crate::record::{Doing, PANICS, Record};

pub(super) fn died(record: &Record) -> Option<Cause> {
    (0..record.threads.len()).find(|thread| was_ended(record, *thread)).map(|dead| of_death(record, dead))
}

/// Returns true if the learner's code started the thread, and a panic has ended the thread.
fn was_ended(record: &Record, thread: usize) -> bool {
    let thread = &record.threads[thread];
    thread.doing == Doing::Panicked && !thread.of_the_property
}

fn of_death(record: &Record, dead: usize) -> Cause {
    let at = record.events.iter().rposition(|event| event.thread == dead);
    let name = &record.threads[dead].name;
    (
        format!(
            "a panic ended {name}, and the work it should still do is left undone. A panic must not end more than \
             the job it happens in: catch it (std::panic::catch_unwind)"
        ),
        at,
    )
}

const STILL_TO_DO: &str = "not yet implemented";

/// Returns true if the panic comes from a `todo!()`.
pub(crate) fn is_still_to_do(message: &str) -> bool {
    message.starts_with(STILL_TO_DO)
}

/// Describes the failure of a property in which a thread panicked unintentionally.
pub(crate) fn of_panic(record: &Record, me: usize, message: &str, at: Option<&Location<'_>>) -> Found {
    let thread = &record.threads[me];
    let place = at.map_or_else(String::new, |at| {
        let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
        format!(" ({file}, line {})", at.line())
    });
    if let Some(todo) = message.strip_prefix(STILL_TO_DO) {
        let todo = todo.trim_start_matches(": ");
        return Found {
            seen: format!("still to do: {todo}{place}"),
            cause: "a todo!() is left in src/exercise.rs".into(),
            decisive: None,
        };
    }
    let seen = format!("{} panicked: {message}{place}", thread.name);
    if let Some(test) = &record.judged {
        let before = test.panicked_aside.iter().map(|seen| format!("{seen}\n"));
        let seen = before.chain([seen]).collect();
        return Found { seen, cause: expected_cause(record), decisive: None };
    }
    // Finds out whether the thread's last step before this point was the end of a wait.
    let last = record.events.iter().enumerate().rev().find(|(_, event)| event.thread == me);
    let cause = match last {
        Some((n, event)) if matches!(event.action, Action::Wake { .. }) => {
            return Found {
                seen,
                cause: format!(
                    "{} had just woken up, and what it waited for was not there. {HINT}",
                    thread.name
                ),
                decisive: Some(n),
            };
        }
        _ => match (dead_or_dying(record, me), thread.expectations.last()) {
            (Some(dead), _) => {
                let (cause, decisive) = of_death(record, dead);
                return Found { seen, cause, decisive };
            }
            (None, Some((_, cause))) => cause.clone(),
            (None, None) if has_panicked_on_purpose(record) => ANOTHER_PANIC.into(),
            (None, None) => "no step of a right answer panics".into(),
        },
    };
    Found { seen, cause, decisive: None }
}

const ANOTHER_PANIC: &str = "a job or a step of the test has panicked before, on purpose, and this is another panic, \
                             which your code raises. If a panic has to go on, hand on what catch_unwind() returned \
                             (std::panic::resume_unwind): with another payload it is not known what the panic was";

/// Returns true if a closure of the property has panicked intentionally.
fn has_panicked_on_purpose(record: &Record) -> bool {
    record.events.iter().any(|event| matches!(&event.action, Action::Step(what) if what == PANICS))
}

/// Finds another thread that has panicked. The panic has dropped values of that thread, and the loss of these
/// values explains what is missing now.
fn dead_or_dying(record: &Record, me: usize) -> Option<usize> {
    let is_dying = |thread: usize| {
        let last = record.events.iter().rfind(|event| event.thread == thread);
        let panics = last.is_some_and(|event| matches!(&event.action, Action::Step(what) if what == PANICS));
        panics && !record.threads[thread].of_the_property
    };
    (1..record.threads.len())
        .find(|thread| *thread != me && (was_ended(record, *thread) || is_dying(*thread)))
}

/// Describes the failure of a property if the intended panic of a job came out of a call that the property
/// made.
pub(crate) fn of_escape(record: &Record, me: usize) -> Found {
    let thread = &record.threads[me];
    let call = thread.expectations.last().map_or("your code", |(what, _)| what);
    Found {
        seen: format!("the panic of a job came out of {call}, on {}", thread.name),
        cause:
            "a panic must not reach more than the job it happens in: whoever calls the job has to catch it \
                (std::panic::catch_unwind)"
                .into(),
        decisive: None,
    }
}
