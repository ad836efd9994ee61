//! Properties on real threads, with a deadline.

use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use exercises_protocol::Mode;

use crate::isolate;
use crate::recorder;

/// Who makes threads and locks here: std.
mod backend {
    use std::cell::Cell;
    use std::io;
    use std::sync::LockResult;

    pub use std::sync::atomic; // goes on to the learner
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(super) use std::thread;
    pub use std::thread_local; // goes on to the learner

    use crate::recorder::{self, ThreadKey};

    pub(super) const LOCKS_POISON: bool = true;
    pub(super) const ONE_AT_A_TIME: bool = false;

    thread_local! {
        static ME: Cell<Option<ThreadKey>> = const { Cell::new(None) };
    }

    pub(super) fn set_me(key: ThreadKey) {
        ME.set(Some(key));
    }

    pub(super) fn me() -> ThreadKey {
        ME.get().unwrap_or_else(|| {
            let key = recorder::register(thread::current().name().map(str::to_owned), false);
            set_me(key);
            key
        })
    }

    /// Starts a thread.
    pub(super) fn spawn<T: Send + 'static>(
        f: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<thread::JoinHandle<T>> {
        thread::Builder::new().spawn(f)
    }

    /// What is in a `Condvar` of `sync`.
    #[derive(Debug, Default)]
    pub(super) struct WaitSet(Condvar);

    impl WaitSet {
        /// `waits` is told while the lock is still held, so nobody can have notified in between. That the wait is over and
        /// only the lock is missing, nobody can tell here.
        pub(super) fn wait<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _mutex: &'a Mutex<T>,
            waits: impl FnOnce(),
            _wants_the_lock: impl FnOnce(),
        ) -> LockResult<MutexGuard<'a, T>> {
            waits();
            self.0.wait(guard)
        }

        pub(super) fn notify(&self, all: bool, notifies: impl FnOnce()) {
            notifies(); // before those who are woken up can be recorded
            if all {
                self.0.notify_all();
            } else {
                self.0.notify_one();
            }
        }
    }

    /// They may at any time.
    pub(super) fn others_may_come_first() {}

    /// The system does not tell, so nothing may depend on it.
    pub(super) fn others_wait() -> bool {
        true
    }

    /// That is left to the system.
    pub(super) fn wakes_up_by_itself() -> bool {
        false
    }
}

#[path = "sync.rs"]
mod locks;

/// What the learner's `crate::sync` is here.
pub mod sync {
    pub use std::hint;

    pub use super::Plain;
    pub use super::locks::*;
}

#[path = "probe.rs"]
pub mod probe;

/// Memory without a lock, as `Plain` under the model of memory. Here two threads are found only if they are
/// in it in the same moment.
#[derive(Debug)]
pub struct Plain<T>(Mutex<T>);

impl<T> Plain<T> {
    /// Makes one with a value in it.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Does something with the value.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        match self.0.try_lock() {
            Ok(mut value) => f(&mut value),
            Err(TryLockError::Poisoned(value)) => f(&mut value.into_inner()),
            Err(TryLockError::WouldBlock) => recorder::fail(
                "two threads are in the plain memory in the same moment",
                "what tells a thread that it may go in, and that no other will?",
            ),
        }
    }
}

/// How often a property is run.
pub const RUNS: usize = 30;

/// How much of the processor's time all of them may take together, and how long nothing may happen. A right answer needs a
/// few milliseconds; the suite uses no clock, so nothing here depends on the number.
const DEADLINE: Duration = Duration::from_secs(8);

/// Checks a property of the learner's file, whose text is `source`, in a process of its own; panics if it fails.
pub fn check(source: &str, name: &str, promise: &str, property: fn()) {
    isolate::check(name, promise, Mode::Real, DEADLINE, || {
        run_here(source, promise, RUNS, property);
        isolate::report_and_exit(&Ok(RUNS))
    });
}

/// Checks a property in this process, so many times, which ends with a report if it fails.
pub fn run_here(source: &str, promise: &str, times: usize, property: fn()) {
    recorder::begin(source, promise, backend::me);
    isolate::begin(source, DEADLINE);
    for _ in 0..times {
        recorder::begin_run();
        backend::set_me(recorder::register(None, false));
        isolate::run_once(property);
    }
}
