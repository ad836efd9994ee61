//! What a property records, and what it may ask: how many threads there are, how often something has
//! happened.

use exercises_protocol::schedule::{Action, Event};

use crate::record::{Doing, LOCK_TAKEN, Record, Thread, current, here};

/// Writes down something that the property (or one of its jobs) has done, for the picture.
pub fn step(what: &str) {
    here(|record, me| record.add(me, Action::Step(what.to_owned()), None));
}

/// Begins another trial of the same run: what was recorded until now is forgotten, so that a picture shows
/// one trial. This is for a property that has no threads and tries many cases.
pub fn begin_trial() {
    current().events.clear();
}

// What follows is generic in the call and compiled anew for every call in every answer; so it does nothing
// itself.

/// Runs a call that could block for ever. `what` is the call, or what it waits for; `cause` is the likely
/// cause if it does not come back, or panics.
pub fn expect<R>(what: &str, cause: &str, call: impl FnOnce() -> R) -> R {
    begins(what, cause);
    let result = call();
    is_done_with(what);
    result
}

fn begins(what: &str, cause: &str) {
    here(|record, me| {
        record.threads[me].expectations.push((what.to_owned(), cause.to_owned()));
        record.add(me, Action::Step(format!("begins {what}")), None);
    });
}

fn is_done_with(what: &str) {
    here(|record, me| {
        record.threads[me].expectations.pop();
        record.add(me, Action::Step(format!("is done with {what}")), None);
    });
}

/// Runs a call that must not wait for any thread. `cause` is the likely cause if it never comes back.
pub fn at_once<R>(what: &str, cause: &str, call: impl FnOnce() -> R) -> R {
    let outer = must_not_wait(Some((what.to_owned(), cause.to_owned())));
    let result = expect(what, cause, call);
    must_not_wait(outer);
    result
}

/// Notes that the calling thread is in this call, which must not wait. Returns the call that it was in until
/// now.
fn must_not_wait(call: Option<(String, String)>) -> Option<(String, String)> {
    here(|record, me| std::mem::replace(&mut record.threads[me].at_once, call)).flatten()
}

/// How often the calling thread has begun to wait on a condition variable.
pub fn waits_so_far() -> usize {
    let waits = |event: &&Event| matches!(event.action, Action::Wait { .. });
    here(|record, me| record.events.iter().filter(waits).filter(|event| event.thread == me).count())
        .unwrap_or_default()
}

/// Does something that the property needs and is not about: to end a pool after the last step, say. A failure
/// in it is shown only if the answer breaks nothing else.
pub fn aside<R>(call: impl FnOnce() -> R) -> R {
    is_aside(true);
    let result = call();
    is_aside(false);
    result
}

fn is_aside(aside: bool) {
    here(|record, _| record.aside = aside);
}

/// How many threads that were spawned in this run have not ended.
pub fn live_threads() -> usize {
    census().alive
}

/// How often this run has notified a condition variable of the learner's, whether or not a thread waited on
/// it.
pub fn notifications() -> usize {
    let notifies = |event: &&Event| matches!(event.action, Action::Notify { .. });
    current().events.iter().filter(notifies).count()
}

/// How often a thread of this run has found a lock taken, and went on without it.
pub fn locks_found_taken() -> usize {
    let taken = |event: &&Event| matches!(&event.action, Action::Step(what) if what == LOCK_TAKEN);
    current().events.iter().filter(taken).count()
}

/// Notes that the calling thread waits for something that the property provides; `None` once it came.
pub(crate) fn expecting(what: Option<&str>) {
    here(|record, me| {
        record.threads[me].doing = what.map_or(Doing::Running, |what| Doing::Expecting(what.to_owned()));
        if let Some(what) = what {
            record.add(me, Action::Expect(what.to_owned()), None);
        }
    });
}

/// Counts of the threads that were spawned in this run.
pub(crate) struct Census {
    /// How many wait for something that another thread must do, or for a lock that such a waiting thread
    /// holds.
    pub(crate) asleep: usize,
    /// How many have not ended.
    pub(crate) alive: usize,
    /// How many were spawned.
    pub(crate) started: usize,
}

/// Counts the threads that were spawned.
pub(crate) fn census() -> Census {
    let record = current();
    let spawned = || record.threads.iter().filter(|thread| thread.spawned);
    let asleep = spawned().filter(|thread| record.is_asleep(thread)).count();
    let alive = spawned().filter(|thread| !matches!(thread.doing, Doing::Ended | Doing::Panicked)).count();
    Census { asleep, alive, started: spawned().count() }
}

impl Record {
    /// Whether a thread waits for something that another must do. A thread that waits for a sleeper's lock
    /// sleeps as long: so do workers that share the receiver of a channel.
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
