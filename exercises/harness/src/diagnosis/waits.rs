//! Rules about a thread that waits: for a notification, for a message, or in a call that must not wait.

use exercises_protocol::schedule::Action;

use super::{Cause, expectation};
use crate::record::{Doing, MESSAGE, Record, Thread};

/// Finds a thread that waits in a call that must not wait.
pub(super) fn waits_at_all(record: &Record) -> Option<Cause> {
    let waits = |thread: &&Thread| matches!(thread.doing, Doing::Waiting(_) | Doing::Joining(_));
    let mut waiting = record.threads.iter().filter(waits);
    let (what, cause) = waiting.find_map(|thread| thread.at_once.as_ref())?;
    Some((format!("{what} must not wait for anybody, and does: {cause}"), None))
}

/// Finds a thread that waits for the end of a second thread. The second thread waits for a message, or for a
/// lock that a third thread holds while it waits for a message.
pub(super) fn sender_kept(record: &Record) -> Option<Cause> {
    record.threads.iter().find_map(|waiter| {
        let Doing::Joining(joined) = waiter.doing else { return None };
        let receiver = match record.threads[joined].doing {
            Doing::Locking(lock) => record.locks.get(lock).copied().flatten()?.0,
            _ => joined,
        };
        let receiver = &record.threads[receiver];
        (receiver.doing == Doing::Sleeping(MESSAGE)).then(|| {
            (
                format!(
                    "{} waits for a message that no thread sends any more, and a sender of its channel still exists. \
                     recv() ends when the last sender is dropped: drop yours before you wait for the thread, and let no \
                     thread that receives keep one",
                    receiver.name
                ),
                None,
            )
        })
    })
}

/// A sleeping thread, and the last notification of the condition variable on which the thread sleeps.
struct Sleeper<'a> {
    name: &'a str,
    /// The event of the notification, and whether it was a `notify_all`.
    notified: Option<(usize, bool)>,
    waiting_then: usize,
    waiting_now: usize,
    /// True if the thread has checked its condition after that notification, and no thread has taken the lock
    /// since that check. So the thread has seen every change.
    saw_all: bool,
}

/// Finds the thread that was the last to fall asleep. Returns `None` if the sleep is no mistake: an idle
/// worker may sleep while a job waits for an action that no sleeping thread would perform.
fn sleeper(record: &Record) -> Option<Sleeper<'_>> {
    let asleep = |thread: usize| matches!(record.threads[thread].doing, Doing::Waiting(_));
    let wait = record
        .events
        .iter()
        .rposition(|event| matches!(event.action, Action::Wait { .. }) && asleep(event.thread))?;
    let last_wait = &record.events[wait];
    let (number, Action::Wait { condvar, .. }) = (last_wait.thread, &last_wait.action) else { return None };
    let mut waiting = vec![false; record.threads.len()];
    let (mut notified, mut waiting_then) = (None, 0);
    for (n, event) in record.events.iter().enumerate() {
        match &event.action {
            Action::Wait { condvar: c, .. } if c == condvar => waiting[event.thread] = true,
            Action::Wake { condvar: c, .. } if c == condvar => waiting[event.thread] = false,
            Action::Notify { condvar: c, all, .. } if c == condvar => {
                notified = Some((n, *all));
                waiting_then = waiting.iter().filter(|waiting| **waiting).count();
            }
            _ => {}
        }
    }
    let a_job_waits = record.threads.iter().enumerate().any(|(n, thread)| {
        n != number && n != 0 && matches!(thread.doing, Doing::Expecting(_)) && thread.expectations.is_empty()
    });
    let fine = a_job_waits && (number == 0 || (notified.is_some() && waiting_then > 0));
    let waiting_now = waiting.iter().filter(|waiting| **waiting).count();
    let name = &record.threads[number].name;
    let saw_all = notified.is_some_and(|(at, _)| saw_all_since(record, at, wait));
    (!fine).then_some(Sleeper { name, notified, waiting_then, waiting_now, saw_all })
}

/// Returns true if the thread has checked its condition after the event `since`, and no other thread took the
/// lock after that check. The thread began to wait at the event `wait`. If the thread took the lock twice in
/// a row, it may have checked its condition only the first time.
fn saw_all_since(record: &Record, since: usize, wait: usize) -> bool {
    let sleeper = record.events[wait].thread;
    let mut held = Vec::new(); // by the sleeper, and when it may have looked
    let mut last: Option<(usize, usize)> = None; // the lock that it let go of just before, and when it may have looked
    for (n, event) in record.events[..wait].iter().enumerate().filter(|(_, event)| event.thread == sleeper) {
        match event.action {
            Action::Lock(lock) => {
                let again = last.filter(|(before, _)| *before == lock);
                held.push((lock, again.map_or(n, |(_, looked)| looked)));
            }
            Action::Unlock(lock) => {
                last = held.iter().rfind(|(other, _)| *other == lock).copied();
                held.retain(|(other, _)| *other != lock);
            }
            Action::Wake { .. } => held.iter_mut().for_each(|(_, looked)| *looked = n),
            Action::Step(_) => last = None, // it has done something else in between
            _ => {}
        }
    }
    let Some((lock, looked)) = held.pop() else { return false };
    looked > since && record.events[wait..].iter().all(|event| event.action != Action::Lock(lock))
}

pub(super) fn woke_too_few(record: &Record) -> Option<Cause> {
    let sleeper = sleeper(record)?;
    let (at, all) = sleeper.notified?;
    let waiting = sleeper.waiting_then;
    (!all && waiting > 1 && sleeper.waiting_now < waiting).then(|| {
        (
            format!(
                "notify_one() wakes one thread, and {waiting} were waiting: the rest sleeps on. What every waiter has \
                 to see (that the end has come, say) needs notify_all()"
            ),
            Some(at),
        )
    })
}

pub(super) fn came_too_early(record: &Record) -> Option<Cause> {
    let sleeper = sleeper(record)?;
    let name = sleeper.name;
    Some(match sleeper.notified {
        None => (
            format!(
                "no thread has notified the Condvar that {name} waits on. Whoever changes what a waiter waits for has to \
                 notify{}",
                expectation(record)
                    .map_or_else(String::new, |cause| format!(". If no thread has changed it: {cause}"))
            ),
            record.events.iter().rposition(|event| matches!(event.action, Action::Wait { .. })),
        ),
        Some(_) if sleeper.saw_all => return None,
        Some((at, _)) => (
            format!(
                "the wake-up is lost: the last notification came before {name} was waiting, and a Condvar does not \
                 remember it. Change what the waiter looks at while you hold the lock that it holds when it looks, \
                 and notify after the change; and let nothing come between the look and the wait"
            ),
            Some(at),
        ),
    })
}

/// Finds a thread that woke up and ended without having done anything.
pub(super) fn gave_up(record: &Record) -> Option<Cause> {
    record.threads.iter().enumerate().find_map(|(number, thread)| {
        let of_thread = record.events.iter().enumerate().filter(|(_, event)| event.thread == number);
        let last: Vec<_> = of_thread.rev().take(3).collect();
        let [(_, end), (_, unlock), (n, wake)] = last[..] else { return None };
        let gave_up = end.action == Action::End { panicked: false }
            && matches!(unlock.action, Action::Unlock(_))
            && matches!(wake.action, Action::Wake { .. });
        gave_up.then(|| (format!("{} woke up, found nothing, and ended. {HINT}", thread.name), Some(n)))
    })
}

pub(super) const HINT: &str = "A wake-up is only a hint: somebody else may have been faster, and a wait may end with no \
                    notification at all. Look again, in a `while` (or use wait_while), not in an `if`";
