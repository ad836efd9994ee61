//! From "nobody can go on" to a sentence that names the mistake.
//!
//! The rules look at what the threads of the learner's code do at the end, and at the notifications before. They are in
//! the order in which they explain most: a thread that died explains why a notification never came, not the other way
//! round. If none applies, the cause is what the property itself expects it to be.

use std::panic::Location;

use exercises_protocol::schedule::Action;

use crate::recorder::{Doing, MESSAGE, Recorder, Thread, line_text};

pub(crate) struct Found {
    pub(crate) seen: String,
    pub(crate) cause: String,
    /// The event that decided it, if it is not the last one.
    pub(crate) decisive: Option<usize>,
}

/// The property did not come to an end. `verdict` says how that is known.
/// If it was `busy`, a thread that runs explains it, whatever others wait for.
pub(crate) fn of_hang(recorder: &Recorder, verdict: &str, busy: bool) -> Found {
    let what =
        recorder.threads.iter().find_map(|thread| thread.expectations.last()).map_or("it", |(what, _)| what);
    let states = recorder.threads.iter().map(|thread| format!("\n  {}", state(recorder, thread)));
    let seen = format!("{what} never came to an end: {verdict}.{}", states.collect::<String>());
    let runs = busy.then(|| runs_on(recorder)).flatten();
    let (cause, decisive) =
        runs.or_else(|| by_rule(recorder)).unwrap_or_else(|| (expected_cause(recorder), None));
    Found { seen, cause, decisive }
}

/// "thread 1 waits on a Condvar at line 41".
fn state(recorder: &Recorder, thread: &Thread) -> String {
    let name = &thread.name;
    let line = line_text(thread.line);
    match &thread.doing {
        Doing::Running => match thread.expectations.last() {
            Some((what, _)) => format!("{name} is in {what}"),
            None => format!("{name} is running"),
        },
        Doing::Locking(lock) => match recorder.locks.get(*lock).copied().flatten() {
            Some((holder, since)) => format!(
                "{name} waits at {line} for the lock that {} has held since {}",
                recorder.threads[holder].name,
                line_text(since)
            ),
            None => format!("{name} waits at {line} for a lock"),
        },
        Doing::Waiting(_) => format!("{name} waits on a Condvar at {line}"),
        Doing::Joining(other) => {
            format!("{name} waits at {line} for {} to end", recorder.threads[*other].name)
        }
        Doing::Blocked(what) | Doing::Sleeping(what) => format!("{name} waits at {line} for {what}"),
        Doing::Expecting(what) => format!("{name} waits for {what}"),
        Doing::Ended => format!("{name} has ended"),
        Doing::Panicked => format!("{name} was ended by a panic"),
    }
}

fn expected_cause(recorder: &Recorder) -> String {
    let expected = recorder.threads.iter().find_map(|thread| thread.expectations.last());
    let computes = recorder.threads.iter().any(|thread| thread.doing == Doing::Running);
    match expected {
        Some((_, cause)) => cause.clone(),
        None if computes => "a loop of your code has no end, and nothing in it that waits".into(),
        None => "a thread that your code started waits for something that nobody does any more".into(),
    }
}

/// A thread that computes, and not one that is in a call of the property's.
fn runs_on(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let runs = |thread: &&Thread| thread.doing == Doing::Running && thread.expectations.is_empty();
    // Those that the answer has started, before the test itself.
    let thread = recorder.threads.iter().skip(1).find(runs).or_else(|| recorder.threads.iter().find(runs))?;
    Some((
        format!(
            "{} runs on and on: a loop of your code has no end, and nothing in it that waits",
            thread.name
        ),
        None,
    ))
}

fn by_rule(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    died(recorder)
        .or_else(|| opposite_orders(recorder))
        .or_else(|| sender_kept(recorder))
        .or_else(|| lock_kept(recorder))
        .or_else(|| woke_too_few(recorder))
        .or_else(|| came_too_early(recorder))
        .or_else(|| gave_up(recorder))
}

