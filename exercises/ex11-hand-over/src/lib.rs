//! A value that one thread hands to another thread without a lock. The exercise is in `src/exercise.rs`;
//! `README.md` says what to do.

/// The atomics and the plain memory of the exercise. The tests replace these types by types of the model,
/// which tracks the values that each thread may see.
pub mod sync {
    pub use std::hint;
    pub use std::sync::{Arc, atomic};

    /// Memory without a lock: two threads must not use it at the same time, but nothing prevents this.
    pub struct Plain<T>(std::sync::Mutex<T>); // the lock is only to make this safe Rust; `with` never waits

    impl<T> Plain<T> {
        pub fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Calls the function with the value.
        pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            f(&mut self.0.try_lock().expect("no other thread is in there"))
        }
    }

    pub mod thread {
        pub use std::thread::{Builder, JoinHandle, Result, spawn, yield_now};
    }
}

pub mod exercise;

// This line does not compile if the answer bypasses `crate::sync`.
exercises_macros::door!(exercise);
