//! From a property that does not end to a sentence that names the mistake.
//!
//! The rules look at what the threads of the learner's code do at the end, and at the notifications before.
//! They are in the order in which they explain most: a thread that died explains why a notification never
//! came, not the other way round. If none applies, the cause is what the property itself expects it to be.

use std::fmt::Write as _;
use std::panic::Location;

use exercises_protocol::schedule::{Action, Event};

use crate::recorder::{Doing, LOCK_TAKEN, MESSAGE, PANICS, Recorder, Thread, line_text};

/// A message says of at most so many threads what they are doing.
const MOST_THREADS: usize = 12;

pub(crate) struct Found {
    pub(crate) seen: String,
    pub(crate) cause: String,
    /// The event that decided it, if a rule knows it.
    pub(crate) decisive: Option<usize>,
}

/// The failure of a property that did not come to an end. `verdict` says how that is known.
/// If the process was `busy`, a running thread explains the failure, whatever others wait for.
pub(crate) fn of_hang(recorder: &Recorder, verdict: &str, busy: bool) -> Found {
    let what =
        recorder.threads.iter().find_map(|thread| thread.expectations.last()).map_or("it", |(what, _)| what);
    let seen = format!("{what} never came to an end: {verdict}.{}", states(recorder));
    if recorder.judged.is_some() {
        let too_long = busy || verdict == RUNS_ON;
        let cause = if too_long { TOO_LONG.into() } else { expected_cause(recorder) };
        return Found { seen, cause, decisive: None };
    }
    let runs = busy.then(|| runs_on(recorder)).flatten();
    let (cause, decisive) =
        runs.or_else(|| by_rule(recorder)).unwrap_or_else(|| (expected_cause(recorder), None));
    Found { seen, cause, decisive }
}

/// What the threads are doing, a line for each. If there are very many, first come those that have not ended.
fn states(recorder: &Recorder) -> String {
    let mut threads: Vec<&Thread> = recorder.threads.iter().collect();
    if threads.len() > MOST_THREADS {
        threads.sort_by_key(|thread| matches!(thread.doing, Doing::Ended | Doing::Panicked));
    }
    let mut text = String::new();
    for thread in threads.iter().take(MOST_THREADS) {
        let _ = write!(text, "\n  {} {}", thread.name, state(recorder, thread));
    }
    if let Some(more @ 1..) = threads.len().checked_sub(MOST_THREADS) {
        let _ = write!(text, "\n  and {more} more threads");
    }
    text
}

/// What a thread is doing, for a sentence that begins with its name: "waits on a Condvar at line 41".
pub(crate) fn state(recorder: &Recorder, thread: &Thread) -> String {
    let line = match thread.line {
        None if recorder.judged.is_some() => "a line of what is tested".into(),
        line => line_text(line),
    };
    match &thread.doing {
        Doing::Running => match thread.expectations.last() {
            Some((what, _)) => format!("is in {what}"),
            None => "is running".into(),
        },
        Doing::Locking(lock) => match recorder.locks.get(*lock).copied().flatten() {
            Some((holder, since)) => format!(
                "waits at {line} for the lock that {} has held since {}",
                recorder.threads[holder].name,
                line_text(since)
            ),
            None => format!("waits at {line} for a lock"),
        },
        Doing::Waiting(_) => format!("waits on a Condvar at {line}"),
        Doing::Joining(other) => format!("waits at {line} for {} to end", recorder.threads[*other].name),
        Doing::Blocked(what) | Doing::Sleeping(what) => format!("waits at {line} for {what}"),
        Doing::Expecting(what) => format!("waits for {what}"),
        Doing::Ended => "has ended".into(),
        Doing::Panicked => "was ended by a panic".into(),
    }
}

/// What the property expects the cause to be.
fn expectation(recorder: &Recorder) -> Option<&str> {
    recorder.threads.iter().find_map(|thread| thread.expectations.last()).map(|(_, cause)| cause.as_str())
}

fn expected_cause(recorder: &Recorder) -> String {
    let computes = recorder.threads.iter().any(|thread| thread.doing == Doing::Running);
    match expectation(recorder) {
        Some(cause) => cause.to_owned(),
        None if computes => "a loop of your code has no end, and nothing in it that waits".into(),
        None => "a thread that your code started waits for something that no thread does any more".into(),
    }
}

/// Finds a thread that computes and is not in a call of the property's.
fn runs_on(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let runs = |thread: &&Thread| thread.doing == Doing::Running && thread.expectations.is_empty();
    // First the threads that the answer has started, then the test itself.
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
        .or_else(|| waits_at_all(recorder))
        .or_else(|| opposite_orders(recorder))
        .or_else(|| sender_kept(recorder))
        .or_else(|| lock_kept(recorder))
        .or_else(|| went_on_without(recorder))
        .or_else(|| woke_too_few(recorder))
        .or_else(|| came_too_early(recorder))
        .or_else(|| gave_up(recorder))
}

fn died(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    (0..recorder.threads.len())
        .find(|thread| was_ended(recorder, *thread))
        .map(|dead| of_death(recorder, dead))
}