fn died(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let died = |thread: &Thread| thread.doing == Doing::Panicked && !thread.of_the_property;
    let dead = recorder.threads.iter().position(died)?;
    let at = recorder.events.iter().rposition(|event| event.thread == dead);
    let name = &recorder.threads[dead].name;
    Some((
        format!(
            "a panic ended {name}, and the work it should still do is left undone. A panic must not end more than \
             the job it happens in: catch it (std::panic::catch_unwind)"
        ),
        at,
    ))
}

/// Two threads, each with a lock that the other waits for.
fn opposite_orders(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let waits_for = |thread: &Thread| {
        let Doing::Locking(lock) = thread.doing else { return None };
        recorder.locks.get(lock).copied().flatten()
    };
    recorder.threads.iter().enumerate().find_map(|(number, one)| {
        let (holder, since) = waits_for(one)?;
        let other = &recorder.threads[holder];
        let (_, mine) = waits_for(other).filter(|(back, _)| *back == number && holder != number)?;
        let (name, other_name) = (&one.name, &other.name);
        let (mine, since) = (line_text(mine), line_text(since));
        Some((
            format!(
                "two locks are taken in opposite orders: {name} has held one since {mine} and waits for the one that \
                 {other_name} has held since {since}, and the other way round. Take them in the same order everywhere, \
                 or have one lock for both"
            ),
            recorder.events.iter().rposition(|event| {
                [number, holder].contains(&event.thread) && matches!(event.action, Action::Lock(_))
            }),
        ))
    })
}

/// Somebody waits for the end of a thread that waits for a message, or for the lock of one that does.
fn sender_kept(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    recorder.threads.iter().find_map(|waiter| {
        let Doing::Joining(joined) = waiter.doing else { return None };
        let receiver = match recorder.threads[joined].doing {
            Doing::Locking(lock) => recorder.locks.get(lock).copied().flatten()?.0,
            _ => joined,
        };
        let receiver = &recorder.threads[receiver];
        (receiver.doing == Doing::Sleeping(MESSAGE)).then(|| {
            (
                format!(
                    "{} waits for a message that nobody sends any more, and a sender of its channel still exists. \
                     recv() ends when the last sender is dropped: drop yours before you wait for the thread, and let no \
                     thread that receives keep one",
                    receiver.name
                ),
                None,
            )
        })
    })
}

fn lock_kept(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    recorder.threads.iter().find_map(|waiter| {
        let Doing::Locking(lock) = waiter.doing else { return None };
        let (holder, since) = recorder.locks.get(lock).copied().flatten()?;
        let holding = &recorder.threads[holder];
        let busy = match &holding.doing {
            Doing::Expecting(what) => format!("runs a job (which waits for {what})"),
            Doing::Waiting(_) | Doing::Joining(_) | Doing::Locking(_) => "waits for something else".into(),
            _ => return None,
        };
        let at = recorder
            .events
            .iter()
            .rposition(|event| event.thread == holder && event.action == Action::Lock(lock));
        let (waiter, holder, since) = (&waiter.name, &holding.name, line_text(since));
        Some((
            format!(
                "the lock is held for too long: {holder} has held it since {since} while it {busy}, and {waiter} needs \
                 it. Let go of the lock before anything that can take long. (A guard that is a temporary lives to the \
                 end of the whole statement, the body of `while let` or `match` included.)"
            ),
            at,
        ))
    })
}

/// A thread that sleeps, and the last notification of the condition variable it sleeps on.
struct Sleeper<'a> {
    name: &'a str,
    /// The event, and whether it was for all.
    notified: Option<(usize, bool)>,
    waiting_then: usize,
    waiting_now: usize,
}

