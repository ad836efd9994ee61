//! A lock that many threads can hold to read, or that one thread can hold to write.

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use super::super::backend;
use crate::recorder;

/// A lock for reading and writing, like [`std::sync::RwLock`]. A thread that holds the lock must not take it
/// a second time, not even to read.
#[derive(Debug)]
pub struct RwLock<T> {
    inner: backend::RwLock<T>,
}

/// A guard that holds the lock to read, like [`std::sync::RwLockReadGuard`].
#[derive(Debug)]
#[must_use = "dropping the guard unlocks at once"]
pub struct RwLockReadGuard<'a, T> {
    inner: Option<backend::RwLockReadGuard<'a, T>>, // `None` only while it is dropped
}

/// A guard that holds the lock to write, like [`std::sync::RwLockWriteGuard`].
#[derive(Debug)]
#[must_use = "dropping the guard unlocks at once"]
pub struct RwLockWriteGuard<'a, T> {
    inner: Option<backend::RwLockWriteGuard<'a, T>>,
}

const READER: &str = "a lock, to read";
const WRITER: &str = "a lock, to write";

impl<T> RwLock<T> {
    /// Makes an unlocked lock.
    pub fn new(value: T) -> Self {
        Self { inner: backend::RwLock::new(value) }
    }

    /// Waits until no thread writes, and takes the lock to read.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let at = Location::caller();
        recorder::blocking(READER, at);
        let result = self.inner.read();
        recorder::did("locks to read", Some(at));
        poisoned_or_not(result, |inner| RwLockReadGuard { inner: Some(inner) })
    }

    /// Waits until no thread reads or writes, and takes the lock to write.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let at = Location::caller();
        recorder::blocking(WRITER, at);
        let result = self.inner.write();
        recorder::did("locks to write", Some(at));
        poisoned_or_not(result, |inner| RwLockWriteGuard { inner: Some(inner) })
    }

    /// Takes the lock to read if no thread writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let result = self.inner.try_read();
        tried(result, "locks to read", Location::caller(), |inner| RwLockReadGuard { inner: Some(inner) })
    }

    /// Takes the lock to write if no thread reads or writes.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let result = self.inner.try_write();
        tried(result, "locks to write", Location::caller(), |inner| RwLockWriteGuard { inner: Some(inner) })
    }

    /// Returns the value; no other thread can hold the lock now.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    /// Returns the value; no other thread can hold the lock now.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Turns a guard of the backend into a guard of `sync`. Under the model no lock is poisoned.
pub(super) fn poisoned_or_not<B, G>(result: LockResult<B>, guard: impl FnOnce(B) -> G) -> LockResult<G> {
    match result {
        Ok(inner) => Ok(guard(inner)),
        Err(poisoned) if backend::LOCKS_POISON => Err(PoisonError::new(guard(poisoned.into_inner()))),
        Err(poisoned) => Ok(guard(poisoned.into_inner())),
    }
}

fn tried<B, G>(
    result: TryLockResult<B>,
    done: &str,
    at: &Location<'_>,
    guard: impl FnOnce(B) -> G,
) -> TryLockResult<G> {
    let result = match result {
        Ok(inner) => Ok(inner),
        Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
        Err(TryLockError::WouldBlock) => {
            recorder::did(recorder::LOCK_TAKEN, Some(at));
            return Err(TryLockError::WouldBlock);
        }
    };
    recorder::did(done, Some(at));
    Ok(poisoned_or_not(result, guard)?)
}

/// Frees the lock and records the unlock. On real threads, the next owner may be recorded as soon as the lock
/// is free, so the unlock is recorded first. Under the model, other threads may run before the lock is free,
/// but no thread runs between the unlock and its record.
fn unlock<G>(guard: &mut Option<G>) {
    if !backend::ONE_AT_A_TIME {
        recorder::did("unlocks", None);
    }
    drop(guard.take());
    if backend::ONE_AT_A_TIME {
        recorder::did("unlocks", None);
    }
}

impl<T> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        unlock(&mut self.inner);
    }
}

impl<T> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        unlock(&mut self.inner);
    }
}

impl<T> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.inner.as_ref().expect("only drop takes it")
    }
}

impl<T> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.inner.as_ref().expect("only drop takes it")
    }
}

impl<T> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("only drop takes it")
    }
}
