//! Shuttle's lock, with the value beside it.
//!
//! All of `shuttle::sync::Mutex<T>` is compiled anew for every `T`, of which the answers and suites have hundreds. So
//! shuttle guards nothing here, and the value is behind a lock of std's that is always free: whoever reaches for it has
//! shuttle's. It is never poisoned, since the panic of one thread of the model looks to std like a panic of all.
#![expect(clippy::unnecessary_wraps, reason = "std's locks can be poisoned, and crate::sync has either kind")]

use std::ops::{Deref, DerefMut};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

/// As [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub(in super::super) struct Mutex<T> {
    lock: Lock,
    value: sync::Mutex<T>,
}

/// As [`std::sync::MutexGuard`].
#[derive(Debug)]
pub(in super::super) struct MutexGuard<'a, T> {
    value: sync::MutexGuard<'a, T>, // goes first
    held: Held<'a>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    pub(in super::super) fn new(value: T) -> Self {
        Self { lock: Lock::default(), value: sync::Mutex::new(value) }
    }

    pub(in super::super) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        Ok(self.guard(self.lock.lock()))
    }

    pub(in super::super) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.lock.try_lock().map(|held| self.guard(held)).ok_or(TryLockError::WouldBlock)
    }

    pub(in super::super) fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    pub(in super::super) fn into_inner(self) -> LockResult<T> {
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

/// As [`std::sync::Condvar`].
#[derive(Debug, Default)]
pub(in super::super) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(in super::super) fn new() -> Self {
        Self::default()
    }

    pub(in super::super) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let MutexGuard { value, held, mutex } = guard;
        drop(value);
        Ok(mutex.guard(held.wait_on(&self.0)))
    }

    pub(in super::super) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(in super::super) fn notify_all(&self) {
        self.0.notify_all();
    }
}

// What is not generic is compiled here, and only here.

#[derive(Debug, Default)]
struct Lock(shuttle::sync::Mutex<()>);

#[derive(Debug)]
struct Held<'a>(shuttle::sync::MutexGuard<'a, ()>);

impl Lock {
    fn lock(&self) -> Held<'_> {
        Held(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn try_lock(&self) -> Option<Held<'_>> {
        match self.0.try_lock() {
            Ok(held) => Some(Held(held)),
            Err(TryLockError::Poisoned(held)) => Some(Held(held.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<'a> Held<'a> {
    fn wait_on(self, condvar: &shuttle::sync::Condvar) -> Held<'a> {
        Held(condvar.wait(self.0).unwrap_or_else(PoisonError::into_inner))
    }
}
