//! A tracking executor: after a stop it knows which tasks have to be done again.
//!
//! This file is the only file to edit. `cargo test -p ex29-tracking-executor` checks it.
#![allow(unused)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// The error of a job that was asked to stop, and gave up before all of its work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Tells a job that it should stop. All clones of a token are cancelled together.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<AtomicBool>);

impl Token {
    /// Asks the tasks that have this token to stop. A cancelled token stays cancelled.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns true if `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns an error if `cancel` was called. A job can apply `?` to the result.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The work of a task. A job returns `Ok` if its work is done, and `Err` if it was asked to stop and gave up.
/// A job may panic.
pub type Job = Box<dyn FnOnce(&Token) -> Result<(), Cancelled> + Send>;

/// An entry of the pool's queue: a closure that the pool calls once.
pub type Runnable = Box<dyn FnOnce() + Send>;

/// A thread pool with a queue.
pub trait Pool: Send + Sync {
    /// Puts an entry into the queue, and returns. Later a thread of the pool takes the entry out and calls
    /// it. The thread that calls `execute` never calls the entry. The pool catches a panic of the entry.
    /// Returns `Err` with the entry if the pool refuses the entry.
    fn execute(&self, entry: Runnable) -> Result<(), Runnable>;

    /// Takes all entries out of the queue and returns them, the oldest first. After this call, the pool
    /// refuses every entry.
    ///
    /// Does not wait for any thread of the pool. A thread that has already taken an entry out of the queue
    /// still calls the entry, now or a little later.
    fn shutdown_now(&self) -> Vec<Runnable>;
}

// ----- Yours. -----

/// An executor that knows, after a stop, which tasks have to be done again. Each task has a tag.
pub struct TrackingExecutor<T> {
    pool: Arc<dyn Pool>,
    tags: Mutex<Vec<T>>, // yours: replace it by the state that you need
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes a tracking executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        todo!("an executor without tasks")
    }

    /// Gives a task to the pool. The job is called with a token that `stop` cancels.
    ///
    /// Returns `Err` with the tag if the task is not accepted, because the executor was stopped or because
    /// the pool refuses the entry.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        todo!("give the pool an entry that calls the job, and note what becomes of it")
    }

    /// Stops at once: no further task begins, running tasks are asked to stop, and the pool is stopped. Does
    /// not wait for any task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns
    /// none of these tags again.
    pub fn stop(&self) -> Vec<T> {
        todo!("stop, and hand back the tags of the tasks that had not begun")
    }

    /// Returns the tags of the tasks that were cut off, in any order. Every later call returns the same tags.
    ///
    /// Returns `None` if the executor was not stopped, or if a task still runs. A task that still runs may end
    /// as done or as cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        todo!("the tags of the tasks that were cut off, if that can be known")
    }

    /// Waits until the executor is stopped and no task runs any more. After `wait`, `cut_off` returns the
    /// tags.
    pub fn wait(&self) {
        todo!("sleep until the last task has ended")
    }
}
