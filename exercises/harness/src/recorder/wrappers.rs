//! The functions with which the wrappers in `crate::sync` report what a thread is about to do, and what it
//! has done.

use std::panic::Location;

use exercises_protocol::schedule::{Action, Event};

use crate::record::{Doing, ThreadKey, current, here, line, line_text};
use crate::verdict::fail;

pub(crate) fn new_lock() -> usize {
    let mut record = current();
    record.locks.push(None);
    record.locks.len() - 1
}

pub(crate) fn new_condvar() -> usize {
    let mut record = current();
    record.condvars += 1;
    record.condvars - 1
}

/// Records that the calling thread is about to take a lock. If the thread already holds this lock, the
/// property fails at once, because the thread would wait for itself.
pub(crate) fn locking(lock: usize, at: &Location<'_>) {
    let itself = here(|record, me| {
        let held = record.locks.get(lock).copied().flatten().filter(|(holder, _)| *holder == me);
        record.threads[me].doing = Doing::Locking(lock);
        record.threads[me].line = line(at);
        record.add(me, Action::Want(lock), line(at));
        held.map(|(_, since)| (record.threads[me].name.clone(), since))
    });
    if let Some(Some((name, since))) = itself {
        fail(
            &format!("{name} locks, at line {}, a lock that it holds since {}", at.line(), line_text(since)),
            "a std Mutex cannot be locked twice by one thread: let go of the first guard before calling what locks again",
        );
    }
}

pub(crate) fn locked(lock: usize, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Running;
        if let Some(holder) = record.locks.get_mut(lock) {
            *holder = Some((me, line(at)));
        }
        record.got(me, lock);
        record.add(me, Action::Lock(lock), line(at));
    });
}

pub(crate) fn unlocked(lock: usize) {
    here(|record, me| {
        if let Some(holder) = record.locks.get_mut(lock) {
            *holder = None;
        }
        record.add(me, Action::Unlock(lock), None);
    });
}

pub(crate) fn waiting(condvar: usize, lock: usize, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Waiting(condvar);
        record.threads[me].line = line(at);
        if let Some(holder) = record.locks.get_mut(lock) {
            *holder = None;
        }
        record.add(me, Action::Wait { condvar, lock }, line(at));
    });
}

/// Records that the wait is over, and that the thread now needs the lock, which another thread may hold.
pub(crate) fn locking_again(lock: usize) {
    here(|record, me| {
        record.threads[me].doing = Doing::Locking(lock);
        let line = record.threads[me].line;
        record.add(me, Action::Want(lock), line);
    });
}

pub(crate) fn woken(condvar: usize, lock: usize, spurious: bool, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Running;
        if let Some(holder) = record.locks.get_mut(lock) {
            *holder = Some((me, line(at)));
        }
        record.got(me, lock);
        record.add(me, Action::Wake { condvar, lock, spurious }, line(at));
    });
}

pub(crate) fn notified(condvar: usize, all: bool, at: &Location<'_>) {
    here(|record, me| {
        let waits = |thread: &usize| record.threads[*thread].doing == Doing::Waiting(condvar);
        let mut woken: Vec<usize> = (0..record.threads.len()).filter(waits).collect();
        if !all && woken.len() > 1 {
            woken.clear(); // one of them, and which is not known
        }
        record.add(me, Action::Notify { condvar, all, woken }, line(at));
    });
}

/// Records that the last notification has ended the waits of these threads.
pub(crate) fn woke(threads: &[ThreadKey]) {
    here(|record, _| {
        if let Some(Event { action: Action::Notify { woken, .. }, .. }) = record.events.last_mut() {
            *woken = threads.iter().map(|key| key.thread).collect();
        }
    });
}

pub(crate) fn spawned(child: ThreadKey, at: &Location<'_>) {
    here(|record, me| {
        record.threads[child.thread].of_the_property = line(at).is_none();
        record.add(me, Action::Spawn(child.thread), line(at));
    });
}

pub(crate) fn ended(panicked: bool) {
    here(|record, me| {
        record.threads[me].doing = if panicked { Doing::Panicked } else { Doing::Ended };
        record.add(me, Action::End { panicked }, None);
    });
}

pub(crate) fn joining(child: ThreadKey, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Joining(child.thread);
        record.threads[me].line = line(at);
        record.add(me, Action::Await(child.thread), line(at));
    });
}

pub(crate) fn joined(child: ThreadKey, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Running;
        record.add(me, Action::Join(child.thread), line(at));
    });
}

/// Records that the calling thread is about to wait for a lock that has no number.
pub(crate) fn blocking(what: &'static str, at: &Location<'_>) {
    waits_for(Doing::Blocked(what), at);
}

/// Records that the calling thread is about to wait for an action of another thread.
pub(crate) fn sleeping(what: &'static str, at: &Location<'_>) {
    waits_for(Doing::Sleeping(what), at);
    here(|record, me| record.add(me, Action::Expect(what.to_owned()), line(at)));
}

fn waits_for(doing: Doing, at: &Location<'_>) {
    here(|record, me| {
        record.threads[me].doing = doing;
        record.threads[me].line = line(at);
    });
}

/// Records an action of the calling thread, in words.
pub(crate) fn did(what: &str, at: Option<&Location<'_>>) {
    here(|record, me| {
        record.threads[me].doing = Doing::Running;
        record.add(me, Action::Step(what.to_owned()), at.and_then(line));
    });
}

/// The thread that has acted, and the line of the learner's file.
#[cfg(feature = "memory")]
pub(crate) struct Place {
    pub(crate) thread: usize,
    pub(crate) name: String,
    pub(crate) line: Option<u32>,
}

/// Records an action of the learner's code.
#[cfg(feature = "memory")]
pub(crate) fn did_in_memory(what: String, at: &Location<'_>) -> Option<Place> {
    here(|record, me| {
        record.threads[me].line = line(at);
        record.add(me, Action::Step(what), line(at));
        Place { thread: me, name: record.threads[me].name.clone(), line: line(at) }
    })
}
