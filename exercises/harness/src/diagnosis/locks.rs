//! Rules about a thread that waits for a lock and does not get the lock.

use exercises_protocol::schedule::{Action, Event};

use super::Cause;
use crate::record::{Doing, LOCK_TAKEN, MESSAGE, Record, line_text};

/// Finds the thread that holds the lock for which the given thread waits, and the line at which the holder
/// took the lock.
fn blocked_by(record: &Record, thread: usize) -> Option<(usize, Option<u32>)> {
    let Doing::Locking(lock) = record.threads[thread].doing else { return None };
    record.locks.get(lock).copied().flatten()
}

/// Threads in a circle: each thread holds a lock for which the previous thread waits.
pub(super) fn opposite_orders(record: &Record) -> Option<Cause> {
    let circle_from = |first: usize| {
        let mut circle = Vec::new();
        let mut now = first;
        while let Some((holder, since)) = blocked_by(record, now) {
            circle.push((holder, since));
            if holder == first {
                return Some(circle);
            }
            if circle.len() > record.threads.len() {
                break; // the thread leads into a circle and is no part of it
            }
            now = holder;
        }
        None
    };
    let mut circle = (0..record.threads.len()).find_map(circle_from)?;
    circle.rotate_right(1); // begins with the thread it was found from
    let name = |n: usize| &record.threads[circle[n % circle.len()].0].name;
    let since = |n: usize| line_text(circle[n % circle.len()].1);
    let found = match circle.len() {
        2 => format!(
            "two locks are taken in opposite orders: {} has held one since {} and waits for the one that {} has held \
             since {}, and the other way round",
            name(0),
            since(0),
            name(1),
            since(1)
        ),
        all => {
            let links = (0..all).map(|n| format!("{} has held one since {}", name(n), since(n)));
            format!(
                "locks are taken in a circle: {}; and each of these threads waits for the lock of the next",
                links.collect::<Vec<_>>().join(", ")
            )
        }
    };
    let in_circle = |thread: usize| circle.iter().any(|(holder, _)| *holder == thread);
    Some((
        format!("{found}. Take them in the same order everywhere, or have one lock for all"),
        record
            .events
            .iter()
            .rposition(|event| in_circle(event.thread) && matches!(event.action, Action::Lock(_))),
    ))
}

/// Finds the cause if a thread waits for a lock whose owner waits, too.
pub(super) fn lock_kept(record: &Record) -> Option<Cause> {
    (0..record.threads.len()).find_map(|number| {
        let waiter = &record.threads[number];
        let Doing::Locking(lock) = waiter.doing else { return None };
        let (holder, since) = blocked_by(record, number)?;
        let holding = &record.threads[holder];
        let at = line_text(holding.line);
        let busy = match &holding.doing {
            Doing::Expecting(what) => format!("while it runs a job (which waits for {what})"),
            Doing::Waiting(_) => format!(
                "while it waits on a Condvar at {at}, which lets go of no lock but the one that it was given"
            ),
            Doing::Joining(other) => {
                format!("while it waits at {at} for {} to end", record.threads[*other].name)
            }
            Doing::Locking(_) => format!("while it waits at {at} for another lock"),
            Doing::Sleeping(MESSAGE) => return None, // workers that share a receiver wait like that, and may
            Doing::Blocked(what) | Doing::Sleeping(what) => format!("while it waits at {at} for {what}"),
            Doing::Running => "while it does something that takes long".into(),
            Doing::Ended | Doing::Panicked => "and has ended without letting go of it".into(),
        };
        let took = |event: &Event| match event.action {
            Action::Lock(taken) | Action::Wake { lock: taken, .. } => taken == lock,
            _ => false,
        };
        let expected = record.threads.iter().find_map(|thread| thread.expectations.last());
        let advice = match expected {
            // The activity of this thread is not known, so the best explanation is the cause that the
            // property gives.
            Some((_, cause)) if holding.doing == Doing::Running => cause.as_str(),
            _ => {
                "let go of the lock before anything that can take long. (A guard that is a temporary lives to the end of \
                 the whole statement, the body of `while let` or `match` included.)"
            }
        };
        let (waiter, name, since) = (&waiter.name, &holding.name, line_text(since));
        Some((
            format!(
                "the lock is held for too long: {name} has held it since {since} {busy}, and {waiter} needs it; {advice}"
            ),
            record.events.iter().rposition(|event| event.thread == holder && took(event)),
        ))
    })
}

/// A `try_lock` found the lock taken; the thread that called `try_lock` then went on with something else and
/// did not try again.
pub(super) fn went_on_without(record: &Record) -> Option<Cause> {
    let taken = |event: &Event| matches!(&event.action, Action::Step(what) if what == LOCK_TAKEN);
    let (at, event) = record.events.iter().enumerate().find(|(at, event)| {
        let next = record.events[at + 1..].iter().find(|next| next.thread == event.thread);
        taken(event) && !next.is_some_and(|next| taken(next) || matches!(next.action, Action::Lock(_)))
    })?;
    let (name, line) = (&record.threads[event.thread].name, line_text(event.line));
    Some((
        format!(
            "at {line} {name} found the lock taken and went on without it, so what it was to do there is not done. \
             If another thread keeps the lock for a moment only, wait for it: lock() in place of try_lock()"
        ),
        Some(at),
    ))
}