/// Whether a panic has ended the thread, and the learner's code has started it.
fn was_ended(recorder: &Recorder, thread: usize) -> bool {
    let thread = &recorder.threads[thread];
    thread.doing == Doing::Panicked && !thread.of_the_property
}

fn of_death(recorder: &Recorder, dead: usize) -> (String, Option<usize>) {
    let at = recorder.events.iter().rposition(|event| event.thread == dead);
    let name = &recorder.threads[dead].name;
    (
        format!(
            "a panic ended {name}, and the work it should still do is left undone. A panic must not end more than \
             the job it happens in: catch it (std::panic::catch_unwind)"
        ),
        at,
    )
}

/// Finds a thread that waits in a call in which it must not.
fn waits_at_all(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let waits = |thread: &&Thread| matches!(thread.doing, Doing::Waiting(_) | Doing::Joining(_));
    let mut waiting = recorder.threads.iter().filter(waits);
    let (what, cause) = waiting.find_map(|thread| thread.at_once.as_ref())?;
    Some((format!("{what} must not wait for anybody, and does: {cause}"), None))
}

/// The thread that has the lock that this one waits for, and since which line.
fn blocked_by(recorder: &Recorder, thread: usize) -> Option<(usize, Option<u32>)> {
    let Doing::Locking(lock) = recorder.threads[thread].doing else { return None };
    recorder.locks.get(lock).copied().flatten()
}

/// Finds a thread that waits for the end of a thread that waits for a message, or for the lock of one that
/// does.
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

/// Threads in a circle, each with a lock that the one before waits for.
fn opposite_orders(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let circle_from = |first: usize| {
        let mut circle = Vec::new();
        let mut now = first;
        while let Some((holder, since)) = blocked_by(recorder, now) {
            circle.push((holder, since));
            if holder == first {
                return Some(circle);
            }
            if circle.len() > recorder.threads.len() {
                break; // the thread leads into a circle and is no part of it
            }
            now = holder;
        }
        None
    };
    let mut circle = (0..recorder.threads.len()).find_map(circle_from)?;
    circle.rotate_right(1); // begins with the thread it was found from
    let name = |n: usize| &recorder.threads[circle[n % circle.len()].0].name;
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
        recorder
            .events
            .iter()
            .rposition(|event| in_circle(event.thread) && matches!(event.action, Action::Lock(_))),
    ))
}

/// A thread waits for a lock whose owner does not go on either.
fn lock_kept(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    (0..recorder.threads.len()).find_map(|number| {
        let waiter = &recorder.threads[number];
        let Doing::Locking(lock) = waiter.doing else { return None };
        let (holder, since) = blocked_by(recorder, number)?;
        let holding = &recorder.threads[holder];
        let at = line_text(holding.line);
        let busy = match &holding.doing {
            Doing::Expecting(what) => format!("while it runs a job (which waits for {what})"),
            Doing::Waiting(_) => format!(
                "while it waits on a Condvar at {at}, which lets go of no lock but the one that it was given"
            ),
            Doing::Joining(other) => {
                format!("while it waits at {at} for {} to end", recorder.threads[*other].name)
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
        let expected = recorder.threads.iter().find_map(|thread| thread.expectations.last());
        let advice = match expected {
            // What the thread does is not known, so the property knows best.
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
            recorder.events.iter().rposition(|event| event.thread == holder && took(event)),
        ))
    })
}

/// A `try_lock` found the lock taken, and its thread did something else instead of trying again.
fn went_on_without(recorder: &Recorder) -> Option<(String, Option<usize>)> {
    let taken = |event: &Event| matches!(&event.action, Action::Step(what) if what == LOCK_TAKEN);
    let (at, event) = recorder.events.iter().enumerate().find(|(at, event)| {
        let next = recorder.events[at + 1..].iter().find(|next| next.thread == event.thread);
        taken(event) && !next.is_some_and(|next| taken(next) || matches!(next.action, Action::Lock(_)))
    })?;
    let (name, line) = (&recorder.threads[event.thread].name, line_text(event.line));
    Some((
        format!(
            "at {line} {name} found the lock taken and went on without it, so what it was to do there is not done. \
             If another thread keeps the lock for a moment only, wait for it: lock() in place of try_lock()"
        ),
        Some(at),
    ))
}

/// A thread that sleeps, and the last notification of the condition variable it sleeps on.
struct Sleeper<'a> {
    name: &'a str,
    /// The event, and whether it was for all.
    notified: Option<(usize, bool)>,
    waiting_then: usize,
    waiting_now: usize,
    /// The thread had looked after that notification, and no thread has had the lock since: there was nothing
    /// more to see.
    saw_all: bool,
}

