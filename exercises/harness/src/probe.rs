//! Tools that the properties need in addition to the learner's code. This file is compiled twice, like
//! `sync.rs`. The locks of this file are not recorded, so that a picture shows only the learner's locks.

use std::sync::{Arc, PoisonError};

use exercises_protocol::counted;

use super::backend::{Condvar, Mutex, MutexGuard, ONE_AT_A_TIME, others_wait, thread};
use crate::recorder::{Census, accepts, begin_trial, census, expecting, live_threads, rejects};
use crate::verdict::fail;

/// The number of times that a thread yields before the probe concludes that the other threads never sleep. In
/// a right answer, the other threads sleep after at most a thousandth of this number.
const PATIENCE: usize = 2_000;

/// A counter that some threads increase and for which other threads wait. For example, a counter can hold the
/// number of jobs that have begun.
#[derive(Debug)]
pub struct Counter {
    what: &'static str,
    count: Mutex<usize>,
    changed: Condvar,
}

impl Counter {
    /// Makes a counter at zero. `what` describes the event for which a thread at this counter waits: "both
    /// jobs to begin".
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

    /// Subtracts one.
    pub fn sub(&self) {
        *self.lock() -= 1;
        self.changed.notify_all();
    }

    /// Returns the present count.
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

/// A value that the jobs of a property write, and that the property reads.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    /// Calls the function with the value, while no other thread can use the value.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits until every thread except the calling thread waits for something. Fails if a thread never waits
/// because it checks its condition again and again. `what` describes this thread's behaviour.
///
/// The harness does not know which real threads wait. So on real threads this call only gives other threads a
/// chance to run.
pub fn until_others_wait(what: &str, cause: &str) {
    for _ in 0..PATIENCE {
        thread::yield_now();
        if others_wait() {
            return;
        }
    }
    fail(what, cause);
}

/// Waits until every other thread waits for something. Returns true if every other thread begins to wait in
/// time. A property that knows why the threads wait can report the reason, if it uses this function. The
/// rules for a hang know only locks and notifications.
///
/// Returns false on real threads, because the harness does not know which real threads wait.
pub fn others_come_to_rest() -> bool {
    ONE_AT_A_TIME
        && (0..PATIENCE).any(|_| {
            thread::yield_now();
            others_wait()
        })
}

/// Waits until `threads` spawned threads sleep: on a learner's condition variable, for a message, or for a
/// lock that a sleeping thread holds. If there are more than `threads` spawned threads, all of them must
/// sleep. Fails if the threads never sleep, because they spin or have ended.
///
/// On real threads only the watchdog limits the wait.
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

/// A program that the learner's test must judge as right or wrong.
#[derive(Debug)]
pub struct Judged<P: ?Sized + 'static> {
    /// The name of the answer, for example `m03_notifies_if_it_was_empty`.
    pub name: &'static str,
    /// The design of the program, or the mistake in it.
    pub about: &'static str,
    /// True if the test must pass with this program.
    pub is_right: bool,
    /// Makes a program that the learner's test must judge.
    pub new: fn() -> Arc<P>,
}

impl<P: ?Sized + 'static> Judged<P> {
    /// Runs the test on each correct program; the test must pass. `cause` is the likely cause if the test
    /// fails.
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

    /// Runs the test on the wrong program of this name (or `m03` for short); the test must fail. `cause` is
    /// the likely cause if the test passes.
    ///
    /// On real threads, a wrong program fails only by chance. So on real threads the test is run on the first
    /// correct program instead.
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

/// Checks that the test's threads have ended after the test has returned. On real threads the harness does
/// not know whether a thread is about to end.
fn no_thread_is_left() {
    if live_threads() > 0 && others_come_to_rest() && live_threads() > 0 {
        fail(
            "your test has come back, and a thread that it has started never ends",
            "when the test has come back, nothing sees what a thread finds, or that it hangs: with the last test the process \
             ends. Join every thread that the test starts, and let each come to an end",
        );
    }
}
