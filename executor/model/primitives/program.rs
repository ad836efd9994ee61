//! The parts that models of *programs* need: stand-ins in the shape of `std::sync`, `std::thread` and
//! `std::time`.
//!
//! A program that is built on this library has protocols of its own; a model can check these protocols in the
//! same way as the library's protocols. The files of such a protocol do not name std or a model. Instead, the
//! files name a module in the same folder. In the program, this module is
//!
//! ```ignore
//! mod door { pub(crate) use std::{sync, thread, time}; }
//! ```
//!
//! The package of the program's models includes the same files with `#[path]`. In that package the module is
//!
//! ```ignore
//! extern crate executor_model as executor;
//! mod door { pub(crate) use executor_model::program::{sync, thread, time}; }
//! ```
//!
//! This crate exports the library's channels, latches and pools under their usual names. This module has the
//! part of std that the protocols need. If a program needs an item of std that this module does not have, add
//! the item. The time here is the virtual time that the library uses, too.
#![allow(missing_docs)] // what differs from std has a comment; for the rest std's documentation counts

#[cfg(feature = "loom")]
use loom as tool;
#[cfg(not(feature = "loom"))]
use shuttle as tool;

/// Locks in the shape of `std::sync`. The locks can be poisoned, like std's locks.
pub mod sync {
    use std::ops::{Deref, DerefMut};
    pub use std::sync::{Arc, LockResult, PoisonError, Weak};
    use std::time::Duration;

    pub use super::tool::sync::atomic;
    use crate::sync::Instant;
    use crate::sync::primitives::{self, wait_until};

    #[derive(Debug, Default)]
    pub struct Mutex<T>(primitives::Mutex<T>);

    /// A guard that knows its lock, unlike the guards of the model checkers. A timed wait must release the
    /// guard's lock.
    #[derive(Debug)]
    pub struct MutexGuard<'a, T> {
        guard: primitives::MutexGuard<'a, T>,
        mutex: &'a primitives::Mutex<T>,
    }

    #[derive(Debug, Default)]
    pub struct Condvar(primitives::Condvar);

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct WaitTimeoutResult(bool);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(primitives::Mutex::new(value))
        }

        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            with_its_lock(&self.0, self.0.lock())
        }

        pub fn into_inner(self) -> LockResult<T> {
            self.0.into_inner()
        }
    }

    fn with_its_lock<'a, T>(
        mutex: &'a primitives::Mutex<T>,
        locked: LockResult<primitives::MutexGuard<'a, T>>,
    ) -> LockResult<MutexGuard<'a, T>> {
        match locked {
            Ok(guard) => Ok(MutexGuard { guard, mutex }),
            Err(poisoned) => Err(PoisonError::new(MutexGuard { guard: poisoned.into_inner(), mutex })),
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    impl Condvar {
        pub fn new() -> Self {
            Self(primitives::Condvar::new())
        }

        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            let MutexGuard { guard, mutex } = guard;
            with_its_lock(mutex, self.0.wait(guard))
        }

        pub fn wait_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            mut condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<MutexGuard<'a, T>> {
            while condition(&mut guard) {
                guard = self.wait(guard)?;
            }
            Ok(guard)
        }

        /// Waits until the schedule ends the wait; after the wait the caller holds the lock again, and the
        /// clock shows the deadline. A notification does not end the wait earlier, because an earlier end
        /// would only repeat schedules that [`wait`](Self::wait) also has.
        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            timeout: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            let MutexGuard { guard, mutex } = guard;
            match Instant::now().checked_add(timeout) {
                Some(deadline) => {
                    let (guard, timed_out) = wait_until(&self.0, guard, mutex, deadline);
                    Ok((MutexGuard { guard, mutex }, WaitTimeoutResult(timed_out)))
                }
                None => Ok((
                    with_its_lock(mutex, self.0.wait(guard)).map_err(unlocked)?,
                    WaitTimeoutResult(false),
                )),
            }
        }

        pub fn wait_timeout_while<'a, T>(
            &self,
            mut guard: MutexGuard<'a, T>,
            timeout: Duration,
            mut condition: impl FnMut(&mut T) -> bool,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            let mut timed_out = WaitTimeoutResult(false);
            while condition(&mut guard) {
                if timed_out.0 {
                    return Ok((guard, timed_out));
                }
                (guard, timed_out) = self.wait_timeout(guard, timeout)?;
            }
            Ok((guard, WaitTimeoutResult(false)))
        }

        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    fn unlocked<T>(
        poisoned: PoisonError<MutexGuard<'_, T>>,
    ) -> PoisonError<(MutexGuard<'_, T>, WaitTimeoutResult)> {
        PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(false)))
    }

    impl WaitTimeoutResult {
        #[must_use]
        pub fn timed_out(&self) -> bool {
            self.0
        }
    }
}

/// The threads of the model checker.
pub mod thread {
    use std::time::Duration;

    pub use super::tool::thread::*;
    use crate::sync::{Condvar, Instant, Mutex};

    /// Sleeps until the schedule ends the sleep.
    pub fn sleep(duration: Duration) {
        let lock = Mutex::new(());
        let nobody_notifies = Condvar::new();
        let deadline = Instant::now() + duration;
        drop(nobody_notifies.wait_until(lock.lock(), &lock, deadline));
    }
}

/// The virtual clock in the shape of `std::time`.
pub mod time {
    use std::ops::{Add, Sub};
    pub use std::time::Duration;

    use crate::sync;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(sync::Instant);

    impl Instant {
        #[must_use]
        pub fn now() -> Self {
            Self(sync::Instant::now())
        }

        #[must_use]
        pub fn elapsed(&self) -> Duration {
            self.0.elapsed()
        }

        #[must_use]
        pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
            self.0 - earlier.0
        }

        #[must_use]
        pub fn checked_add(&self, duration: Duration) -> Option<Self> {
            self.0.checked_add(duration).map(Self)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, duration: Duration) -> Self {
            Self(self.0 + duration)
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Self) -> Duration {
            self.0 - earlier.0
        }
    }
}