/// The thread that went to sleep last. `None` if sleeping is all right: an idle worker is not the mistake if
/// a job waits for something that no sleeper would bring.
fn sleeper(recorder: &Recorder) -> Option<Sleeper<'_>> {
    let asleep = |thread: usize| matches!(recorder.threads[thread].doing, Doing::Waiting(_));
    let wait = recorder
        .events
        .iter()
        .rposition(|event| matches!(event.action, Action::Wait { .. }) && asleep(event.thread))?;
    let last_wait = &recorder.events[wait];
    let (number, Action::Wait { condvar, .. }) = (last_wait.thread, &last_wait.action) else { return None };
    let mut waiting = vec![false; recorder.threads.len()];
    let (mut notified, mut waiting_then) = (None, 0);
    for (n, event) in recorder.events.iter().enumerate() {
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
    let a_job_waits = recorder.threads.iter().enumerate().any(|(n, thread)| {
        n != number && n != 0 && matches!(thread.doing, Doing::Expecting(_)) && thread.expectations.is_empty()
    });
    let fine = a_job_waits && (number == 0 || (notified.is_some() && waiting_then > 0));
    let waiting_now = waiting.iter().filter(|waiting| **waiting).count();
    let name = &recorder.threads[number].name;
    let saw_all = notified.is_some_and(|(at, _)| saw_all_since(recorder, at, wait));
    (!fine).then_some(Sleeper { name, notified, waiting_then, waiting_now, saw_all })
}

/// Whether the thread that waits since the event `wait` looked after the event `since`, and no other thread
/// took the lock after that. If it had the lock twice, one right after the other, it may have looked only the
/// first time.
fn saw_all_since(recorder: &Recorder, since: usize, wait: usize) -> bool {
    let sleeper = recorder.events[wait].thread;
    let mut held = Vec::new(); // by the sleeper, and when it may have looked
    let mut last: Option<(usize, usize)> = None; // the lock that it let go of just before, and when it may have looked
    for (n, event) in recorder.events[..wait].iter().enumerate().filter(|(_, event)| event.thread == sleeper)
    {
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
    looked > since && recorder.events[wait..].iter().all(|event| event.action != Action::Lock(lock))
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
                 notify{}",
                expectation(recorder)
                    .map_or_else(String::new, |cause| format!(". If no thread has changed it: {cause}"))
            ),
            recorder.events.iter().rposition(|event| matches!(event.action, Action::Wait { .. })),
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

/// The verdict on a run with more steps than any run that comes to its end.
pub(crate) const RUNS_ON: &str = "a thread runs on and on";

/// The cause of [`RUNS_ON`] if the answer is a test.
const TOO_LONG: &str = "a loop of your test has no end, or very many rounds. It is run on thousands of schedules, so it \
                        need not repeat anything: each scenario once, with as few threads and steps as show the mistake";

const STILL_TO_DO: &str = "not yet implemented";

/// Whether this is the panic of a `todo!()`.
pub(crate) fn is_still_to_do(message: &str) -> bool {
    message.starts_with(STILL_TO_DO)
}

/// The failure of a property in which a thread panicked without purpose.
pub(crate) fn of_panic(recorder: &Recorder, me: usize, message: &str, at: Option<&Location<'_>>) -> Found {
    let thread = &recorder.threads[me];
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
    if let Some(test) = &recorder.judged {
        let before = test.panicked_aside.iter().map(|seen| format!("{seen}\n"));
        let seen = before.chain([seen]).collect();
        return Found { seen, cause: expected_cause(recorder), decisive: None };
    }
    // Was the last thing that the thread did on its way here the end of a wait?
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
        _ => match (dead_or_dying(recorder, me), thread.expectations.last()) {
            (Some(dead), _) => {
                let (cause, decisive) = of_death(recorder, dead);
                return Found { seen, cause, decisive };
            }
            (None, Some((_, cause))) => cause.clone(),
            (None, None) if has_panicked_on_purpose(recorder) => ANOTHER_PANIC.into(),
            (None, None) => "no step of a right answer panics".into(),
        },
    };
    Found { seen, cause, decisive: None }
}

const ANOTHER_PANIC: &str = "a job or a step of the test has panicked before, on purpose, and this is another panic, \
                             which your code raises. If a panic has to go on, hand on what catch_unwind() returned \
                             (std::panic::resume_unwind): with another payload it is not known what the panic was";

/// Whether something that the property runs has panicked on purpose.
fn has_panicked_on_purpose(recorder: &Recorder) -> bool {
    recorder.events.iter().any(|event| matches!(&event.action, Action::Step(what) if what == PANICS))
}

/// Finds another thread that a panic has ended, or is ending: what that thread has let go of explains what is
/// missing here.
fn dead_or_dying(recorder: &Recorder, me: usize) -> Option<usize> {
    let is_dying = |thread: usize| {
        let last = recorder.events.iter().rfind(|event| event.thread == thread);
        let panics = last.is_some_and(|event| matches!(&event.action, Action::Step(what) if what == PANICS));
        panics && !recorder.threads[thread].of_the_property
    };
    (1..recorder.threads.len())
        .find(|thread| *thread != me && (was_ended(recorder, *thread) || is_dying(*thread)))
}

/// The failure of a property in which a job's intended panic came out of a call of the property's.
pub(crate) fn of_escape(recorder: &Recorder, me: usize) -> Found {
    let thread = &recorder.threads[me];
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
