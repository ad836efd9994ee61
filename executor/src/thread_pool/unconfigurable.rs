//! A pool whose settings cannot be changed.

use super::{PoolSnapshot, PoolStats, Stopper, ThreadPoolExecutor};
use crate::executor::forward_service;
use crate::ids::TaskId;
use crate::task::Task;

/// A [`ThreadPoolExecutor`] whose settings cannot be changed.
///
/// Use this type if code that shares a pool must not change the settings: for example, if the pool must run
/// one task at a time ([`ThreadPoolExecutor::single`]).
///
/// ```
/// use executor::{ThreadPoolExecutor, UnconfigurablePool, prelude::*};
///
/// let journal: UnconfigurablePool = ThreadPoolExecutor::single(); // one thread, whatever its users do
/// assert_eq!(journal.submit(|| "written")?.join()?, "written");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "unconfigurableExecutorService")]
#[derive(Debug)]
pub struct UnconfigurablePool(ThreadPoolExecutor);

impl UnconfigurablePool {
    /// Wraps a pool, so that no caller can change its settings any more.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, UnconfigurablePool, prelude::*};
    ///
    /// let pool = UnconfigurablePool::new(ThreadPoolExecutor::builder().threads(2).name("images").build()?);
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(pool: ThreadPoolExecutor) -> Self {
        Self(pool)
    }

    /// Returns the numbers of the pool: see [`ThreadPoolExecutor::stats`].
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// assert_eq!(ThreadPoolExecutor::single().stats().maximum_threads, 1);
    /// ```
    pub fn stats(&self) -> PoolStats {
        self.0.stats()
    }

    /// Returns the tasks of the pool: see [`ThreadPoolExecutor::snapshot`].
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// assert!(ThreadPoolExecutor::single().snapshot().running.is_empty());
    /// ```
    pub fn snapshot(&self) -> PoolSnapshot {
        self.0.snapshot()
    }

    /// Returns the number of waiting tasks: see [`ThreadPoolExecutor::queued`].
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let journal = ThreadPoolExecutor::single();
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// journal.execute(keep_busy)?; // the only thread has a task now
    /// journal.execute(|| println!("written"))?;
    /// assert_eq!(journal.queued(), 1);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let journal = ThreadPoolExecutor::single();
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// journal.execute(keep_busy)?; // the only thread has a task now
    /// journal.submit(|| println!("written"))?.cancel();
    /// journal.purge();
    /// assert_eq!(journal.queued(), 0);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn purge(&self) {
        self.0.purge();
    }

    /// Returns a handle that can stop the pool: see [`ThreadPoolExecutor::stopper`].
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let journal = ThreadPoolExecutor::single();
    /// journal.stopper().shutdown();
    /// assert!(journal.is_shutdown());
    /// ```
    pub fn stopper(&self) -> Stopper {
        self.0.stopper()
    }
}

forward_service!(UnconfigurablePool => self.0);
