//! The types of a learner's `crate::sync`, which have the names and methods of `std::sync` and `std::thread`,
//! and also record each use.
//!
//! The folder `sync` is compiled three times. For the library of an exercise, `backend` is the standard
//! library, and `recorder` records nothing. For the tests, `recorder` is the recorder of the harness, and
//! `backend` is [shuttle](https://docs.rs/shuttle) in `model` and std in `real`.
//!
//! Two things differ under the model, and both differences help the learner. A wait may end without a
//! notification. Std also allows this, but on real threads it hardly ever happens. A lock is never poisoned,
//! because under the model the panic of one thread looks to std like a panic of all threads.

mod absent;
mod barrier;
pub mod mpsc;
mod rwlock;
pub mod thread;

use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

use super::backend;
use crate::recorder;

pub use super::backend::thread_local;
pub use absent::{LazyLock, Once, OnceLock};
pub use barrier::{Barrier, BarrierWaitResult};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Atomics, like those of [`std::sync::atomic`]. Under the model, every operation is `SeqCst`, whatever
/// ordering the caller gives.
pub mod atomic {
    pub use super::super::backend::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
        AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

/// A lock, like [`std::sync::Mutex`].
#[derive(Debug)]
pub struct Mutex<T> {
    number: usize,
    inner: backend::Mutex<T>,
}

/// A guard that holds the lock until the guard is dropped, like [`std::sync::MutexGuard`].
#[derive(Debug)]
#[must_use = "dropping the guard unlocks at once"]
pub struct MutexGuard<'a, T> {
    inner: Option<backend::MutexGuard<'a, T>>, // `None` once a wait has taken it
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    /// Makes an unlocked lock.
    pub fn new(value: T) -> Self {
        Self { number: recorder::new_lock(), inner: backend::Mutex::new(value) }
    }

    /// Waits until the lock is free, and takes the lock.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        recorder::locking(self.number, at);
        let result = self.inner.lock();
        recorder::locked(self.number, at);
        self.guard(result)
    }

    /// Takes the lock if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        let result = match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
            Err(TryLockError::WouldBlock) => {
                recorder::did(recorder::LOCK_TAKEN, Some(at));
                return Err(TryLockError::WouldBlock);
            }
        };
        recorder::locked(self.number, at);
        Ok(self.guard(result)?)
    }

    /// Returns the value; no other thread can hold the lock now.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Returns the value; no other thread can hold the lock now.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }

    fn guard<'a>(&'a self, result: LockResult<backend::MutexGuard<'a, T>>) -> LockResult<MutexGuard<'a, T>> {
        rwlock::poisoned_or_not(result, |inner| MutexGuard { inner: Some(inner), mutex: self })
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            backend::others_may_find_it_taken();
            // On real threads, the next owner may be recorded as soon as the lock is free, so the unlock is
            // recorded first. Under the model, no thread runs between the unlock and its record.
            if !backend::ONE_AT_A_TIME {
                recorder::unlocked(self.mutex.number);
            }
            drop(inner);
            if backend::ONE_AT_A_TIME {
                recorder::unlocked(self.mutex.number);
                backend::others_may_come_first(); // what comes next may be the drop of an Arc, which the model does not see
            }
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.inner.as_ref().expect("only a wait takes it, by value")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("only a wait takes it, by value")
    }
}

/// A condition variable, like [`std::sync::Condvar`].
#[derive(Debug)]
pub struct Condvar {
    number: usize,
    inner: backend::WaitSet,
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl Condvar {
    /// Makes a condition variable on which no thread waits.
    pub fn new() -> Self {
        Self { number: recorder::new_condvar(), inner: backend::WaitSet::default() }
    }

    /// Unlocks the lock, waits for a notification, and takes the lock again. May return without a
    /// notification.
    #[track_caller]
    pub fn wait<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let at = Location::caller();
        let mutex = guard.mutex;
        let inner = guard.inner.take().expect("only a wait takes it, by value");
        let waits = || recorder::waiting(self.number, mutex.number, at);
        let spurious = backend::wakes_up_by_itself();
        let result = if spurious {
            drop(inner);
            waits();
            mutex.inner.lock() // another thread may come first: every lock is a choice of the scheduler
        } else {
            self.inner.wait(inner, &mutex.inner, waits, || recorder::locking_again(mutex.number))
        };
        recorder::woken(self.number, mutex.number, spurious, at);
        mutex.guard(result)
    }

    /// Waits for as long as the condition is true.
    #[track_caller]
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

    /// Wakes one of the threads that wait now, if any thread waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// Wakes all threads that wait now.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, Location::caller());
    }

    fn notify(&self, all: bool, at: &Location<'_>) {
        self.inner.notify(all, || recorder::notified(self.number, all, at));
    }
}
