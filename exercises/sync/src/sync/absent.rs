//! The parts of `std::sync` and `std::thread` that `crate::sync` lacks. The names of the missing parts are
//! declared here, so that the compiler gives the reason if a learner uses a missing part. The use of a
//! missing part needs a trait that no type implements.

use std::num::NonZero;
use std::sync::{LockResult, WaitTimeoutResult};

use super::{Condvar, Mutex, MutexGuard};

const NEVER: &str = "it does not compile";

/// The reason why `crate::sync` has nothing with a time-out.
#[diagnostic::on_unimplemented(
    message = "`crate::sync` has nothing that looks at a clock",
    label = "wait for what has to happen, not for a time",
    note = "a time-out hides a notification that is missing: the thread wakes up all the same, only later",
    note = "exercises/sync/README.md lists what `crate::sync` has"
)]
pub trait ThereIsNoClock {}

/// The reason why `crate::sync` has no `Once`, `OnceLock` or `LazyLock`.
#[diagnostic::on_unimplemented(
    message = "`crate::sync` has no `Once`, `OnceLock` or `LazyLock`",
    label = "in a struct use a `Mutex<Option<…>>`; keep no state in a `static`",
    note = "the tests run your code thousands of times in one process. A `static` would still hold what the last run left",
    note = "exercises/sync/README.md lists what `crate::sync` has"
)]
pub trait ThereIsNoOnce {}

/// The reason why `crate::sync` has no `thread::panicking`.
#[diagnostic::on_unimplemented(
    message = "`crate::sync` has no `thread::panicking`",
    label = "catch the panic (`std::panic::catch_unwind`), or let a guard remember whether the work was done",
    note = "under the model all threads run on one thread of the system, and this asks whether any of them panics",
    note = "exercises/sync/README.md lists what `crate::sync` has"
)]
pub trait ThereIsNoPanicking {}

/// The reason why `crate::sync` has no `thread::available_parallelism`.
#[diagnostic::on_unimplemented(
    message = "`crate::sync` has no `thread::available_parallelism`",
    label = "take as many threads as you are asked for",
    note = "an answer must do the same on every machine",
    note = "exercises/sync/README.md lists what `crate::sync` has"
)]
pub trait ThereIsNoMachine {}

/// The reason why `crate::sync` has no methods for poisoned locks.
#[diagnostic::on_unimplemented(
    message = "`crate::sync` does not say whether a lock is poisoned",
    label = "keep what the lock guards in order when something panics: catch the panic, or run foreign code without the lock",
    note = "under the model no lock is poisoned: there the panic of one thread looks to std like a panic of all",
    note = "exercises/sync/README.md lists what `crate::sync` has"
)]
pub trait ThereIsNoPoison {}

impl Condvar {
    /// Not available in an exercise, because no property looks at a clock.
    pub fn wait_timeout<'a, T, D: ThereIsNoClock>(
        &self,
        _: MutexGuard<'a, T>,
        _: D,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise, because no property looks at a clock.
    pub fn wait_timeout_while<'a, T, D: ThereIsNoClock>(
        &self,
        _: MutexGuard<'a, T>,
        _: D,
        _: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        unreachable!("{NEVER}")
    }
}

// The lifetime `'a` in the bounds below makes the compiler check each bound at a call, and not at the
// definition.
impl<T> Mutex<T> {
    /// Not available in an exercise, because under the model no lock is poisoned.
    pub fn is_poisoned(&self) -> bool
    where
        for<'a> &'a (): ThereIsNoPoison,
    {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise, because under the model no lock is poisoned.
    pub fn clear_poison(&self)
    where
        for<'a> &'a (): ThereIsNoPoison,
    {
        unreachable!("{NEVER}")
    }
}

/// Not available in an exercise, because no property looks at a clock.
pub fn sleep<D: ThereIsNoClock>(_: D) {
    unreachable!("{NEVER}")
}

/// Not available in an exercise, because no property looks at a clock.
pub fn park_timeout<D: ThereIsNoClock>(_: D) {
    unreachable!("{NEVER}")
}

/// Not available in an exercise, because under the model a panic of one thread makes the result true on all
/// threads.
pub fn panicking() -> bool
where
    for<'a> &'a (): ThereIsNoPanicking,
{
    unreachable!("{NEVER}")
}

/// Not available in an exercise, because an answer must do the same on every machine.
pub fn available_parallelism() -> std::io::Result<NonZero<usize>>
where
    for<'a> &'a (): ThereIsNoMachine,
{
    unreachable!("{NEVER}")
}

/// Not available in an exercise, because an answer must keep its state in a struct.
#[derive(Debug)]
pub struct Once(());

impl Once {
    /// Not available in an exercise, because an answer must keep its state in a struct.
    #[expect(clippy::new_without_default, reason = "that of std has no default")]
    pub const fn new() -> Self
    where
        for<'a> &'a (): ThereIsNoOnce,
    {
        Self(())
    }

    /// Not available in an exercise, because an answer must keep its state in a struct.
    pub fn call_once(&self, _: impl FnOnce()) {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise, because an answer must keep its state in a struct.
    pub fn is_completed(&self) -> bool {
        unreachable!("{NEVER}")
    }
}

/// Not available in an exercise, because an answer must keep its state in a struct, and a shared value in a
/// `Mutex`.
#[derive(Debug)]
pub struct OnceLock<T: ThereIsNoOnce>(T);

impl<T: ThereIsNoOnce> OnceLock<T> {
    /// Not available in an exercise.
    pub const fn new() -> Self {
        unreachable!()
    }

    /// Not available in an exercise.
    pub fn get(&self) -> Option<&T> {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise.
    pub fn set(&self, _: T) -> Result<(), T> {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise.
    pub fn get_or_init(&self, _: impl FnOnce() -> T) -> &T {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise.
    pub fn wait(&self) -> &T {
        unreachable!("{NEVER}")
    }

    /// Not available in an exercise.
    pub fn into_inner(self) -> Option<T> {
        unreachable!("{NEVER}")
    }
}

impl<T: ThereIsNoOnce> Default for OnceLock<T> {
    fn default() -> Self {
        unreachable!("{NEVER}")
    }
}

/// Not available in an exercise, because an answer must keep its state in a struct.
#[derive(Debug)]
pub struct LazyLock<T: ThereIsNoOnce, F = fn() -> T>(T, F);

impl<T: ThereIsNoOnce, F: FnOnce() -> T> LazyLock<T, F> {
    /// Not available in an exercise.
    pub const fn new(_: F) -> Self {
        unreachable!()
    }
}

impl<T: ThereIsNoOnce, F> std::ops::Deref for LazyLock<T, F> {
    type Target = T;
    fn deref(&self) -> &T {
        unreachable!("{NEVER}")
    }
}
