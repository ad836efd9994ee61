//! Functions that a property calls to record its steps, to count threads, and to count events.

use exercises_protocol::schedule::{Action, Event};

use crate::record::{Doing, LOCK_TAKEN, Record, Thread, current, here};

/// Records a step of the property (or of one of its jobs), for the picture.
pub fn step(what: &str) {
    here(|record, me| record.add(me, Action::Step(what.to_owned()), None));
}

/// Begins another trial of the same run, and forgets the earlier events, so that a picture shows only one
/// trial. `begin_trial` is for a property that has no threads and tries many cases.
pub fn begin_trial() {
    current().events.clear();
}

// The following functions are generic and are compiled again for every call in every answer, so they contain
// almost no code.

/// Makes a call that could block for ever. `what` names the call, or the event that the call waits for;
/// `cause` is the likely cause if the call panics or does not return.
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

/// Makes a call that must not wait for any thread. `cause` is the likely cause if the call never returns.
pub fn at_once<R>(what: &str, cause: &str, call: impl FnOnce() -> R) -> R {
    let outer = must_not_wait(Some((what.to_owned(), cause.to_owned())));
    let result = expect(what, cause, call);
    must_not_wait(outer);
    result
}

/// Records that the calling thread is in this call, which must not wait. Returns the previous call of this
/// thread that must not wait, if there is one.
fn must_not_wait(call: Option<(String, String)>) -> Option<(String, String)> {
    here(|record, me| std::mem::replace(&mut record.threads[me].at_once, call)).flatten()
}

/// Returns how many times the calling thread has begun to wait on a condition variable.
pub fn waits_so_far() -> usize {
    let waits = |event: &&Event| matches!(event.action, Action::Wait { .. });
    here(|record, me| record.events.iter().filter(waits).filter(|event| event.thread == me).count())
        .unwrap_or_default()
}

/// Calls the function for something that the property needs but does not test, such as the end of a pool
/// after the last step. A failure in this call is shown only if there is no other failure.
pub fn aside<R>(call: impl FnOnce() -> R) -> R {
    is_aside(true);
    let result = call();
    is_aside(false);
    result
}

fn is_aside(aside: bool) {
    here(|record, _| record.aside = aside);
}

/// Returns the number of threads that were spawned in this run and have not ended.
pub fn live_threads() -> usize {
    census().alive
}

/// Returns the number of notifications of the learner's condition variables in this run, including
/// notifications that no thread waited for.
pub fn notifications() -> usize {
    let notifies = |event: &&Event| matches!(event.action, Action::Notify { .. });
    current().events.iter().filter(notifies).count()
}

/// Returns how many times in this run a thread has found a lock taken and has gone on without this lock.
pub fn locks_found_taken() -> usize {
    let taken = |event: &&Event| matches!(&event.action, Action::Step(what) if what == LOCK_TAKEN);
    current().events.iter().filter(taken).count()
}

/// Records that the calling thread waits for something that the property provides; `None` means that the wait
/// is over.
pub(crate) fn expecting(what: Option<&str>) {
    here(|record, me| {
        record.threads[me].doing = what.map_or(Doing::Running, |what| Doing::Expecting(what.to_owned()));
        if let Some(what) = what {
            record.add(me, Action::Expect(what.to_owned()), None);
        }
    });
}

/// Three numbers of threads in this run: threads that were spawned, threads that wait, and threads that have
/// not ended.
pub(crate) struct Census {
    /// The number of threads that wait for an action of another thread, or for a lock that a waiting thread
    /// holds.
    pub(crate) asleep: usize,
    /// The number of threads that have not ended.
    pub(crate) alive: usize,
    /// The number of threads that were spawned.
    pub(crate) started: usize,
}

/// Returns the counts of the threads that were spawned.
pub(crate) fn census() -> Census {
    let record = current();
    let spawned = || record.threads.iter().filter(|thread| thread.spawned);
    let asleep = spawned().filter(|thread| record.is_asleep(thread)).count();
    let alive = spawned().filter(|thread| !matches!(thread.doing, Doing::Ended | Doing::Panicked)).count();
    Census { asleep, alive, started: spawned().count() }
}

impl Record {
    /// Returns true if the thread waits for an action of another thread. A thread that waits for a lock of a
    /// sleeping thread also counts as asleep; this happens if workers share the receiver of a channel.
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
