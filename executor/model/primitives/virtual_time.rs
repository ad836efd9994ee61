//! Time under a model: a clock that moves only when a timed wait ends.
//!
//! Neither loom nor shuttle models the end of a timed wait. So both tools treat a thread in a timed wait as
//! blocked, and report a deadlock although the program would continue. Here the schedule decides when a timed
//! wait ends. The timed wait releases the lock and lets other threads run; the schedule chooses for how long.
//! Then the wait moves the clock to the deadline of the wait, and takes the lock again. The caller of the
//! wait checks its own condition before it checks the clock, so the model explores both outcomes of the race.
//! Only one kind of deadline never comes: a deadline that is a hundred years away.

use std::cell::Cell;
use std::ops::{Add, Sub};
use std::time::Duration;

use super::{Condvar, Mutex, MutexGuard, give_way};

// The clock is a plain thread-local, because all threads of one execution are coroutines on one thread.
// Executions that run on other threads at the same time must not see each other's time.
std::thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(NOW.get())
    }

    pub(crate) fn elapsed(self) -> Duration {
        Self::now() - self
    }

    /// Adds a duration. Like the real clocks, this clock ends long before the end of `Duration`.
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Self> {
        const END: Duration = Duration::from_secs(i64::MAX as u64);
        self.0.checked_add(duration).filter(|&at| at <= END).map(Self)
    }

    pub(crate) fn checked_sub(self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

/// Under a model, a deadline this far away never comes. Only a notification can wake a thread that waits for
/// such a deadline, as on a real machine. So a model finds a missing notification; if the wait ended by
/// itself, the fault would be hidden.
const OUT_OF_REACH: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

pub(crate) fn wait_until<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    mutex: &'a Mutex<T>,
    deadline: Instant,
) -> (MutexGuard<'a, T>, bool) {
    if deadline - Instant::now() >= OUT_OF_REACH {
        return (condvar.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner), false);
    }
    drop(guard);
    give_way();
    NOW.set(NOW.get().max(deadline.0));
    (mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner), true)
}
