//! What properties need besides the learner's code. Compiled twice, like `sync.rs`; its own locks are not recorded, so
//! that a picture shows only the learner's.

use std::sync::PoisonError;

use exercises_protocol::counted;

use super::backend::{Condvar, Mutex, MutexGuard, ONE_AT_A_TIME, others_wait, thread};
use crate::recorder::{Census, census, expecting, fail};

/// How often a thread gives way before we say that the others never go to sleep. A thousand times more than they need.
const PATIENCE: usize = 2_000;

/// A number that threads change and wait for: how many jobs have begun, whether a gate is open.
#[derive(Debug)]
pub struct Counter {
    what: &'static str,
    count: Mutex<usize>,
    changed: Condvar,
}

impl Counter {
    /// Starts at zero. `what` says what a thread waits for that waits for this counter: "both jobs to begin".
    pub fn new(what: &'static str) -> Self {
        Self { what, count: Mutex::new(0), changed: Condvar::new() }
    }

    /// Adds one and returns the new count.
    pub fn add(&self) -> usize {
        let mut count = self.lock();
        *count += 1;
        self.changed.notify_all();
        *count
    }

    /// Takes one away.
    pub fn sub(&self) {
        *self.lock() -= 1;
        self.changed.notify_all();
    }

    /// The count now.
    pub fn get(&self) -> usize {
        *self.lock()
    }

    /// Waits until the count is at least `least`.
    pub fn wait_for(&self, least: usize) {
        let mut count = self.lock();
        if *count < least {
            expecting(Some(self.what));
            while *count < least {
                count = self.changed.wait(count).unwrap_or_else(PoisonError::into_inner);
            }
            expecting(None);
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value that the jobs of a property write to and the property reads.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    /// Does something with the value. Nobody else can until then.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits until every thread but the calling one waits for something. Fails if that never comes: then a thread asks again and
/// again. `what` is what it does instead of sleeping.
///
/// On real threads nobody can tell, so there it is no more than a chance for others to run.
pub fn until_others_wait(what: &str, cause: &str) {
    for _ in 0..PATIENCE {
        thread::yield_now();
        if others_wait() {
            return;
        }
    }
    fail(what, cause);
}

/// Whether every thread but the calling one comes to wait for something: what they can do has been done then. So a property
/// that knows why they wait can say so; the rules for a hang know of locks and notifications only.
///
/// On real threads nobody can tell, so there it is false.
pub fn others_come_to_rest() -> bool {
    ONE_AT_A_TIME
        && (0..PATIENCE).any(|_| {
            thread::yield_now();
            others_wait()
        })
}

/// Waits until `threads` spawned threads sleep: on a condition variable of the learner's, for a message, or for a lock that
/// such a thread holds. If there are more threads, all of them have to. Fails if they never do: then they spin, or are gone.
///
/// On real threads there is no limit but the watchdog's.
pub fn until_asleep(threads: usize, cause: &str) {
    let wanted = counted(threads, "thread");
    expecting(Some(&format!("{wanted} to sleep")));
    let mut patience = PATIENCE;
    loop {
        let Census { asleep, alive, started } = census();
        if asleep == threads || asleep > threads && asleep == alive {
            break;
        }
        if ONE_AT_A_TIME {
            patience -= 1;
        }
        if started < threads {
            fail(
                &format!("{wanted} should be waiting for work; started: {started}"),
                "does new() start as many threads as it is asked for, before there is work?",
            );
        }
        if alive < threads {
            fail(
                &format!("{wanted} should be waiting for work; left: {alive}"),
                "a thread has ended that should have gone back to sleep. A wake-up is only a hint (somebody else may \
                 have been faster, and a wait may end with no notification at all): look again, in a `while`, not in \
                 an `if`",
            );
        }
        if patience == 0 {
            let seen =
                format!("{wanted} should sleep while there is nothing to do; asleep: {asleep} of {alive}");
            fail(&seen, cause);
        }
        thread::yield_now();
    }
    expecting(None);
}
