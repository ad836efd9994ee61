//! A scheduler that runs closures on any executor, at a later time, once or periodically. One thread watches
//! the time.
//!
//! This is the only file to edit. `cargo test -p ex18-scheduled-executor` checks your answer.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, Weak, thread};

// ----- Given. -----

/// A time in milliseconds: either the time since the clock was started, or a length of time.
pub type Millis = u64;

/// The time that never comes. A thread that waits until `NEVER` waits only for `wake`.
pub const NEVER: Millis = Millis::MAX;

/// Tells the time, and wakes the one thread that waits for a given time. In the tests, only the test itself
/// advances the time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits until the time is `until`, or until `wake` is called. The wait also ends at once if `wake` was
    /// called since the last wait, and the wait may end without a reason. Only one thread at a time may wait.
    fn wait_until(&self, until: Millis);

    /// Ends the wait of the thread that waits now; if no thread waits, ends the next wait.
    fn wake(&self);
}

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job and calls the job once, either later or before `execute` returns, on a thread of the
    /// executor or on the thread that calls `execute`. The executor catches a panic of the job.
    fn execute(&self, job: Job);
}

/// A closure that the scheduler runs at a given time. Its argument is the entry of this closure. The closure
/// may panic, and may be called again afterwards.
pub type Work = Box<dyn FnMut(&TaskHandle) + Send>;

// ----- Yours. -----

/// Runs closures at their times, no matter on which thread the inner executor calls them.
pub struct Scheduler {
    shared: Arc<Shared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    below: Arc<dyn Executor>,
    state: Mutex<State>,
}

struct State {
    // What must be known about an entry while it waits, when it is due, and while it runs? How does the
    // thread find the next entry?
    is_shut_down: bool,
}

/// The entry of a closure that was scheduled. Dropping the entry does not cancel the closure.
pub struct TaskHandle {
    shared: Arc<Shared>,
    number: u64,
}

impl Scheduler {
    /// Makes a scheduler without entries, and starts its thread.
    pub fn new(clock: Arc<dyn Clock>, below: Arc<dyn Executor>) -> Self {
        todo!("start a thread that gives the executor what is due, and sleeps until the next entry is")
    }

    /// Runs the closure after `delay`, counted from now. With a period the closure runs periodically: it is
    /// due at its first time and after each further period. After the scheduler was shut down, `schedule`
    /// only drops the closure.
    pub fn schedule(&self, delay: Millis, period: Option<Millis>, work: Work) -> TaskHandle {
        todo!("note when the closure is due, and make sure that the thread is awake by then")
    }

    /// Ends the thread and drops every closure that waits for its time. The call waits for the end of the
    /// thread, but not for the end of any run.
    pub fn shutdown(&self) {
        todo!("take all entries out, and end the thread")
    }
}

impl TaskHandle {
    /// Cancels the entry: from now on, no run of the entry begins. The closure is dropped at once, or at the
    /// end of its run if it is running.
    pub fn cancel(&self) {
        todo!("take the entry out")
    }
}
