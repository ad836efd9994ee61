//! What the learner's `crate::sync` is in the tests: the types of `std::sync` and `std::thread`, with the same names
//! and the same methods, that also write down what is done with them.
//!
//! This file is compiled twice. In `model`, `backend` is [shuttle](https://docs.rs/shuttle), in `real` it is std.
//!
//! Two things differ under the model, both in favour of the learner. A wait may end although nobody notified, which std
//! allows and hardly ever shows. And a lock is never poisoned, since there the panic of one thread looks to std like a
//! panic of all.

use std::ops::{Deref, DerefMut};
use std::panic::Location;

pub use std::sync::{Arc, LockResult, PoisonError, Weak};

use super::backend;
use crate::recorder;

pub use super::backend::{atomic, thread_local};

/// A lock, as [`std::sync::Mutex`].
#[derive(Debug)]
pub struct Mutex<T> {
    number: usize,
    inner: backend::Mutex<T>,
}

/// The lock is held, as [`std::sync::MutexGuard`].
#[derive(Debug)]
#[must_use = "dropping the guard unlocks at once"]
pub struct MutexGuard<'a, T> {
    inner: Option<backend::MutexGuard<'a, T>>, // `None` once a wait has taken it
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    /// Makes an unlocked one.
    pub fn new(value: T) -> Self {
        Self { number: recorder::new_lock(), inner: backend::Mutex::new(value) }
    }

    /// Waits until the lock is free and takes it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        recorder::locking(self.number, at);
        let result = self.inner.lock();
        recorder::locked(self.number, at);
        self.guard(result)
    }

    /// The value, when nobody else can have the lock.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }

    fn guard<'a>(&'a self, result: LockResult<backend::MutexGuard<'a, T>>) -> LockResult<MutexGuard<'a, T>> {
        match result {
            Ok(inner) => Ok(MutexGuard { inner: Some(inner), mutex: self }),
            Err(poisoned) => {
                let guard = MutexGuard { inner: Some(poisoned.into_inner()), mutex: self };
                if backend::LOCKS_POISON { Err(PoisonError::new(guard)) } else { Ok(guard) }
            }
        }
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
            // On real threads, the next owner may be recorded as soon as the lock is free. Under the model others may run
            // before it is free, and none after.
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

/// A condition variable, as [`std::sync::Condvar`].
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
    /// Makes one that nobody waits on.
    pub fn new() -> Self {
        Self { number: recorder::new_condvar(), inner: backend::WaitSet::default() }
    }

    /// Lets go of the lock, waits for a notification, and takes the lock again. May wake up without one.
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
            mutex.inner.lock() // somebody else may come first: every lock is a choice of the scheduler
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

    /// Wakes one of those that wait now, if there is one.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// Wakes all that wait now.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, Location::caller());
    }

    fn notify(&self, all: bool, at: &Location<'_>) {
        self.inner.notify(all, || recorder::notified(self.number, all, at));
    }
}

/// Threads, as [`std::thread`].
pub mod thread {
    use std::io;
    use std::panic::{AssertUnwindSafe, Location, catch_unwind};

    pub use std::thread::Result;

    use super::super::backend;
    use crate::recorder::{self, ThreadKey};

    pub use backend::thread::{current, yield_now};

    /// Starts a thread.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        Builder::new().spawn(f).expect("the system gives a thread")
    }

    /// Starts a thread with a name.
    #[derive(Debug, Default)]
    pub struct Builder {
        name: Option<String>,
    }

    impl Builder {
        /// Begins with no name.
        pub fn new() -> Self {
            Self::default()
        }

        /// Names the thread-to-be.
        pub fn name(self, name: String) -> Self {
            Self { name: Some(name) }
        }

        /// Starts the thread. A panic in it ends it, and is what `join` returns.
        #[track_caller]
        pub fn spawn<T: Send + 'static>(
            self,
            f: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            let at = Location::caller();
            let key = recorder::register(self.name, true);
            let inner = backend::spawn(move || {
                backend::set_me(key);
                let result = catch_unwind(AssertUnwindSafe(f));
                backend::others_may_come_first(); // what it did last is not yet its end
                recorder::ended(result.is_err());
                result
            })?;
            recorder::spawned(key, at);
            Ok(JoinHandle { key, inner })
        }
    }

    /// The right to wait for a thread's end, as [`std::thread::JoinHandle`].
    #[derive(Debug)]
    pub struct JoinHandle<T> {
        key: ThreadKey,
        inner: backend::thread::JoinHandle<Result<T>>,
    }

    impl<T> JoinHandle<T> {
        /// Waits for the thread to end.
        #[track_caller]
        pub fn join(self) -> Result<T> {
            let at = Location::caller();
            recorder::joining(self.key, at);
            let result = self.inner.join();
            recorder::joined(self.key, at);
            result.and_then(|result| result)
        }
    }
}
