//! These locks are for shuttle: each operation of a lock has one scheduling point. Shuttle's own locks also
//! have a scheduling point at each unlock and each notification.
//!
//! A thread of the model runs alone from one of its scheduling points to the next. If there is a point before
//! each operation that other threads can notice, then every order of these operations occurs in some
//! schedule. An unlock needs no point (Lipton's *reduction*, 1975, calls an unlock a left mover). To see the
//! reason, suppose that other threads ran at a point just before the unlock. These threads did not take the
//! lock; a thread that tried to take the lock only began to wait. So these threads could have done the same
//! work immediately after the unlock. The model also tries the order in which the other threads run after the
//! unlock: they run at the next scheduling point of the thread that has unlocked, or at the end of that
//! thread. The user must know these exceptions:
//!
//! * `try_lock` shows whether the lock is held. In a program that uses `try_lock`, a thread needs a
//!   scheduling point while it holds the lock.
//! * Some operations are invisible to the model, such as the drop of an `Arc`. If the order of such an
//!   operation and the previous unlock matters, there must be a scheduling point between the two.
//!
//! A wait releases the lock and falls asleep in one step. A notification needs no scheduling point if the
//! notifying thread has changed the state while it held the waiters' lock: a thread that begins to wait after
//! the change has seen the changed state. For any other use of a condition variable, the program must have a
//! scheduling point before the wait and another scheduling point before the notification.
//!
//! The locks here are never poisoned: if one of the model's threads panics, shuttle treats this as a panic of
//! all the threads. Keep functions free of type parameters where possible: the compiler then compiles such a
//! function only once, and hundreds of crates of the exercises use these locks.
#![expect(clippy::unnecessary_wraps, reason = "std's locks can be poisoned, and these stand for them")]

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};
use std::task::{Poll, Waker};
use std::time::Duration;

use shuttle::current::{self, TaskId};
use shuttle::future::block_on;
use shuttle::thread;

use super::pick;

/// A scheduling point: other threads may run before the calling thread continues.
pub(crate) fn others_may_come_first() {
    thread::sleep(Duration::ZERO); // takes no time under shuttle
}

/// A set of sleeping threads, which other threads wake. Shuttle's `park` does not suffice, because `park` can
/// return again and again without a wake-up.
#[derive(Debug, Default)]
pub(crate) struct Sleepers(sync::Mutex<Vec<(TaskId, Waker)>>); // never contended: one thread runs at a time

impl Sleepers {
    /// Sleeps. No other thread runs between the call and the moment when the calling thread is asleep.
    pub(crate) fn sleep(&self) {
        let me = current::me();
        let mut begun = false;
        block_on(poll_fn(|context| {
            let mut sleepers = self.sleepers();
            if !begun {
                begun = true;
                sleepers.push((me, context.waker().clone()));
            }
            if sleepers.iter().any(|(sleeper, _)| *sleeper == me) { Poll::Pending } else { Poll::Ready(()) }
        }));
    }

    /// Wakes one of the sleepers, chosen at random, and returns the sleeper.
    pub(crate) fn wake_one(&self) -> Option<TaskId> {
        let (task, waker) = {
            let mut sleepers = self.sleepers();
            let one = match sleepers.len() {
                0 => return None,
                1 => 0,
                n => pick(n),
            };
            sleepers.swap_remove(one)
        };
        waker.wake();
        Some(task)
    }

    /// Wakes all sleepers, and returns them.
    pub(crate) fn wake_all(&self) -> Vec<TaskId> {
        let sleepers = std::mem::take(&mut *self.sleepers());
        let wake = |(task, waker): (TaskId, Waker)| {
            waker.wake();
            task
        };
        sleepers.into_iter().map(wake).collect()
    }

    fn sleepers(&self) -> sync::MutexGuard<'_, Vec<(TaskId, Waker)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Lock {
    taken: AtomicBool,
    wanted: Sleepers,
}

#[derive(Debug)]
struct Held<'a>(&'a Lock);

impl Lock {
    fn lock(&self) -> Held<'_> {
        if !self.taken.load(Relaxed) {
            others_may_come_first(); // if the lock is taken, they run anyway
        }
        self.lock_next()
    }

    /// Takes the lock for a thread that was just chosen to run next.
    fn lock_next(&self) -> Held<'_> {
        while self.taken.swap(true, Relaxed) {
            self.wanted.sleep();
        }
        Held(self)
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        others_may_come_first();
        // The guard is made only if the lock is free, because the guard's drop unlocks the lock.
        (!self.taken.swap(true, Relaxed)).then(|| Held(self))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.taken.store(false, Relaxed);
        self.0.wanted.wake_one(); // another thread may be faster; then this one sleeps again
    }
}

/// Replaces [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Mutex<T> {
    lock: Lock,
    value: sync::Mutex<T>, // always free: only the holder of the lock reaches it
}

/// Replaces [`std::sync::MutexGuard`].
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    value: sync::MutexGuard<'a, T>, // is dropped first
    held: Held<'a>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { lock: Lock::default(), value: sync::Mutex::new(value) }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        Ok(self.guard(self.lock.lock()))
    }

    /// Takes the lock for a thread that was just chosen to run next.
    pub(crate) fn lock_next(&self) -> LockResult<MutexGuard<'_, T>> {
        Ok(self.guard(self.lock.lock_next()))
    }

    #[allow(dead_code, reason = "the exercises have it, the library has not")]
    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.lock.try_lock().map(|held| self.guard(held)).ok_or(TryLockError::WouldBlock)
    }

    pub(crate) fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn into_inner(self) -> LockResult<T> {
        Ok(self.value.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn guard<'a>(&'a self, held: Held<'a>) -> MutexGuard<'a, T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        MutexGuard { value, held, mutex: self }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// Replaces [`std::sync::Condvar`]. A program must change the state while it holds the waiters' lock, before
/// it notifies.
#[derive(Debug, Default)]
pub(crate) struct Condvar(Sleepers);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let MutexGuard { value, held, mutex } = guard;
        drop(value);
        drop(held);
        self.0.sleep();
        mutex.lock_next()
    }

    pub(crate) fn notify_one(&self) {
        self.0.wake_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.wake_all();
    }
}
