//! Runs properties on real threads, with a deadline.

use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use exercises_protocol::Mode;

use crate::report::report_and_exit;
use crate::verdict::fail;
use crate::{child, isolate, recorder};

/// The threads and locks of this mode come from std.
#[path = "../../sync/src/backend.rs"]
mod backend;

#[path = "../../sync/src/sync/mod.rs"]
mod locks;

/// The learner's `crate::sync` on real threads.
pub mod sync {
    pub use std::hint;

    pub use super::Plain;
    pub use super::locks::*;
}

#[path = "probe.rs"]
pub mod probe;

#[path = "below.rs"]
pub mod below;

/// Memory without a lock, like `Plain` under the model of memory. On real threads, a wrong use by two threads
/// is noticed only if both threads use the memory at the same moment.
#[derive(Debug)]
pub struct Plain<T>(Mutex<T>);

impl<T> Plain<T> {
    /// Makes plain memory that holds the given value.
    pub fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Calls the function with the value.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        match self.0.try_lock() {
            Ok(mut value) => f(&mut value),
            Err(TryLockError::Poisoned(value)) => f(&mut value.into_inner()),
            Err(TryLockError::WouldBlock) => fail(
                "two threads are in the plain memory in the same moment",
                "what tells a thread that it may go in, and that no other will?",
            ),
        }
    }
}

/// The number of runs of a property.
pub const RUNS: usize = 30;

/// The limit for the processor time of all runs together, and for the time in which nothing happens. A right
/// answer needs a few milliseconds; the suite uses no clock, so nothing else depends on this limit.
const DEADLINE: Duration = Duration::from_secs(8);

/// Checks a property of the learner's file, and panics if the property fails. The property runs in its own
/// process, and `source` is the text of the file.
pub fn check(source: &str, name: &str, promise: &str, property: fn()) {
    isolate::check(name, promise, Mode::Real, DEADLINE, || {
        run_here(source, promise, RUNS, property);
        report_and_exit(&Ok(RUNS))
    });
}

/// Runs a property the given number of times in this process. If the property fails, the process ends with a
/// report.
pub fn run_here(source: &str, promise: &str, times: usize, property: fn()) {
    recorder::begin(source, promise, backend::me);
    child::begin(source, DEADLINE, |_| ());
    for _ in 0..times {
        recorder::begin_run();
        backend::set_me(recorder::register(None, false));
        child::run_once(property);
    }
}
