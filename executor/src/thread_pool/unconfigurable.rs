//! A pool whose settings cannot be changed.

use super::{PoolSnapshot, PoolStats, Stopper, ThreadPoolExecutor};
use crate::executor::forward_service;
use crate::ids::TaskId;
use crate::task::Task;

/// A [`ThreadPoolExecutor`] whose settings cannot be changed.
///
/// Use it to share a pool with code that must not change it: for example, a pool that must run one task at a
/// time ([`ThreadPoolExecutor::single`]).
#[doc(alias = "unconfigurableExecutorService")]
#[derive(Debug)]
pub struct UnconfigurablePool(ThreadPoolExecutor);

impl UnconfigurablePool {
    /// Wraps a pool, which hides its setters permanently.
    pub fn new(pool: ThreadPoolExecutor) -> Self {
        Self(pool)
    }

    /// Returns the numbers of the pool: see [`ThreadPoolExecutor::stats`].
    pub fn stats(&self) -> PoolStats {
        self.0.stats()
    }

    /// Returns the tasks of the pool: see [`ThreadPoolExecutor::snapshot`].
    pub fn snapshot(&self) -> PoolSnapshot {
        self.0.snapshot()
    }

    /// Returns the number of waiting tasks: see [`ThreadPoolExecutor::queued`].
    pub fn queued(&self) -> usize {
        self.0.queued()
    }

    /// Takes a waiting task out of the queue: see [`ThreadPoolExecutor::remove`].
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let journal = ThreadPoolExecutor::single();
    /// let busy = Arc::new(Latch::new(1));
    /// let until = Arc::clone(&busy);
    /// journal.execute(move || until.wait().unwrap())?;
    ///
    /// let entry = journal.submit(|| println!("written"))?;
    /// let task = journal.remove(entry.id()).expect("the only thread is busy");
    /// drop(task); // which completes its handle as cancelled
    /// journal.purge();
    /// assert_eq!(journal.queued(), 0);
    /// # busy.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove(&self, id: TaskId) -> Option<Task> {
        self.0.remove(id)
    }

    /// Clears out the remains of cancelled tasks: see [`ThreadPoolExecutor::purge`].
    pub fn purge(&self) {
        self.0.purge();
    }

    /// Returns a handle that can stop the pool: see [`ThreadPoolExecutor::stopper`].
    pub fn stopper(&self) -> Stopper {
        self.0.stopper()
    }
}

forward_service!(UnconfigurablePool => self.0);