/// Of those that sleep, the one that went to sleep last. None if sleeping is all right: an idle worker is not the
/// mistake if somebody's job waits for something that no sleeper would bring.
fn sleeper(recorder: &Recorder) -> Option<Sleeper<'_>> {
    let asleep = |thread: usize| matches!(recorder.threads[thread].doing, Doing::Waiting(_));
    let last_wait = recorder
        .events
        .iter()
        .rfind(|event| matches!(event.action, Action::Wait(_)) && asleep(event.thread))?;
    let (number, Action::Wait(condvar)) = (last_wait.thread, &last_wait.action) else { return None };
    let mut waiting = vec![false; recorder.threads.len()];
    let (mut notified, mut waiting_then) = (None, 0);
    for (n, event) in recorder.events.iter().enumerate() {
        match &event.action {
            Action::Wait(c) if c == condvar => waiting[event.thread] = true,
            Action::Wake { condvar: c, .. } if c == condvar => waiting[event.thread] = false,
            Action::Notify { condvar: c, all } if c == condvar => {
                notified = Some((n, *all));
                waiting_then = waiting.iter().filter(|waiting| **waiting).count();
            }
            _ => {}
        }
    }
    let a_job_waits = recorder.threads.iter().enumerate().any(|(n, thread)| {
        n != number && n != 0 && matches!(thread.doing, Doing::Expecting(_)) && thread.expectations.is_empty()
    });
    let fine = a_job_waits && (number == 0 || (notified.is_some() && waiting_then > 0));
    let waiting_now = waiting.iter().filter(|waiting| **waiting).count();
    let name = &recorder.threads[number].name;
    (!fine).then_some(Sleeper { name, notified, waiting_then, waiting_now })
}

fn woke_too_few(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let sleeper = sleeper(recorder)?;
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

fn came_too_early(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let sleeper = sleeper(recorder)?;
    let name = sleeper.name;
    Some(match sleeper.notified {
        None => (
            format!(
                "nobody has notified the Condvar that {name} waits on. Whoever changes what a waiter waits for has to \
                 notify"
            ),
            recorder.events.iter().rposition(|event| matches!(event.action, Action::Wait(_))),
        ),
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

/// A thread that woke up and ended without having done anything.
fn gave_up(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    recorder.threads.iter().enumerate().find_map(|(number, thread)| {
        let of_thread = recorder.events.iter().enumerate().filter(|(_, event)| event.thread == number);
        let last: Vec<_> = of_thread.rev().take(3).collect();
        let [(_, end), (_, unlock), (n, wake)] = last[..] else { return None };
        let gave_up = end.action == Action::End { panicked: false }
            && matches!(unlock.action, Action::Unlock(_))
            && matches!(wake.action, Action::Wake { .. });
        gave_up.then(|| (format!("{} woke up, found nothing, and ended. {HINT}", thread.name), Some(n)))
    })
}

const HINT: &str = "A wake-up is only a hint: somebody else may have been faster, and a wait may end with no \
                    notification at all. Look again, in a `while` (or use wait_while), not in an `if`";

/// Somebody panicked who should not have.
pub(crate) fn of_panic(recorder: &Recorder, me: usize, message: &str, at: Option<&Location<'_>>) -> Found {
    let thread = &recorder.threads[me];
    let place = at.map_or_else(String::new, |at| {
        let file = at.file().rsplit(['/', '\\']).next().unwrap_or_default();
        format!(" ({file}, line {})", at.line())
    });
    if let Some(todo) = message.strip_prefix("not yet implemented") {
        let todo = todo.trim_start_matches(": ");
        return Found {
            seen: format!("still to do: {todo}{place}"),
            cause: "a todo!() is left in src/exercise.rs".into(),
            decisive: None,
        };
    }
    let seen = format!("{} panicked: {message}{place}", thread.name);
    // The last thing it did on its way here: was it the end of a wait?
    let last = recorder.events.iter().enumerate().rev().find(|(_, event)| event.thread == me);
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
        _ => thread
            .expectations
            .last()
            .map_or_else(|| "no step of a right answer panics".into(), |(_, cause)| cause.clone()),
    };
    Found { seen, cause, decisive: None }
}
