//! What properties need besides the learner's code. Compiled twice, like `sync.rs`; its own locks are not
//! recorded, so that a picture shows only the learner's.

use std::sync::{Arc, PoisonError};

use exercises_protocol::counted;

use super::backend::{Condvar, Mutex, MutexGuard, ONE_AT_A_TIME, others_wait, thread};
use crate::recorder::{Census, accepts, begin_trial, census, expecting, live_threads, rejects};
use crate::verdict::fail;

/// How often a thread yields before the others count as never going to sleep: a thousand times more often
/// than they need.
const PATIENCE: usize = 2_000;

/// A number that threads change and wait for: how many jobs have begun, whether a gate is open.
#[derive(Debug)]
pub struct Counter {
    what: &'static str,
    count: Mutex<usize>,
    changed: Condvar,
}

impl Counter {
    /// Makes a counter at zero. `what` says what a thread waits for at this counter: "both jobs to begin".
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
    /// Does something with the value, to which no other thread has access meanwhile.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits until every thread but the calling one waits for something. Fails if that never comes: then a thread
/// asks again and again. `what` says what that thread does instead of sleeping.
///
/// On real threads that cannot be seen, so there the call only gives others a chance to run.
pub fn until_others_wait(what: &str, cause: &str) {
    for _ in 0..PATIENCE {
        thread::yield_now();
        if others_wait() {
            return;
        }
    }
    fail(what, cause);
}

/// Whether every thread but the calling one comes to wait for something: then they have done what they can.
/// So a property that knows why they wait can say so; the rules for a hang know of locks and notifications
/// only.
///
/// On real threads that cannot be seen, so there it is false.
pub fn others_come_to_rest() -> bool {
    ONE_AT_A_TIME
        && (0..PATIENCE).any(|_| {
            thread::yield_now();
            others_wait()
        })
}

/// Waits until `threads` spawned threads sleep: on a condition variable of the learner's, for a message, or
/// for a lock that such a thread holds. If there are more threads, all of them must sleep. Fails if they
/// never do: then they spin, or are gone.
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

/// A program that a test of the learner's must judge as right or wrong.
#[derive(Debug)]
pub struct Judged<P: ?Sized + 'static> {
    /// The answer's name: `m03_notifies_if_it_was_empty`.
    pub name: &'static str,
    /// How the program is built, or what is wrong with it.
    pub about: &'static str,
    /// Whether the test must pass.
    pub is_right: bool,
    /// Makes a program to judge.
    pub new: fn() -> Arc<P>,
}

impl<P: ?Sized + 'static> Judged<P> {
    /// Runs the test on each right program: it must pass. `cause` is the likely cause if it fails.
    pub fn right_ones_pass(all: &[Self], cause: &str, test: fn(fn() -> Arc<P>)) {
        all.iter().filter(|program| program.is_right).for_each(|program| program.passes(cause, test));
    }

    fn passes(&self, cause: &str, test: fn(fn() -> Arc<P>)) {
        let Self { name, about, new, .. } = self;
        let (what, cause) = (format!("your test of {name}"), format!("{name} is right: {about}. {cause}"));
        begin_trial(); // in a picture with all of them, the one that fails would be hard to find
        accepts(&what, &cause, || test(*new));
        no_thread_is_left();
    }

    /// Runs the test on the wrong program of this name, or `m03` for short: it must fail. `cause` is the
    /// likely cause if it passes.
    ///
    /// On real threads luck decides whether a wrong program does anything wrong. So there the test is run on
    /// the first right one.
    pub fn is_rejected(all: &[Self], name: &str, cause: &str, test: fn(fn() -> Arc<P>)) {
        let is_meant = |program: &&Self| program.name.split('_').next() == Some(name);
        let wrong = all.iter().find(is_meant).expect("the suite has it");
        if ONE_AT_A_TIME {
            let Self { name, about, new, .. } = wrong;
            let seen = format!("your test passes on every schedule with {name}, which is wrong: {about}");
            rejects(&seen, cause, || test(*new));
            no_thread_is_left();
        } else {
            all[0].passes("On real threads your test is run on this one only", test);
        }
    }
}

/// Checks, when the test has come back, that its threads have ended. On real threads it cannot be seen
/// whether they are about to end.
fn no_thread_is_left() {
    if live_threads() > 0 && others_come_to_rest() && live_threads() > 0 {
        fail(
            "your test has come back, and a thread that it has started never ends",
            "when the test has come back, nothing sees what a thread finds, or that it hangs: with the last test the process \
             ends. Join every thread that the test starts, and let each come to an end",
        );
    }
}
