//! The learner's `crate::sync` under the model of memory: atomics, fences and threads with the names of std,
//! and [`Plain`] memory. There are no locks, because in an exercise about orderings the learner builds a lock
//! from atomics.
//!
//! Each store is made as a swap, which loom orders after all earlier changes of the atomic. For a plain
//! store, loom would try other orders, too, with two consequences. First, a thread that swaps until it finds
//! a lock free could find its own value again and again, without end. Second, if each of two threads raises
//! its own flag and then reads the other flag, all with `SeqCst`, both threads could miss the other flag.
//! Loom does not order the value with which an atomic is made. So this value is stored once more after the
//! atomic is made.

use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use loom::cell::UnsafeCell;

pub use std::sync::Arc;

use super::race;

/// Plain memory without a lock: two threads must not use this memory at the same time.
#[derive(Debug)]
pub struct Plain<T> {
    number: usize,
    /// Fails if the previous use of this memory, by another thread, does not happen before the present use.
    checked: Mutex<UnsafeCell<()>>,
    value: Mutex<T>, // never contended: only one thread runs at a time
}

impl<T> Plain<T> {
    /// Makes plain memory that holds the given value.
    pub fn new(value: T) -> Self {
        Self { number: race::new_plain(), checked: Mutex::new(UnsafeCell::new(())), value: Mutex::new(value) }
    }

    /// Calls the function with the value.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        race::touches(self.number, Location::caller());
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).with_mut(|_| ());
        f(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Atomics and fences, like those of [`std::sync::atomic`].
pub mod atomic {
    use std::panic::Location;

    pub use std::sync::atomic::Ordering;

    use crate::memory::race;

    /// A fence, like [`std::sync::atomic::fence`].
    #[track_caller]
    pub fn fence(order: Ordering) {
        loom::sync::atomic::fence(order);
        race::fences(order, Location::caller());
    }

    macro_rules! atomics {
        ($($name:ident of $value:ty { $($operation:ident: $new:expr,)* })*) => {$(
            #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
            #[derive(Debug)]
            pub struct $name {
                number: usize,
                inner: loom::sync::atomic::$name,
            }

            impl $name {
                /// Makes an atomic with this value.
                pub fn new(value: $value) -> Self {
                    let inner = loom::sync::atomic::$name::new(value);
                    inner.store(value, Ordering::SeqCst); // see the top of the file
                    Self { number: race::new_atomic(), inner }
                }

                /// The value.
                #[track_caller]
                pub fn load(&self, order: Ordering) -> $value {
                    let value = self.inner.load(order);
                    race::reads(self.number, (&value, order), Location::caller());
                    value
                }

                /// Changes the value.
                #[track_caller]
                pub fn store(&self, value: $value, order: Ordering) {
                    self.inner.swap(value, order); // see the top of the file
                    race::writes(self.number, (&value, order), Location::caller());
                }

                /// Changes the value, and returns the value before the change.
                #[track_caller]
                pub fn swap(&self, value: $value, order: Ordering) -> $value {
                    let old = self.inner.swap(value, order);
                    race::changes(self.number, &old, &value, order, Location::caller());
                    old
                }

                /// Changes the value if the present value is `current`.
                #[track_caller]
                pub fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    let result = self.inner.compare_exchange(current, new, success, failure);
                    match &result {
                        Ok(old) => race::changes(self.number, old, &new, success, Location::caller()),
                        Err(other) => race::reads(self.number, (other, failure), Location::caller()),
                    }
                    result
                }

                /// Changes the value if the present value is `current`. Under the model this call never fails
                /// without a reason, although std allows failures without a reason.
                #[track_caller]
                pub fn compare_exchange_weak(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.compare_exchange(current, new, success, failure)
                }

                /// Changes the value to the result of `f`, and tries again whenever another thread has
                /// changed the value in the meantime; fails if `f` returns `None`.
                #[track_caller]
                pub fn fetch_update(
                    &self,
                    success: Ordering,
                    failure: Ordering,
                    mut f: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    let mut old = self.load(failure);
                    while let Some(new) = f(old) {
                        match self.compare_exchange(old, new, success, failure) {
                            Ok(old) => return Ok(old),
                            Err(other) => old = other,
                        }
                    }
                    Err(old)
                }

                $(
                    /// Changes the value, and returns the value before the change.
                    #[track_caller]
                    pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                        let new: fn($value, $value) -> $value = $new;
                        let old = self.inner.$operation(value, order);
                        race::changes(self.number, &old, &new(old, value), order, Location::caller());
                        old
                    }
                )*
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(<$value>::default())
                }
            }
        )*};
    }

    macro_rules! integers {
        ($($name:ident of $value:ty,)*) => {
            atomics! {$(
                $name of $value {
                    fetch_add: |old, by| old.wrapping_add(by),
                    fetch_sub: |old, by| old.wrapping_sub(by),
                    fetch_and: |old, with| old & with,
                    fetch_or: |old, with| old | with,
                    fetch_xor: |old, with| old ^ with,
                    fetch_max: |old, other| old.max(other),
                    fetch_min: |old, other| old.min(other),
                }
            )*}
        };
    }

    atomics! {
        AtomicBool of bool {
            fetch_and: |old, with| old & with,
            fetch_or: |old, with| old | with,
            fetch_xor: |old, with| old ^ with,
        }
    }

    integers! {
        AtomicU8 of u8,
        AtomicU32 of u32,
        AtomicU64 of u64,
        AtomicUsize of usize,
        AtomicI32 of i32,
    }
}

/// As [`std::hint`]. A loop that waits for another thread must call this function. Without this call, the
/// model never lets the other thread run.
pub mod hint {
    pub use loom::hint::spin_loop;
}

/// Threads, as [`std::thread`].
pub mod thread {
    use std::io;
    use std::panic::Location;

    pub use loom::thread::yield_now;
    pub use std::thread::Result;

    use crate::memory::set_me;
    use crate::recorder::{self, ThreadKey};

    /// Starts a thread with a name.
    #[derive(Debug, Default)]
    pub struct Builder {
        name: Option<String>,
    }

    impl Builder {
        /// Makes a builder of a thread without a name.
        pub fn new() -> Self {
            Self::default()
        }

        /// Sets the name of the thread that will be started.
        pub fn name(self, name: String) -> Self {
            Self { name: Some(name) }
        }

        /// Starts the thread.
        #[track_caller]
        pub fn spawn<T: Send + 'static>(
            self,
            f: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            let at = Location::caller();
            let key = recorder::register(self.name, true);
            let inner = loom::thread::Builder::new().spawn(move || {
                set_me(key);
                let result = f();
                recorder::ended(false); // a panic ends the property
                result
            })?;
            recorder::spawned(key, at);
            Ok(JoinHandle { key, inner })
        }
    }

    /// Starts a thread.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        Builder::new().spawn(f).expect("the model gives a thread")
    }

    /// A handle that waits for a thread's end, like [`std::thread::JoinHandle`].
    #[derive(Debug)]
    pub struct JoinHandle<T> {
        key: ThreadKey,
        inner: loom::thread::JoinHandle<T>,
    }

    impl<T> JoinHandle<T> {
        /// Waits until the thread has ended.
        #[track_caller]
        pub fn join(self) -> Result<T> {
            let at = Location::caller();
            recorder::joining(self.key, at);
            let result = self.inner.join();
            recorder::joined(self.key, at);
            result
        }
    }
}
